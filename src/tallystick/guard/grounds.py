"""What is protected on this machine, by the home folder that a call is judged by.

Owns which paths are protected, and keeping that for the homes that were asked about last. Must not know what objects to
a call, nor how its home was found out.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from tallystick.agents.hooks import HookAdapter, SettingsFile, hook_agents, hook_files
from tallystick.catalog.agents import Base, folder_variables, hook_switches
from tallystick.journal.home import Home
from tallystick.model.paths import placed
from tallystick.policy.calls.acts import is_below
from tallystick.policy.judging import Ground
from tallystick.policy.protected.places import Kind, Naming, Places, Projects, Protected
from tallystick.policy.protected.recorder import Recorder

_MOVING = (*folder_variables(), "TMPDIR")
_MOST_HOMES = 16


class AgentMachine(msgspec.Struct, frozen=True):
    """The machine that agents run on, as far as its places are protected.

    `user_home` is the home folder of the user that agents run as; `projects` are folders whose settings count wherever an
    agent works. Variables of the agents' `environment` that move an agent's settings elsewhere are looked up in it.
    `package` is the folder of Tallystick's own files; None: where this module is. `adapters` are the agents whose settings
    are protected; None: all.
    """

    user_home: Path
    projects: Sequence[Path] = ()
    environment: Mapping[str, str] = {}
    package: Path | None = None
    adapters: Sequence[HookAdapter] | None = None


class Grounds:
    """What holds for all calls of one home folder, for the few that agents here have. Safe for several threads.

    What is protected in the home of the machine's own user is protected from all.
    """

    def __init__(self, home: Home, machine: AgentMachine) -> None:
        """`home` is the store."""
        self._own = str(machine.user_home)
        self._homes: tuple[str, ...] = ()
        """The others that were asked about, the newest first."""
        self._made = lru_cache(maxsize=_MOST_HOMES)(lambda folder: _ground(home, machine, folder))
        self._made(self._own)

    def at(self, folder: str | None) -> Ground:
        """What holds for a call with a home folder; None: it is not known, and the machine's own user's counts."""
        folder = placed(folder, None).rstrip("/") if folder and folder[0] == "/" else ""
        if not folder or folder == self._own:
            return self._made(self._own)
        if folder not in self._homes[:1]:
            self._homes = (folder, *(other for other in self._homes if other != folder))[:_MOST_HOMES]
        return self._made(folder)

    def home_above(self, path: str) -> str:
        """The home folder that a path lies below, of those that were asked about; else the machine's own user's."""
        return next((folder for folder in self._homes if is_below(path, (folder,))), self._own)


def _ground(home: Home, machine: AgentMachine, folder: str) -> Ground:
    variables = dict(machine.environment)
    places = Places(
        _protected(home, machine, folder),
        home=folder,
        projects=Projects(
            settings=tuple(dict.fromkeys(_of_projects(machine))), folders=tuple(map(str, machine.projects))
        ),
        naming=Naming(resolve=_without_links, ignores_case=sys.platform == "darwin"),
    )
    line = f"{sys.executable} -I -m tallystick.service {home.folder}"
    return Ground(
        home=folder,
        places=places,
        recorder=Recorder(process=lambda: _process(home), line=line),
        variables=_known_variables(home, Path(folder), variables),
        temporary=tuple(text for name in ("TMPDIR", "TEMP") if (text := variables.get(name, "")).startswith("/")),
    )


def _protected(home: Home, machine: AgentMachine, folder: str) -> Iterator[Protected]:
    package = machine.package or Path(__file__).parent.parent
    store = posixpath.abspath(home.folder)
    yield Protected(Kind.STORE, store, is_folder=True)
    yield Protected(Kind.KEYS, posixpath.join(store, "keys"), is_folder=True)
    for user in dict.fromkeys((str(machine.user_home), folder)):
        yield from _of_user(machine, user)
    for place in hook_switches(Base.MANAGED):
        yield Protected(Kind.HOOK_SETTINGS, f"/{place.path}", is_folder=bool(place.endings))
    is_installed = bool({"site-packages", "dist-packages"} & set(package.parts))
    yield Protected(Kind.PROGRAM if is_installed else Kind.CHECKOUT, posixpath.abspath(package), is_folder=True)


def _settings_files(machine: AgentMachine, *, project: bool) -> Iterator[SettingsFile]:
    """The files of agents that make them call the hook. Of all agents the catalogue knows them: none has to be loaded."""
    if machine.adapters is not None:
        return (file for adapter in machine.adapters for file in adapter.settings(project=project))
    return (file for agent in hook_agents() for file in hook_files(agent, project=project))


def _of_user(machine: AgentMachine, user_home: str) -> Iterator[Protected]:
    files = [(file.path, file.variable) for file in _settings_files(machine, project=False)]
    switches = [(place.path, place.variable) for place in hook_switches(Base.USER)]
    for path, variable in (*files, *switches):
        yield Protected(Kind.HOOK_SETTINGS, posixpath.join(user_home, path), is_folder=False)
        moved = None
        if variable is not None:
            moved = machine.environment.get(variable)
        if moved:
            moved = posixpath.join(moved, *Path(path).parts[1:])
            yield Protected(Kind.HOOK_SETTINGS, moved, is_folder=False)


def _of_projects(machine: AgentMachine) -> Iterator[str]:
    yield from (file.path for file in _settings_files(machine, project=True))
    yield from (place.path for place in hook_switches(Base.PROJECT))


def _without_links(path: str) -> str:
    with suppress(OSError, ValueError):  # a loop, a zero byte: the path as it is spelled is looked at anyway
        path = os.path.realpath(path)
    return placed(path, None)


def _process(home: Home) -> int | None:
    try:
        return int((home.folder / "run" / "recorder.pid").read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _known_variables(home: Home, user_home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of an agent's environment that commands may use and that are known."""
    moving = {name: variables[name] for name in _MOVING if name in variables}
    known = {"HOME": str(user_home), "TALLY_HOME": str(home.folder), "USER": user_home.name, "LOGNAME": user_home.name}
    return {**moving, **known}
