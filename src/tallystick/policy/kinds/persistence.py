"""What outlives a session: what is read or run by itself later (specs/gensee.md 5.2).

Owns the words for it and how a path is compared with `start_places`. What an agent does every day in its own project (a
workflow, a script of package.json, a hook that the project's repository holds) is none of it. Nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tallystick.policy.kinds.homes import below_home, plain
from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.start_places import (
    AGENTS,
    ANYWHERE,
    BEFORE_SYSTEM,
    BEFORE_SYSTEM_TOO,
    EDITOR_SETTINGS,
    EXTENSIONS,
    HOME_FOLDERS,
    IN_HOME,
    IN_HOME_FOLDERS,
    IN_SYSTEM,
    IN_SYSTEM_FOLDERS,
    NAMES,
    OF_USER,
    SHADOWED,
)
from tallystick.policy.kinds.wildcards import has_wildcards, may_name
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {
    "shell-start": "A shell or a login reads it at its start.",
    "program-start": "A program of the user's reads it at its start, and may run what it says.",
    "git-hook": "Git runs it.",
    "git-settings": "Git's settings of the user or the machine, which can name programs that git runs.",
    "schedule": "Cron or at runs what it says.",
    "service": "The system's manager of services reads it, or runs it.",
    "autostart": "It runs when the user logs in.",
    "ssh-access": "It says who may log in by SSH, or what SSH runs.",
    "account": "It says who may do what on the machine.",
    "loader": "It is loaded into programs when they start.",
    "editor-task": "An editor runs what it says.",
    "editor-settings": "An editor's settings, among which some let agents and tasks act unasked.",
    "agent-settings": "Settings of an agent: which servers and programs it starts, and what it may do.",
    "agent-extension": "Code or orders that an agent loads in every session.",
    "shadows-program": "A program of a usual name, in a folder where it is found before the system's.",
}
_MOST_PARTS = 64


def kinds(named: Named, settings: Settings) -> Iterator[str]:
    """What a path is, of KINDS."""
    for path in (named.path,) if named.real == named.path else (named.path, named.real):
        if path:
            yield from _kinds(path, named.home, named.is_known, named.is_deep)


@lru_cache(maxsize=4096)
def _kinds(spelled: str, home: str, is_known: bool, is_deep: bool) -> tuple[str, ...]:
    path = plain(spelled)
    if path[1:3] == ":/":
        path = path[2:]
    parts = path.split("/")[-_MOST_PARTS:]
    below = below_home(path, home)
    settings = "editor-settings" if path.endswith(EDITOR_SETTINGS) else None
    found = [settings, _in_system(path, is_deep), _anywhere(parts, is_deep), _of_git(parts, is_deep), _of_agent(parts)]
    if below:
        found += [_in_home(below, is_known, is_deep), _of_users_agent(below)]
    return tuple(dict.fromkeys(kind for kind in found if kind is not None))


def _in_home(below: str, is_known: bool, is_deep: bool) -> str | None:
    found = IN_HOME.get(below) or _in_folder(below, IN_HOME_FOLDERS, is_deep)
    if found is not None:
        return found
    folder, _, name = below.rpartition("/")
    if folder in BEFORE_SYSTEM and name in SHADOWED:
        return "shadows-program"
    if not is_known and len(below) > 2 and below[:1] == "." and not folder:
        return next((kind for place, kind in IN_HOME.items() if place.startswith(below)), None)
    if has_wildcards(name):
        return next((kind for place, kind in IN_HOME.items() if _may_be(below, place)), None)
    return None


def _may_be(pattern: str, place: str) -> bool:
    folder, _, name = pattern.rpartition("/")
    other, _, last = place.rpartition("/")
    return folder == other and may_name(name, last)


def _in_system(path: str, is_deep: bool) -> str | None:
    if path[:1] != "/":
        return None
    found = IN_SYSTEM.get(path) or _in_folder(path, IN_SYSTEM_FOLDERS, is_deep)
    if found is not None:
        return found
    folder, _, name = path.rpartition("/")
    return "shadows-program" if folder in BEFORE_SYSTEM_TOO and name in SHADOWED else None


def _in_folder(path: str, folders: dict[str, str], is_deep: bool) -> str | None:
    """The kind of the folder that a path lies in; of the folder itself only with all that is below it."""
    if is_deep and path in folders:
        return folders[path]
    at = path.rfind("/")
    while at > 0:
        found = folders.get(path[:at])
        if found is not None:
            return found
        at = path.rfind("/", 0, at)
    return None


def _anywhere(parts: list[str], is_deep: bool) -> str | None:
    name = parts[-1]
    folder = parts[-2] if len(parts) > 1 else ""
    if name.endswith(".pth") and folder in ("site-packages", "dist-packages"):
        return "loader"
    return ANYWHERE.get((folder, name)) or NAMES.get(name)


def _of_git(parts: list[str], is_deep: bool) -> str | None:
    """A hook of a repository: what lies in `hooks` of its git folder, also of a bare one or a module's."""
    if "hooks" not in parts or (parts[-1] == "hooks" and not is_deep) or parts[-1].endswith(".sample"):
        return None
    at = len(parts) - 1 - parts[::-1].index("hooks")
    return "git-hook" if any(part.endswith(".git") for part in parts[:at]) and at >= len(parts) - 2 else None


def _of_agent(parts: list[str]) -> str | None:
    """Code that an agent loads, of the user or of a project."""
    for at, part in enumerate(parts[:-2]):
        if part in AGENTS and parts[at + 1] in EXTENSIONS:
            return "agent-extension"
    return "agent-extension" if parts[-3:-1] == [".github", "hooks"] else None


def _of_users_agent(below: str) -> str | None:
    """Orders that an agent loads for its user, in every project."""
    parts = in_agents_folder(below)
    return "agent-extension" if len(parts) > 1 and parts[0] in OF_USER | EXTENSIONS else None


def in_agents_folder(below: str) -> list[str]:
    """The parts of a path within an agent's folder, of its path below a home folder; none: it is in no agent's."""
    for folder in HOME_FOLDERS:
        if below.startswith(folder):
            return below[len(folder) :].split("/")
    parts = below.removeprefix(".config/").split("/")
    return parts[1:] if parts[0] in AGENTS or f".{parts[0]}" in AGENTS else []
