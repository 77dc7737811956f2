"""Installing our hooks into agents' settings, and taking them out again.

Owns what happens to each settings file: read, changed by the agent's adapter, shown or written, and put back as it was. Must
not know any agent's format: `agents.hooks` does.
"""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from tallystick.agents.hooks import HookAdapter, HookCommand, SettingsFile, hook_adapter, hook_adapters
from tallystick.agents.hooks.hook_identity import calls_by_http, module_paths
from tallystick.agents.hooks.switches import switched_off
from tallystick.capture import recorder
from tallystick.capture.installation import Installation, installation_of
from tallystick.capture.loopback import Loopback, read_loopback, wait_for_loopback
from tallystick.capture.place import Place
from tallystick.capture.settings_files import (
    ChangedError,
    read_settings,
    remove_folders,
    remove_settings,
    write_settings,
)
from tallystick.capture.surroundings import Surroundings
from tallystick.catalog.agents import AGENTS
from tallystick.errors import FormatError, JournalError, SourceError, UsageError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.keys import spool_key
from tallystick.model.did_you_mean import nearest
from tallystick.setup.backups import Backup, changed_files, digest, forget, keep, read_backup, read_before
from tallystick.workspace.settings import read_setting

_T = TypeVar("_T")
_TRIES = 5
AFTERWARDS = {
    name: facts.hooks.afterwards for name, facts in AGENTS.items() if facts.hooks is not None and facts.hooks.afterwards
}
"""What the user must do besides, by agent."""
NOT_RUN = {
    name: facts.hooks.not_run for name, facts in AGENTS.items() if facts.hooks is not None and facts.hooks.not_run
}
"""What was never observed, because the agent was never run here, by agent."""
CALLING_HTTP = tuple(facts.title for facts in AGENTS.values() if facts.hooks is not None and facts.hooks.http)
"""The agents that can call the recorder's port instead of a command, as people call them."""


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, or would be done, to one file. `before` and `after` None: it is not there."""

    path: Path
    before: bytes | None
    after: bytes | None
    restored: bool = False
    """It is again as it was before us, to the byte."""

    @property
    def is_changed(self) -> bool:
        """Whether anything is done to it."""
        return self.before != self.after

    def diff(self) -> list[str]:
        """The change as a unified diff, line by line."""
        old, new = ((content or b"").decode("utf-8", "replace").splitlines() for content in (self.before, self.after))
        names = [str(self.path) if content is not None else "/dev/null" for content in (self.before, self.after)]
        return list(difflib.unified_diff(old, new, names[0], names[1], lineterm=""))


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to one agent's settings, or would be done."""

    agent: str
    files: tuple[FileReport, ...]
    events: tuple[str, ...] = ()
    """The events that call our hook now."""
    unhooked: tuple[str, ...] = ()
    """Those that we would like to see as well: something of the user's is in the way."""

    @property
    def is_changed(self) -> bool:
        """Whether anything is done."""
        return any(file.is_changed for file in self.files)


def adapter_of(agent: str) -> HookAdapter:
    """The adapter of an agent.

    Raises:
        UsageError: there is no such agent, or nothing can be installed into it.
    """
    adapter = hook_adapter(agent)
    if adapter is None:
        names = sorted(hook_adapters())
        raise UsageError(f"{agent!r} has no hooks to install{nearest(agent, names)}", hint="`tally agents` lists them")
    return adapter


def hook_command(home: Home) -> HookCommand:
    """How agents are to call this installation's hook for a store.

    The store is always named: the environment that an agent gives its hook, TALLY_HOME and HOME in it, has no say.
    """
    import tallystick.hook

    hook = Path(tallystick.hook.__file__).resolve()
    return HookCommand(python=sys.executable, hook=str(hook), home=str(home.folder.resolve()))


def own_installation() -> Installation:
    """The installation that runs now, which is the one that agents would call."""
    import tallystick.hook

    return installation_of(Path(tallystick.hook.__file__).resolve())


def passing_installation(found: Installation) -> str | None:
    """What is wrong with having agents call an installation that may be removed while they do; None: nothing."""
    if found.is_stable:
        return None
    place = {"temporary": "a temporary folder"}.get(found.kind, f"a {found.kind}")
    return (
        f"this Tallystick runs from {place}, {found.folder}: if that is removed, agents are no longer recorded. "
        f"For daily use: {found.daily_use}"
    )


# Installing -----------------------------------------------------------------------------------------------------------


def can_http(agent: str) -> bool:
    """Whether an agent can call the recorder's port. Raises what `adapter_of` raises."""
    return bool(getattr(adapter_of(agent), "CAN_HTTP", False))


def install(home: Home, agent: str, where: Surroundings, *, dry_run: bool = False, http: bool | None = None) -> Report:
    """Put our hook into an agent's settings. A second time changes nothing.

    Args:
        http: whether the agent is to call the recorder's port instead of a command; None: as it does already.

    Raises:
        UsageError: there is no such agent, it has no settings of a project, or it cannot call a port.
        FormatError: a settings file is not what the agent would read; the message has its path and line.
        SourceError: it cannot be read or written. JournalError: the backup cannot.
    """
    adapter, hook = adapter_of(agent), hook_command(home)
    files = _files(adapter, where)
    if not files:
        raise UsageError(f"{agent} has no project hooks", hint="install it without --project")
    chosen = _chosen(adapter, files, where)
    if http or (http is None and any(calls_by_http(read_settings(where.path(file)) or b"") for file in chosen)):
        hook = _over_http(home, agent, hook, dry_run=dry_run)
    installer = _Installer(home, adapter, hook, dry_run)
    reports = [installer.configured(where.path(file), file) for file in chosen]
    for file in files:
        # Once more elsewhere, an event would be reported twice.
        if file not in chosen and _events(adapter, (file,), where, {}):
            reports.append(_removed(home, adapter, where.path(file), file, dry_run=dry_run))
    if not dry_run:
        _remember_python(home, hook)
    events = _events(adapter, files, where, {report.path: report.after for report in reports})
    left = tuple(event for event in adapter.EVENTS if event not in events)
    return Report(agent=agent, files=tuple(reports), events=events, unhooked=left)


def _over_http(home: Home, agent: str, hook: HookCommand, *, dry_run: bool) -> HookCommand:
    """The hook with the port and the token of the recorder, which is started if it never had any."""
    if not can_http(agent):
        raise UsageError(f"{agent} cannot call a port", hint="install it without --http")
    if read_setting(home, "service.http") != "on":
        raise UsageError("the recorder has no port", hint="tally config set service.http on")
    place = Place(home.folder)
    loopback = read_loopback(place)
    if loopback is None and dry_run:
        loopback = Loopback(0, "TOKEN")
    if loopback is None:
        recorder.start(home.folder)
        loopback = wait_for_loopback(place)
    if loopback is None:
        raise SourceError("the recorder runs, but does not report its port", hint="tally service stop, then try again")
    return msgspec.structs.replace(hook, url=loopback.url, token=loopback.token)


def _remember_python(home: Home, hook: HookCommand) -> None:
    """Leave word where Tallystick is installed, for plugins that run in another interpreter, and the key of the spool."""
    home.make_folder(home.folder)
    home.make_folder(home.folder / "run")
    with contextlib.suppress(JournalError):
        replace_file(Place(home.folder).python, [f"{hook.python}\n".encode()])
    with contextlib.suppress(JournalError):
        spool_key(home)


def _files(adapter: HookAdapter, where: Surroundings) -> tuple[SettingsFile, ...]:
    return adapter.settings(project=where.project is not None)


def _chosen(adapter: HookAdapter, files: tuple[SettingsFile, ...], where: Surroundings) -> list[SettingsFile]:
    """The files that ours belong into: all, unless the adapter has a choice to make."""
    choose: Callable[[dict[str, bytes]], frozenset[str]] | None = getattr(adapter, "chosen", None)
    if choose is None:
        return list(files)
    contents = {file.name: read_settings(where.path(file)) or b"" for file in files}
    names = _at(where.path(files[0]).parent, lambda: choose(contents))
    return [file for file in files if file.name in names]


class _Installer(msgspec.Struct, frozen=True):
    """Puts a hook into the settings of an agent."""

    home: Home
    adapter: HookAdapter
    hook: HookCommand
    dry_run: bool

    def configured(self, path: Path, file: SettingsFile) -> FileReport:
        """A settings file with the hook in it; written unless this is a dry run."""

        def change(content: bytes | None) -> FileReport:
            after: bytes | None = _at(path, lambda: self.adapter.configure(file, content or b"", self.hook))
            if not after and content is None:
                after = None
            return FileReport(path=path, before=content, after=after)

        if self.dry_run:
            return change(read_settings(path))
        return _tried(path, lambda content: _install_file(self.home, self.adapter, file, change(content)))


def _install_file(home: Home, adapter: HookAdapter, file: SettingsFile, change: FileReport) -> FileReport:
    if change.is_changed and change.after is not None:
        before, backup = _base(home, adapter, file, change)
        keep(home, adapter.NAME, backup, before)
        made = write_settings(change.path, change.after, expected=change.before, executable=file.executable)
        if made:
            folders = tuple(map(str, made))
            keep(home, adapter.NAME, msgspec.structs.replace(backup, folders=folders), before)
    return change


def _base(home: Home, adapter: HookAdapter, file: SettingsFile, change: FileReport) -> tuple[bytes, Backup]:
    """What the file is without us, and the note of that."""
    assert change.after is not None, "something is written"
    after, events = change.after, adapter.hooked(file, change.after)
    note = Backup(path=str(change.path), after=digest(after), existed=False, events=events)
    if change.before is None:
        return b"", note
    known = read_backup(home, adapter.NAME, change.path)
    if known is not None and known.is_untouched(change.before):
        note = msgspec.structs.replace(known, after=note.after, events=events)
        return read_before(home, adapter.NAME, change.path) or b"", note
    before = change.before
    if _at(change.path, lambda: adapter.hooked(file, before)):
        before = _at(change.path, lambda: adapter.remove(file, before))
    if known is not None:
        folders = known.folders
    else:
        folders = ()
    return before, msgspec.structs.replace(note, existed=bool(before) or before == change.before, folders=folders)


# Uninstalling ---------------------------------------------------------------------------------------------------------


def uninstall(home: Home, agent: str, where: Surroundings, *, dry_run: bool = False) -> Report:
    """Take our hook out of an agent's settings: of a project's, or of the user's and all projects' that we know of.

    Raises what `install` raises.
    """
    adapter = adapter_of(agent)
    found = {where.path(file): file for file in _files(adapter, where)}
    if where.project is None:
        projects = {file.path: file for file in adapter.settings(project=True)}
        for path in changed_files(home, agent):
            file = next((file for name, file in projects.items() if path.match(f"*/{name}")), None)
            if file is not None:
                found.setdefault(path, file)
    backups = [backup for path in found if (backup := read_backup(home, agent, path)) is not None]
    reports = tuple(_removed(home, adapter, path, file, dry_run=dry_run) for path, file in found.items())
    if not dry_run:
        remove_folders(sorted({Path(folder) for backup in backups for folder in backup.folders}))
    return Report(agent=agent, files=tuple(report for report in reports if report.before is not None))


def _removed(home: Home, adapter: HookAdapter, path: Path, file: SettingsFile, *, dry_run: bool) -> FileReport:
    if dry_run:
        return _without(home, adapter, path, file, read_settings(path))
    return _tried(path, lambda content: _remove_file(home, adapter, _without(home, adapter, path, file, content)))


def _without(home: Home, adapter: HookAdapter, path: Path, file: SettingsFile, content: bytes | None) -> FileReport:
    """The file without us: as it was, if no one else has changed it since; else less what is ours."""
    if content is None:
        return FileReport(path=path, before=None, after=None)
    backup = read_backup(home, adapter.NAME, path)
    if backup is not None and backup.is_untouched(content):
        before = None
        if backup.existed:
            before = read_before(home, adapter.NAME, path)
        if before is not None or not backup.existed:
            return FileReport(path=path, before=content, after=before, restored=True)
    after: bytes | None = _at(path, lambda: adapter.remove(file, content))
    if not after and after != content:
        after = None
        if backup is not None and backup.existed:
            after = read_before(home, adapter.NAME, path)
    return FileReport(path=path, before=content, after=after)


def _remove_file(home: Home, adapter: HookAdapter, change: FileReport) -> FileReport:
    if change.is_changed and change.before is not None:
        if change.after is None:
            remove_settings(change.path, expected=change.before)
        else:
            write_settings(change.path, change.after, expected=change.before)
    forget(home, adapter.NAME, change.path)
    return change


# What is there --------------------------------------------------------------------------------------------------------


def hooked_events(agent: str, where: Surroundings) -> tuple[str, ...]:
    """The events of an agent that call our hook, in the adapter's order. Raises what `install` raises."""
    adapter = adapter_of(agent)
    return _events(adapter, _files(adapter, where), where, {})


def called_installations(agent: str, where: Surroundings) -> tuple[Installation, ...]:
    """The installations that an agent's settings name, each once. Raises what `install` raises."""
    found: dict[Installation, None] = {}
    for file in _files(adapter_of(agent), where):
        for paths in module_paths(read_settings(where.path(file)) or b""):
            path = next((each for each in map(Path, paths) if each.exists()), Path(paths[-1]))
            found.setdefault(installation_of(path))
    return tuple(found)


def calls_old_port(home: Home, agent: str, where: Surroundings) -> bool:
    """Whether an agent's settings call a port, or bear a token, that is not the recorder's. Raises what `install` raises."""
    contents = [read_settings(where.path(file)) or b"" for file in _files(adapter_of(agent), where)]
    calling = [content for content in contents if calls_by_http(content)]
    known = read_loopback(Place(home.folder))
    if known is None:
        return bool(calling)
    marks = f"{known.url}/hook/{agent}".encode(), known.token.encode()
    return any(not all(mark in content for mark in marks) for content in calling)


def switched_off_by(agent: str, where: Surroundings) -> str | None:
    """The setting with which the user has turned all hooks of an agent off, and its file. Raises what `install` raises."""
    for file in _files(adapter_of(agent), where):
        path = where.path(file)
        said = _at(path, partial(switched_off, agent, read_settings(path) or b""))
        if said is not None:
            return f"hooks are disabled: {said} in {path}"
    return None


def _events(
    adapter: HookAdapter,
    files: tuple[SettingsFile, ...],
    where: Surroundings,
    contents: Mapping[Path, bytes | None],
) -> tuple[str, ...]:
    found: set[str] = set()
    for file in files:
        path = where.path(file)
        if path in contents:
            content = contents[path]
        else:
            content = read_settings(path)
        found.update(_at(path, partial(adapter.hooked, file, content or b"")))
    return tuple(event for event in adapter.EVENTS if event in found)


def _tried(path: Path, write: Callable[[bytes | None], FileReport]) -> FileReport:
    """Change a file that its agent may be writing at the same moment."""
    for _ in range(_TRIES):
        try:
            return write(read_settings(path))
        except ChangedError:
            continue
    raise SourceError(f"{path} keeps changing", hint="stop the agent, then try again")


def _at(path: Path, do: Callable[[], _T]) -> _T:
    """Do something with a file's content, and name the file if it is bad."""
    try:
        return do()
    except FormatError as error:
        raise FormatError(f"{path}: {error}", hint=error.hint or "fix the file, then try again") from error
