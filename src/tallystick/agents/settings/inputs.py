"""What of an agent's files is the configuration of a session, and not the agent's own memory.

Owns where each agent keeps it, which members of a settings file say what it may do, and which of its files are notes
for itself with a few settings in them. Must not know what is risky, nor open a file. Of agents whose settings no one
audits (gptme, Hermes, pi) the files are named here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from tallystick.agents.settings import Kind, Place, project, settings_adapters, user
from tallystick.model.step import Json

Way = tuple[str, ...]
"""Names of members; `*` is the one for the folder that the session works in."""

_SLUG = re.compile(r"[^A-Za-z0-9]")


class Reads(msgspec.Struct, frozen=True, kw_only=True):
    """Where the configuration of an agent's sessions stands."""

    places: tuple[Place, ...]
    servers: tuple[Way, ...] = ()
    """Where objects of MCP servers stand."""
    permissions: frozenset[str] = frozenset()
    """Members that say what the agent may do unasked."""
    members: Mapping[str, tuple[Way, ...]] = {}
    """By a place's path: all that counts of this file, which the agent writes to while it works."""
    memory: str | None = None
    """The folder of notes on one project, `{slug}` for the project's path."""


_MD = (".md",)
_CODE = (".py", ".sh", ".js", ".ts")
_OTHERS: Mapping[str, Reads] = {
    "gptme": Reads(
        places=(
            user(".config/gptme/config.toml", variable="XDG_CONFIG_HOME"),
            user(".config/gptme/config.local.toml", variable="XDG_CONFIG_HOME"),
            project("gptme.toml"),
            project("gptme.local.toml"),
            project(".github/gptme.toml"),
            project("AGENTS.md", Kind.INSTRUCTIONS),
            project("CLAUDE.md", Kind.INSTRUCTIONS),
            project("GEMINI.md", Kind.INSTRUCTIONS),
        ),
        servers=(("mcp", "servers"),),
    ),
    "hermes": Reads(
        places=(
            user(".hermes/config.yaml", variable="HERMES_HOME"),
            user(".hermes/SOUL.md", Kind.INSTRUCTIONS, variable="HERMES_HOME"),
            user(".hermes/memories", Kind.INSTRUCTIONS, variable="HERMES_HOME", endings=_MD),
            user(".hermes/skills", Kind.SKILL, variable="HERMES_HOME", endings=_MD),
            user(".hermes/plugins", Kind.PROGRAM, variable="HERMES_HOME", endings=(*_CODE, ".yaml")),
            project(".hermes.md", Kind.INSTRUCTIONS),
            project("AGENTS.md", Kind.INSTRUCTIONS),
            project("CLAUDE.md", Kind.INSTRUCTIONS),
            project(".cursorrules", Kind.INSTRUCTIONS),
        ),
    ),
    "pi": Reads(
        places=(
            user(".pi/agent/settings.json"),
            user(".pi/agent/models.json"),
            user(".pi/agent/AGENTS.md", Kind.INSTRUCTIONS),
            user(".pi/agent/SYSTEM.md", Kind.INSTRUCTIONS),
            user(".pi/agent/extensions", Kind.PROGRAM, endings=_CODE),
            user(".pi/agent/skills", Kind.SKILL, endings=_MD),
            user(".pi/agent/prompts", Kind.SKILL, endings=_MD),
            project(".pi/settings.json"),
            project(".pi/extensions", Kind.PROGRAM, endings=_CODE),
            project(".pi/skills", Kind.SKILL, endings=_MD),
            project("AGENTS.md", Kind.INSTRUCTIONS),
            project("CLAUDE.md", Kind.INSTRUCTIONS),
        ),
    ),
}

_CLAUDE_PERMITS = ("allowedTools", "enabledMcpjsonServers", "disabledMcpjsonServers", "hasTrustDialogAccepted")
_GENAI = frozenset(("tools", "security", "general.defaultApprovalMode", "trustedFolders"))
_PERMISSIONS: Mapping[str, frozenset[str]] = {
    "claude-code": frozenset(
        (
            "permissions",
            "sandbox",
            "skipDangerousModePermissionPrompt",
            "enableAllProjectMcpServers",
            "enabledMcpjsonServers",
            "disabledMcpjsonServers",
            *(f"projects.*.{name}" for name in _CLAUDE_PERMITS),
        )
    ),
    "codex": frozenset(
        (
            "approval_policy",
            "sandbox_mode",
            "sandbox_workspace_write",
            "projects",
            "shell_environment_policy",
            "permissions",
            "default_permissions",
        )
    ),
    "gemini": _GENAI,
    "qwen": _GENAI,
    "copilot": frozenset(
        ("trustedFolders", "trusted_folders", "allowedUrls", "allowed_urls", "deniedUrls", "denied_urls")
    ),
    "cursor": frozenset(
        (
            "permissions",
            "approvalMode",
            "sandbox",
            "terminalAllowlist",
            "mcpAllowlist",
            "networkPolicy",
            "type",
            "additionalReadwritePaths",
            "additionalReadonlyPaths",
        )
    ),
    "opencode": frozenset(("permission",)),
    "cline": frozenset(("yoloModeToggled", "autoApproveAllToggled", "autoApprovalSettings")),
}

_CLAUDE_NOTES: tuple[Way, ...] = (
    ("mcpServers",),
    *(
        ("projects", "*", name)
        for name in (
            "mcpServers",
            "mcpContextUris",
            *_CLAUDE_PERMITS,
        )
    ),
)
_MEMBERS: Mapping[str, Mapping[str, tuple[Way, ...]]] = {
    "claude-code": {".claude.json": _CLAUDE_NOTES, ".claude/.claude.json": _CLAUDE_NOTES},
    "copilot": {
        ".copilot/config.json": tuple(
            (name,) for name in (*sorted(_PERMISSIONS["copilot"]), "model", "hooks", "disableAllHooks", "mcpServers")
        )
    },
    "cursor": {
        ".cursor/cli-config.json": tuple(
            (name,) for name in (*sorted(_PERMISSIONS["cursor"]), "model", "editor", "network", "attribution")
        ),
        ".config/cursor/cli-config.json": tuple(
            (name,) for name in (*sorted(_PERMISSIONS["cursor"]), "model", "editor", "network", "attribution")
        ),
    },
    "cline": {
        ".cline/data/globalState.json": tuple(
            (name,) for name in (*sorted(_PERMISSIONS["cline"]), "hooksEnabled", "mode", "actModeApiProvider")
        )
    },
}
_MEMORIES = {"claude-code": (".claude/projects", ".claude/projects/{slug}/memory")}
"""The folder with those of all projects, and that of one."""


def reads(agent: str) -> Reads | None:
    """Where the configuration of an agent stands; None: there is no record of it."""
    adapter = settings_adapters().get(agent)
    if adapter is None:
        return _OTHERS.get(agent)
    of_all, memory = _MEMORIES.get(agent, (None, None))
    return Reads(
        places=tuple(place for place in adapter.PLACES if place.path != of_all),
        servers=adapter.SERVERS,
        permissions=_PERMISSIONS.get(agent, frozenset()),
        members=_MEMBERS.get(agent, {}),
        memory=memory,
    )


def slug(folder: str) -> str:
    """A project's folder as the name of one folder, as Claude Code makes it."""
    return _SLUG.sub("-", folder)


# One settings file ------------------------------------------------------------------------------------------------------


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A settings file, parted. None: it has nothing of that."""

    hooks: Json = None
    servers: Mapping[str, Json] = {}
    permissions: Json = None
    rest: Json = None


def parts(reads: Reads, place: Place, value: Json, folders: Sequence[str] = ()) -> Parts:
    """What a settings file says of hooks, servers, permissions and all else.

    Args:
        folders: where the session works, and the folders above: settings for other folders do not count.
    """
    if not isinstance(value, dict):
        return Parts(rest=value)
    value = _only_here(value, folders)
    wanted = reads.members.get(place.path)
    if wanted is not None:
        value = _members(value, wanted)
    servers: dict[str, Json] = {}
    for way in reads.servers:
        value, found = _taken_out(value, way)
        servers.update(found if isinstance(found, dict) else {} if found is None else {"": found})
    hooks = value.pop("hooks", None)
    permissions: dict[str, Json] = {}
    for key in sorted(reads.permissions):
        value, found = _taken_out(value, tuple(key.split(".")))
        if found is not None:
            permissions[key] = found
    return Parts(hooks=hooks, servers=servers, permissions=permissions or None, rest=value or None)


def _only_here(value: dict[str, Json], folders: Sequence[str]) -> dict[str, Json]:
    """The settings with those of one project alone, where they have a table of projects."""
    projects = value.get("projects")
    rest = {name: item for name, item in value.items() if name != "projects"}
    if not isinstance(projects, dict):
        return dict(value)
    here = next((projects[folder] for folder in folders if folder in projects), None)
    return rest if here is None else {**rest, "projects": {"*": here}}


def _members(value: dict[str, Json], wanted: tuple[Way, ...]) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for way in wanted:
        found: Json = value
        for name in way:
            found = found.get(name) if isinstance(found, dict) else None
        if found is not None:
            at = kept
            for name in way[:-1]:
                at = at.setdefault(name, {})
            at[way[-1]] = found
    return kept


def _taken_out(value: dict[str, Json], way: Way) -> tuple[dict[str, Json], Json]:
    """An object without what a way leads to, and that; objects that are empty then go with it."""
    inner = value.get(way[0])
    if len(way) == 1:
        return {name: item for name, item in value.items() if name != way[0]}, inner
    if not isinstance(inner, dict):
        return value, None
    left, found = _taken_out(inner, way[1:])
    if found is None:
        return value, None
    rest = {name: item for name, item in value.items() if name != way[0]}
    return ({**rest, way[0]: left} if left else rest), found
