"""Hooks that were installed and are not in their agents' settings any more.

Owns the comparison of what an installation left with what is there, a look later: agents write their settings, too. Files are
read only where the file system says that they have changed. Must not know what is done about it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.agents.hooks import HookAdapter, SettingsFile, hook_adapters
from tallystick.agents.hooks.switches import switched_off
from tallystick.capture.settings_files import read_settings
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.setup.backups import backups_of, changed_files, note_of, read_backup
from tallystick.workspace.file_stat_key import Stamp, stamp_of


class _Seen(msgspec.Struct):
    """A file as it was last read."""

    stamp: Stamp
    events: tuple[str, ...]
    said: str | None
    """What is wrong with it."""


class _File(msgspec.Struct, frozen=True):
    """A settings file that an installation changed."""

    adapter: HookAdapter
    path: Path
    file: SettingsFile
    is_project: bool


class MissingHooks:
    """The hooks of one store, looked for again and again."""

    def __init__(self, home: Home, where: Surroundings) -> None:
        self._home = home
        self._where = where
        self._seen: dict[Path, _Seen] = {}
        self._known: tuple[_File, ...] = ()
        self._stamp: Stamp | None = None
        self._before: frozenset[tuple[str, str]] = frozenset()
        self.is_unsure = False
        """Whether something was wrong at the last look that was not at the one before."""

    def look(self) -> dict[str, str]:
        """What is wrong with each agent's hooks, if it was so at the last look, too; by agent."""
        found = dict(self._wrong())
        confirmed = {agent: said for agent, said in found.items() if (agent, said) in self._before}
        self.is_unsure = confirmed != found
        self._before = frozenset(found.items())
        return confirmed

    def is_doubtful(self, agent: str) -> bool:
        """Whether something is wrong with an agent's hooks that only the next look confirms."""
        return any(name == agent for name, _ in self._before)

    def installed(self) -> dict[str, float]:
        """The agents into whose user's settings hooks were installed, and when that was last done (seconds since 1970)."""
        found: dict[str, float] = {}
        for each in self._files(project=False):
            with contextlib.suppress(OSError):
                at = note_of(self._home, each.adapter.NAME, each.path).stat().st_mtime
                found[each.adapter.NAME] = max(at, found.get(each.adapter.NAME, 0.0))
        return found

    def _files(self, *, project: bool) -> Iterator[_File]:
        """The files that an installation changed: the user's, or those of projects that are still there."""
        stamp = stamp_of(tuple(backups_of(self._home, name) for name in hook_adapters()))
        if stamp != self._stamp:
            self._stamp, self._known = stamp, tuple(self._changed())
        for each in self._known:
            if each.is_project is project and (not project or _folder_of(each.path, each.file).is_dir()):
                yield each

    def _changed(self) -> Iterator[_File]:
        for name, adapter in hook_adapters().items():
            own = {self._where.path(file) for file in adapter.settings(project=False)}
            for path in changed_files(self._home, name):
                users, projects = (_one_of(adapter.settings(project=which), path) for which in (False, True))
                is_project = path not in own and projects is not None
                file = projects if is_project else users
                if file is not None:
                    yield _File(adapter, path, file, is_project)

    def _wrong(self) -> Iterator[tuple[str, str]]:
        for project in (True, False):  # of two files of an agent, the user's is reported
            for each in self._files(project=project):
                said = self._read(each)
                if said is not None:
                    yield each.adapter.NAME, said

    def _read(self, each: _File) -> str | None:
        stamp = stamp_of((each.path, note_of(self._home, each.adapter.NAME, each.path)))
        seen = self._seen.get(each.path)
        if seen is None or seen.stamp != stamp:
            events, said = self._compared(each, () if seen is None else seen.events)
            seen = self._seen[each.path] = _Seen(stamp, events, said)
        return seen.said

    def _compared(self, each: _File, before: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
        """The events that should call our hook, and what is wrong."""
        adapter, path, file = each.adapter, each.path, each.file
        backup = read_backup(self._home, adapter.NAME, path)
        wanted = before
        if backup is not None and backup.events:
            wanted = backup.events
        try:
            content = read_settings(path) or b""
            hooked = adapter.hooked(file, content)
            off = switched_off(adapter.NAME, content)
        except TallystickError as error:
            return wanted, f"the settings with the hooks of {adapter.NAME} cannot be read: {error}"
        gone = [event for event in wanted if event not in hooked]
        if gone and hooked:
            return wanted, f"hooks of {adapter.NAME} are gone from {path}: {', '.join(gone)}"
        if not hooked:
            return wanted, f"the hooks of {adapter.NAME} are gone from {path}"
        if off is not None:
            return wanted, f"the hooks of {adapter.NAME} are switched off: {off} in {path}"
        return wanted or hooked, None


def _one_of(files: tuple[SettingsFile, ...], path: Path) -> SettingsFile | None:
    """The settings file that a path is of, wherever a variable had put its folder."""
    moved = (file for file in files if file.variable and path.name == Path(file.path).name)
    return next((file for file in files if path.match(f"*/{file.path}")), next(moved, None))


def _folder_of(path: Path, file: SettingsFile) -> Path:
    return path.parents[len(Path(file.path).parts) - 1]
