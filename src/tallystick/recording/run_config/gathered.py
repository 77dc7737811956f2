"""What the sessions of an agent in a folder run under: its inputs, gathered from the files that it reads itself.

Owns which files of which folders count, that a format that is understood is compared by what it says and not by its spelling,
and what shows that something changed. Values go no further than the digests that `sessions.configuration` makes of them. Must
not know any agent's keys: `agents.settings.inputs` does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePath

import msgspec
from msgspec.structs import replace

from tallystick.agents.hooks.switches import off_setting
from tallystick.agents.settings.hooks import handlers
from tallystick.agents.settings.inputs import Parts, Reads, parts, reads, slug
from tallystick.agents.settings.parsed import parse_value
from tallystick.capture.agent_files import path_of
from tallystick.capture.audit_files import files_below, read_bounded
from tallystick.capture.surroundings import Surroundings
from tallystick.catalog.agents import Base, Kind, Place
from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.policy.content.markdown import absolute_import, imports
from tallystick.sessions import configuration as sections
from tallystick.sessions.configuration import Digested, Given, digested
from tallystick.sessions.fingerprint import Hook
from tallystick.workspace.file_stat_key import Stamp, stamp

ROOT = Path("/")
"""Below it are administrators' settings."""
_MOST_SETTINGS = 8 << 20
_MOST_TEXT = 1 << 20
_MOST_BYTES = 64 << 20
"""Of all files of one agent."""
_MOST_ABOVE = 20
_MOST_IMPORTS = 64
"""Of all instructions of one agent."""
_PROGRAMS_OF_HOOKS = ("hooks", "plugins", "extensions")
_BASES = {Base.USER: "user", Base.PROJECT: "project", Base.MANAGED: "managed"}


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs that are in files, with what was looked at for them."""

    given: tuple[Given, ...] = ()
    hooks: tuple[tuple[Hook, bytes], ...] = ()
    sections: tuple[str, ...] = ()
    """Those that were looked at."""
    looked_at: tuple[Path, ...] = ()
    stamp: Stamp = ()

    def under(self, key: bytes) -> Digested:
        """The inputs without their values."""
        return digested(key, self.given, self.hooks, self.sections)


def gather(agent: str, where: Surroundings, *, root: Path = ROOT) -> Gathered:
    """The inputs of an agent that works in the folder `where.project`. Never raises for what stands there.

    Args:
        where: the user's home folder, the environment that names other folders, the folder of the session.
        root: below which administrators' settings are.
    """
    known = reads(agent)
    if known is None:
        return Gathered()
    look = _Look(agent, known, where, root)
    for place, path, name in look.wanted():
        look.at(place, path, name, known.imports)
    return Gathered(
        given=tuple(look.given),
        hooks=look.registered(),
        sections=sections.IN_FILES,
        looked_at=tuple(look.stamps),
        stamp=tuple(look.stamps.values()),
    )


class _Look:
    """What has been gathered so far."""

    def __init__(self, agent: str, known: Reads, where: Surroundings, root: Path) -> None:
        self.agent = agent
        self.reads = known
        self.where = where
        self.root = root
        self._folders = () if where.project is None else tuple(map(str, _above(where.project)))
        self.given: list[Given] = []
        self.stamps: dict[Path, tuple[int, int, int] | None] = {}
        """What the file system said of all that was looked at, before it was read."""
        self._hooks: list[tuple[Hook, bytes]] = []
        self._are_hooks_on = True
        self._seen: set[tuple[Path, Kind]] = set()
        self._bytes = 0
        self._imports = 0

    # Which files ----------------------------------------------------------------------------------------------------

    def wanted(self) -> Iterator[tuple[Place, Path, str]]:
        """The files that may be there, each with its name, which no absolute path is part of."""
        for place in self.reads.places:
            if place.base is not Base.PROJECT:
                yield from self._files(place, self.where, _BASES[place.base])
        if self.where.project is not None:
            if self.reads.memory is not None:
                path = self.reads.memory.replace("{slug}", slug(str(self.where.project)))
                place = replace(self.reads.places[0], path=path, kind=Kind.INSTRUCTIONS, endings=(".md",))
                yield from self._files(place, self.where, "memory", as_path="")
            for folder, name in _folders(self.where.project):
                here = replace(self.where, project=folder)
                for place in self.reads.places:
                    if place.base is Base.PROJECT:
                        yield from self._files(place, here, name)

    def _files(
        self, place: Place, where: Surroundings, base: str, *, as_path: str | None = None
    ) -> Iterator[tuple[Place, Path, str]]:
        found = path_of(place, where, self.root)
        if found is None:
            return
        path, named = found[0], place.path if as_path is None else as_path
        self._look_at(path)
        if not place.endings:
            yield place, path, f"{base}:{named}"
            return
        below = files_below(path, place.endings)
        for each in below.paths:
            self._look_at(each.parent)
            yield place, each, _shown(f"{base}:{PurePath(named, each.relative_to(path))}")
        if not below.is_whole:
            self._add(place, Given(section=_section(place), name=f"{base}:{named} …", problem="too many files"))

    def _look_at(self, path: Path) -> None:
        """Before it is read: what changes meanwhile is seen the next time."""
        if path not in self.stamps:
            self.stamps[path] = stamp(path)

    # One file -------------------------------------------------------------------------------------------------------

    def at(self, place: Place, path: Path, name: str, depth: int = 0) -> None:
        """Take a file in, if it is there, and the files that it takes in by `@path`, so many deep."""
        if (path, place.kind) in self._seen:
            return  # of one folder by two names
        self._seen.add((path, place.kind))
        self._look_at(path)
        most = _MOST_TEXT
        if place.kind is Kind.SETTINGS:
            most = _MOST_SETTINGS
        file = read_bounded(path, most=min(most, _MOST_BYTES - self._bytes))
        if file is None:
            return
        about = Given(section=_section(place), name=name, mode=file.mode, problem=file.problem, path=str(path))
        if file.data is None:
            self._add(place, about)
            return
        self._bytes += len(file.data)
        about = replace(about, size=len(file.data))
        if place.kind is Kind.SETTINGS:
            self._settings(place, path.name, file.data, about)
        else:
            self._add(place, replace(about, data=file.data))
        if depth and place.kind is Kind.INSTRUCTIONS and b"@" in file.data:
            self._imported(place, path, name, depth, file.data)

    def _imported(self, place: Place, path: Path, name: str, depth: int, data: bytes) -> None:
        for said in imports(data.decode("utf-8", "replace")):
            if self._imports >= _MOST_IMPORTS:
                return
            self._imports += 1
            there = absolute_import(said, str(path), str(self.where.user))
            self.at(place, Path(there), f"{name} @{said}", depth - 1)

    def _settings(self, place: Place, name: str, data: bytes, about: Given) -> None:
        """A settings file, parted into what is said of hooks, servers, permissions and all else."""
        try:
            value = parse_value(data, name)
            found = parts(self.reads, place, value, self._folders)
            said = _parted(found, about)
            handled = _handled(found.hooks, about.name)
            is_off = off_setting(self.agent, value) is not None
        except (FormatError, RecursionError, ValueError):
            self._add(place, replace(about, data=data))  # by its bytes: the agent may understand it
            return
        for given in said:
            self._add(place, given)
        self._hooks += handled
        self._are_hooks_on = self._are_hooks_on and not is_off

    def _add(self, place: Place, given: Given) -> None:
        self.given.append(replace(given, name=_shown(given.name)))
        if place.kind is Kind.PROGRAM and given.section == sections.HOOKS:
            name = PurePath(given.name).name[:80]
            self._hooks.append((Hook(name=name, phase="code"), given.name.encode() + b"\0" + given.data))

    def registered(self) -> tuple[tuple[Hook, bytes], ...]:
        """The hooks of all files; none of them is on where a setting turns them off."""
        on = self._are_hooks_on
        return tuple((hook if on else replace(hook, enabled=False), data) for hook, data in self._hooks)


def _parted(found: Parts, about: Given) -> list[Given]:
    named = (
        (sections.SETTINGS, about.name, found.rest),
        (sections.PERMISSIONS, about.name, found.permissions),
        (sections.HOOKS, about.name, found.hooks),
        *((sections.SERVERS, f"{server} ({about.name})", item) for server, item in found.servers.items()),
    )
    return [
        replace(about, section=section, name=name, data=plain(item))
        for section, name, item in named
        if item is not None
    ]


def _handled(hooks: Json, file: str) -> list[tuple[Hook, bytes]]:
    return [
        (
            Hook(name=each.name, priority=each.position, phase=each.phase, enabled=each.is_enabled),
            plain([file, each.event, each.value]),
        )
        for each in handlers(hooks)
    ]


def _section(place: Place) -> str:
    if place.kind is Kind.PROGRAM and any(part in _PROGRAMS_OF_HOOKS for part in PurePath(place.path).parts):
        return sections.HOOKS
    return {Kind.SETTINGS: sections.SETTINGS, Kind.INSTRUCTIONS: sections.INSTRUCTIONS}.get(place.kind, sections.SKILLS)


def _folders(folder: Path) -> list[tuple[Path, str]]:
    """The folders of a project from its repository's down to the one that is worked in, each with what it is called."""
    found = _above(folder)[::-1]
    return [(each, f"project/{each.relative_to(found[0])}" if each != found[0] else "project") for each in found]


def _above(folder: Path) -> list[Path]:
    """A folder, then those above it up to its repository's; without a repository itself alone."""
    above = [folder, *list(folder.parents)[:_MOST_ABOVE]]
    top = next((at for at, each in enumerate(above) if (each / ".git").exists()), 0)
    return above[: top + 1]


def plain(value: Json) -> bytes:
    """The same bytes for all spellings of a value: keys in order, no space.

    Raises:
        ValueError, RecursionError: it cannot be written so.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str).encode()


def _shown(text: str) -> str:
    """A name that can be written down, whatever bytes a path has."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
