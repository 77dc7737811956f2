"""What of an agent's files is the configuration of a session, and not the agent's own memory.

Owns where each agent keeps it, which members of a settings file say what it may do, which of its files are notes for itself
with a few settings in them, and which variables of the environment change what it does: by how they are called, for none is
recorded with its value. Which files and members these are is in the catalogue. Must not know what is risky, nor open a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tallystick.catalog.agents import AGENTS, CONVENTIONS, Place, Way, folder_variables
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json

_PREFIXES = (*CONVENTIONS.prefixes, *(prefix for facts in AGENTS.values() for prefix in facts.variables.prefixes))
_SWITCH = pattern_of(rf"(?:{'|'.join(_PREFIXES)})_[A-Z0-9_]{{1,80}}|(?:HTTPS?|ALL|NO)_PROXY|LD_PRELOAD|SANDBOX|CI")
_OF_THE_HOOK = pattern_of(
    r".*_(?:ENV_FILE|PROJECT_DIR|CWD|PID|EFFORT|(?:SESSION|THREAD|PROMPT|AGENT)_ID|SESSION_ATTENDED|(?:PLUGIN|CHILD|MESSAGING)_[A-Z_]+)"
    r"|CLAUDECODE"
)
"""What an agent gives the processes that it starts, and one event has and another has not."""
_MOST_SWITCHES = 128
LOCATIONS = folder_variables()
"""Variables that name the folders of agents: those of all places."""


def switches(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the variables that change what agents do, by how they are called; not of those that are for a hook."""
    named = (name for name in environment if _SWITCH.fullmatch(name) and not _OF_THE_HOOK.fullmatch(name))
    return tuple(sorted(named))[:_MOST_SWITCHES]


_SLUG = pattern_of(r"[^A-Za-z0-9]")


class Reads(msgspec.Struct, frozen=True, kw_only=True):
    """Where the configuration of an agent's sessions stands."""

    places: tuple[Place, ...]
    servers: tuple[Way, ...] = ()
    """Where objects of MCP servers stand."""
    permissions: frozenset[str] = frozenset()
    """Members that say what the agent may do unasked."""
    members: Mapping[str, tuple[Way, ...]] = {}
    """By a place's path: all that counts of this file, which the agent writes to while it works."""
    imports: int = 0
    """How many files deep the agent follows `@path` in its instructions."""
    memory: str | None = None
    """The folder of notes on one project, `{slug}` for the project's path."""


def reads(agent: str) -> Reads | None:
    """Where the configuration of an agent is; None: no record of it."""
    facts = AGENTS.get(agent)
    if facts is None or not facts.files:
        return None
    return Reads(
        places=tuple(place for place in facts.files if place.path != facts.memory.notes),
        servers=facts.settings.servers,
        permissions=frozenset(facts.settings.permissions),
        members=facts.settings.members,
        imports=facts.imports,
        memory=facts.memory.notes_of_project,
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
        if found is not None and not isinstance(found, dict):
            found = {"": found}
        servers.update(found or {})
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
    if here is None:
        return rest
    return {**rest, "projects": {"*": here}}


def _members(value: dict[str, Json], wanted: tuple[Way, ...]) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for way in wanted:
        found: Json = value
        for name in way:
            if isinstance(found, dict):
                found = found.get(name)
            else:
                found = None
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
