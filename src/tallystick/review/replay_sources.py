"""What is to be replayed: recorded sessions by their names, agents' own files, journal files that lie anywhere.

Owns finding out what a person named, and that nothing of a file enters the store: files of agents are read into a store of
their own, which is thrown away. Must not know in which order steps are shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tallystick.errors import AmbiguousError, FormatError, NotFoundError, TallystickError, UsageError
from tallystick.graph.graph import Graph
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.graph.replay_tracks import tracks_below, tracks_of
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import open_elsewhere
from tallystick.journal.read import Placed, read_file, read_line
from tallystick.model.ids import SESSION_ID, StepReference, parse_step_reference
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.timeline import Track
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session, find_step

if TYPE_CHECKING:  # where no file is named, nothing of what reads files is loaded: a first row should not wait for it
    from tallystick.agents import Adapter
    from tallystick.capture.discover import Found
    from tallystick.ingest.import_ import FileReport


_MANY, _AT_ONCE = 100, 200
"""Of more than so many sessions each is read so many steps at a time: else every one that waits would hold an open file."""
LARGEST_LOADED = 1 << 20
"""Larger values are not loaded to be shown or searched."""

Progress = Callable[[str, int], None]
"""Called with the name of a file and how many bytes more of it were read."""


class Spot(msgspec.Struct, frozen=True):
    """A step: its session, and its whole hash."""

    session: str
    hash: str


class Cast(msgspec.Struct):
    """The sessions that were named (`tops`), those that belong to them by session, and how their steps are read.

    `origins` says of sessions that are not of the store where they were read from. `remarks` are worth a warning. So are
    `failures`: something could not be read. Both may grow while steps are read.
    """

    home: Home
    tops: list[Track] = []
    children: dict[str, tuple[Track, ...]] = {}
    homes: dict[str, Home] = {}
    """Of sessions that are in another store than `home`."""
    files: dict[str, Path] = {}
    """Of sessions that are in no store: their journal files."""
    origins: dict[str, str] = {}
    remarks: list[str] = []
    failures: list[str] = []
    loads_blobs: bool = False
    noted: Callable[[Recorded], None] = lambda _: None
    """Told of every step that is read, shown or not."""
    refresh: Callable[[], None] = lambda: None
    """Takes in what files of agents have gained since they were read."""

    def read(self, track: Track) -> Iterator[Recorded]:
        """The steps of a session as far as they can be read; what ends them too early is among the failures."""
        try:
            for step in self._steps(track.session):
                self.noted(step)
                yield step
        except TallystickError as error:
            self.fail(f"{track.session[:8]}: {error}")

    def fail(self, why: str) -> None:
        """Note that something could not be read; once, though it may be tried twice."""
        if why not in self.failures:
            self.failures.append(why)

    def _steps(self, session: str) -> Iterator[Recorded]:
        file = self.files.get(session)
        home = self.homes.get(session, self.home)
        path = file
        if path is None:
            path = home.journal(session)
        if path is None:
            raise NotFoundError(f"there is no journal of session {session}")
        if file is None:
            whose = home
        else:
            whose = Home(file.parent)
        read = partial(read_file, whose, path, load_blobs=self.loads_blobs, largest=LARGEST_LOADED)
        if sum(map(len, self.children.values())) + len(self.tops) <= _MANY:
            yield from (placed.step for placed in read())
            return
        offset = 0
        while some := _some(read(start=offset)):
            yield from (placed.step for placed in some)
            offset = some[-1].end

    def family(self) -> list[tuple[Track, int]]:
        """All sessions, each once and with its depth below the one that was named."""
        found: dict[str, tuple[Track, int]] = {}
        tops = {track.session for track in self.tops}
        waiting = [(track, 0) for track in reversed(self.tops)]
        while waiting:
            track, depth = waiting.pop()
            if track.session not in found and (depth == 0 or track.session not in tops):
                found[track.session] = (track, depth)
                waiting += [(child, depth + 1) for child in reversed(self.children.get(track.session, ()))]
        return list(found.values())


def _some(steps: Iterator[Placed]) -> list[Placed]:
    """The next steps of a journal, whose file is closed again; what is wrong behind them is for the next call to find."""
    found: list[Placed] = []
    try:
        found.extend(islice(steps, _AT_ONCE))
    except TallystickError:
        if not found:
            raise
    return found


@contextmanager
def open_cast(
    home: Home,
    names: Sequence[str],
    *,
    loads_blobs: bool = False,
    progress: Progress = lambda _name, _bytes: None,
) -> Iterator[Cast]:
    """The sessions that some names mean: ids as every command takes them, files, and folders of files.

    A name is a path if it has a `/` or a `.` in it and is there, or if it is there and no session has it. A file that cannot
    be read is a failure of the cast, and the others are in it.

    Raises: NotFoundError, AmbiguousError: a name that is not a path means no session, or several.
    """
    cast = Cast(home, loads_blobs=loads_blobs)
    paths = {name: Path(name) for name in names if ("/" in name or "." in name) and Path(name).exists()}
    tops: dict[str, list[Track]] = {}
    with ExitStack() as stack:
        others = [name for name in names if name not in paths]
        if home.exists or not all(Path(name).exists() for name in others):
            tops |= _recorded(cast, others, progress)
        paths |= {name: Path(name) for name in others if name not in tops}
        tops |= _read_files(cast, paths, stack, progress)
        cast.tops = _once(cast, (track for name in names for track in tops.get(name, ())))
        yield cast


def _once(cast: Cast, named: Iterable[Track]) -> list[Track]:
    """Each session once. Of one that is named in the record and as a file, the record's counts: it is vouched for."""
    found = {track.session: track for track in named}
    recorded = {(track.agent, track.source_session) for track in found.values() if track.session not in cast.origins}
    twice = [
        track
        for track in found.values()
        if track.session in cast.origins and (track.agent, track.source_session) in recorded
    ]
    for track in twice:
        cast.remarks.append(
            f"{cast.origins.pop(track.session)}: this session is named in the record, too: it is read from there"
        )
        del found[track.session]
    return list(found.values())


# Recorded sessions ----------------------------------------------------------------------------------------------------


def _recorded(cast: Cast, names: Sequence[str], progress: Progress) -> dict[str, list[Track]]:
    """The sessions of the store among some names; a name that only a path has is left out."""
    if not names:
        return {}
    found: dict[str, str] = {}
    with open_index(cast.home, progress=lambda more: progress("the index", more)) as index:
        cast.remarks += index.remarks
        for name in names:
            try:
                found[name] = find_session(index, name)
            except NotFoundError as error:
                if Path(name).exists():
                    continue
                if "/" in name or "." in name:  # it may have been meant as a path
                    raise NotFoundError(f"{error}, and no such file exists", hint=error.hint) from error
                raise
        return _add(cast, index.graph, found)


def _add(cast: Cast, graph: Graph, found: Mapping[str, str]) -> dict[str, list[Track]]:
    """Sessions of an index by name, with what belongs to them."""
    known = tracks_of(graph, found.values())
    cast.children |= tracks_below(graph, known)
    return {name: [known[session]] for name, session in found.items() if session in known}


# Files ----------------------------------------------------------------------------------------------------------------


def _read_files(cast: Cast, paths: Mapping[str, Path], stack: ExitStack, progress: Progress) -> dict[str, list[Track]]:
    """The sessions in files and folders, by the names of those: what belongs to another one of them is not a top."""
    if not paths:
        return {}
    journals = {path: track for root in paths.values() for path, track in _journals(cast, root)}
    imported = _imported(cast, paths.values(), frozenset(journals), stack, progress)
    for path, track in journals.items():
        imported.setdefault(path, []).append(track)
    everything = {track.session: track for tracks in imported.values() for track in tracks}
    children: dict[str, list[Track]] = {}
    for track in everything.values():
        if track.parent in everything and track.parent is not None:
            children.setdefault(track.parent, []).append(track)
    cast.children |= {parent: tuple(tracks) for parent, tracks in children.items()}
    tops: dict[str, list[Track]] = {name: [] for name in paths}
    for path, tracks in imported.items():
        for name, root in paths.items():
            if path == root or root in path.parents:
                tops[name] += [track for track in tracks if track.parent not in everything]
    return {name: sorted(own, key=lambda track: (track.started or "", track.session)) for name, own in tops.items()}


def _journals(cast: Cast, root: Path) -> Iterator[tuple[Path, Track]]:
    """The journals of ours among some files, as tracks."""
    for path in sorted(_files(root)):
        try:
            text = next(iter(LineFile(path, opener=open_elsewhere)), None)
            first = None
            if text is not None and text.startswith(b'{"entry"'):
                first = read_line(Home(path.parent), text)
        except (FormatError, OSError):
            continue
        if first is None or first.n != 0 or first.type == "store_start" or not SESSION_ID.match(first.session):
            continue
        if first.session not in cast.files:
            cast.files[first.session] = path
            cast.origins[first.session] = f"journal {path}"
            yield path, track_of(first)


def _files(root: Path) -> Iterator[Path]:
    """A file itself, the files of ours that there may be below a folder."""
    if not root.is_dir():
        if root.is_file():
            yield root
        return
    for parent, _, names in os.walk(root):
        yield from (Path(parent, name) for name in names if name.endswith(".jsonl"))


def track_of(first: Recorded) -> Track:
    """A session by its first entry."""
    session, mark, digest = (first.parents[0] if first.parents else "").rpartition("#")
    return Track(
        session=first.session,
        agent=_text_or_none(first.member("agent")) or "?",
        source_session=_text_or_none(first.member("source_session")),
        kind=_text_or_none(first.member("kind")) or "root",
        parent=session if mark else None,
        hangs_on=digest if mark else None,
        started=_text_or_none(first.meta.get("ts")),
    )


def _text_or_none(value: Json) -> str | None:
    if isinstance(value, str):
        return value
    return None


def _imported(
    cast: Cast, roots: Iterable[Path], journals: Collection[Path], stack: ExitStack, progress: Progress
) -> dict[Path, list[Track]]:
    """The sessions in files of agents, by file: read into a store that is gone when the replay is."""
    from tempfile import TemporaryDirectory

    from tallystick.capture.discover import Refused, recognise
    from tallystick.ingest.adapters import adapters
    from tallystick.ingest.histories import import_histories

    known = adapters()
    found: list[Found] = []
    for item in recognise([root for root in roots if root not in journals], known):
        if isinstance(item, Refused):
            cast.failures.append(_failure_text(item.path, item.why))
        elif item.path not in journals:
            found.append(item)
    if not found:
        return {}
    home = Home(Path(stack.enter_context(TemporaryDirectory(prefix="tally-replay-"))) / "store")
    done = import_histories(home, found, known, progress=lambda path, size: progress(path.name, size))
    cast.refresh = _Refresh(home, found, known)
    files: dict[Path, list[Track]] = {}
    tracks = _tracks_by_name(home)
    for report in done.report.files:
        cast.failures += _faults(report)
        files[report.path] = [track for name in report.sessions for track in tracks.get(name, ())]
        for track in files[report.path]:
            cast.homes[track.session] = home
            cast.origins.setdefault(track.session, str(report.path))
    return files


class _Refresh:
    """Reads files of agents again when they have changed: what is known is not taken in twice."""

    def __init__(self, home: Home, found: Sequence[Found], known: Mapping[str, Adapter]) -> None:
        self._home = home
        self._found = found
        self._known = known
        self._states = {item.path: self._state(item.path) for item in found}

    def __call__(self) -> None:
        changed: list[Found] = []
        for item in self._found:
            state = self._state(item.path)
            if state is not None and state != self._states[item.path]:
                self._states[item.path] = state
                changed.append(msgspec.structs.replace(item, size=state[1]))
        if changed:
            from tallystick.ingest.histories import import_histories

            import_histories(self._home, changed, self._known)

    @staticmethod
    def _state(path: Path) -> tuple[int, int, int] | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


def _tracks_by_name(home: Home) -> dict[str, list[Track]]:
    """All sessions of a store by the agent's own id."""
    found: dict[str, list[Track]] = {}
    with open_index(home) as index:
        rows = list_sessions(index.graph, SessionFilter(limit=None))
        for track in tracks_of(index.graph, [row.session for row in rows]).values():
            found.setdefault(track.source_session or track.session, []).append(track)
    return found


def _faults(report: FileReport) -> Iterator[str]:
    if report.error is not None:
        yield _failure_text(report.path, report.error)
    for kind, loss in report.losses.items():
        if loss.fault:
            yield _failure_text(report.path, f"{kind}: {'; '.join(loss.examples) or loss.count}")


def _failure_text(path: Path, why: str) -> str:
    """A reason with the file's name before it, unless the reason says it already."""
    if why.startswith(str(path)):
        return why
    return f"{path}: {why}"


# Steps ----------------------------------------------------------------------------------------------------------------


def find_spot(cast: Cast, text: str) -> Spot:
    """The step that `text` names: by its number where one session is replayed, else as every command takes steps.

    Raises:
        UsageError: it names no step, or one of a session that is not replayed. NotFoundError, AmbiguousError.
    """
    within = None
    if len(cast.tops) == 1:
        within = cast.tops[0].session
    if cast.origins:
        return _look_for(cast, text, within)
    with open_index(cast.home) as index:
        try:
            found = find_step(index, text, within=within)
        except UsageError:
            found = find_step(index, text)  # of a session that belongs to this one
    if found.session not in {track.session for track, _ in cast.family()}:
        raise UsageError(
            f"step {text} belongs to session {found.session}", hint="that session is not part of this replay"
        )
    return Spot(found.session, found.hash)


def _look_for(cast: Cast, text: str, within: str | None) -> Spot:
    """The step in sessions that no index has: all are read."""
    number = None
    if text.isascii() and text.isdigit() and within is not None and len(text) < 10:
        number = int(text)
    if number is None:
        wanted = parse_step_reference(text)
    else:
        wanted = StepReference(session=within, n=number)
    found: list[Spot] = []
    for track, _ in cast.family():
        names = (track.session, track.source_session or "")
        if wanted.session is not None and not any(name.startswith(wanted.session) for name in names):
            continue
        for step in cast.read(track):
            if step.n == wanted.n or (wanted.hash is not None and step.hash.startswith(wanted.hash)):
                found.append(Spot(step.session, step.hash))
    if not found:
        raise NotFoundError(f"no step {text} in this replay")
    if len(found) > 1:
        raise AmbiguousError(f"{text} is ambiguous: {len(found)} steps", hint="give more digits")
    return found[0]
