"""Finding history files, and whose they are.

Owns the walk over folders, the question "which agent wrote this", and the order in which files are read (docs/format.md
13.6). Never writes, never follows a link to a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from tallystick.agents import Adapter, Shape
from tallystick.capture.git_histories import histories_in, is_bare, is_repository
from tallystick.capture.git_text import GitText
from tallystick.errors import SourceError
from tallystick.model.moments import epoch_time, normal_time
from tallystick.model.pattern import pattern_of

HEAD_BYTES = 64 * 1024
_GIT = ".git"
_MAGIC = b"SQLite format 3\0"
_DATABASES = (".db", ".sqlite", ".sqlite3")
_TIME = pattern_of(rb'"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"|"created": ?(\d{13})\b')
"""A time as text, or as the milliseconds since 1970 at which something was created."""


class Found(msgspec.Struct, frozen=True):
    """A history file: its path, the agent it is of, and its size in bytes."""

    path: Path
    agent: str
    size: int
    first_time: str = ""
    text: GitText | None = None
    """What it holds, if it is in the objects of a repository: `path` then only names it."""

    @property
    def source(self) -> Path | GitText:
        """What is read."""
        return self.text or self.path


class Refused(msgspec.Struct, frozen=True):
    """A path that cannot be read as history, and why."""

    path: Path
    why: str


def read_head(path: Path) -> bytes:
    """The first bytes of a file.

    Raises: SourceError: it is not a regular file, or cannot be read.
    """
    try:
        if not path.is_file():
            raise SourceError(f"{path} is not a regular file")
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def discover(home: Path, adapters: Mapping[str, Adapter]) -> Iterator[Found | Refused]:
    """The history files of all agents below a home folder."""
    for adapter in adapters.values():
        seen: set[Path] = set()
        for pattern in adapter.locate():
            try:
                matches = sorted(home.glob(pattern))
            except OSError as error:
                yield Refused(home / pattern, f"cannot be searched: {error.strerror}")
                continue
            for path in matches:
                if path not in seen and path.is_file():
                    seen.add(path)
                    yield from _recognised(path, {adapter.NAME: adapter}, is_named=False)


def recognise(paths: Iterable[Path], adapters: Mapping[str, Adapter]) -> Iterator[Found | Refused]:
    """The history files among paths that a person named; folders are searched."""
    for path in paths:
        if not path.exists():
            yield Refused(path, "is a broken link" if path.is_symlink() else "is not there")
        elif path.is_dir():
            if is_repository(path):
                yield from _in_objects(path, adapters)
            yield from _below(path, adapters)
        else:
            yield from _recognised(path, adapters, is_named=True)


def _below(folder: Path, adapters: Mapping[str, Adapter]) -> Iterator[Found | Refused]:
    problems: list[OSError] = []
    for path in files_below(folder, problems.append):
        yield from _recognised(path, adapters, is_named=False)
    for problem in problems:
        yield Refused(Path(problem.filename or folder), f"cannot be read: {problem.strerror}")


def files_below(folder: Path, report: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """The files below a folder, in order; not those by which git keeps its objects."""
    if is_bare(folder):
        return
    for parent, folders, names in os.walk(folder, onerror=report):
        folders[:] = sorted(name for name in folders if name != _GIT)
        yield from (Path(parent, name) for name in sorted(names))


def _in_objects(folder: Path, adapters: Mapping[str, Adapter]) -> Iterator[Found | Refused]:
    """The histories that other tools keep in a repository."""
    for history in histories_in(folder):
        if isinstance(history, SourceError):
            yield Refused(folder, str(history))
            continue
        try:
            with history.text.open() as file:
                head = file.read(HEAD_BYTES)
        except SourceError as error:
            yield Refused(history.path, str(error))
            continue
        names = best_matches(str(history.path), head, adapters)
        # What a document was earlier is not what it is: only of lines, older ones may be missing in the longest.
        if len(names) == 1 and not (history.is_earlier and adapters[names[0]].SHAPE is not Shape.LINES):
            yield Found(history.path, names[0], history.text.size, first_time(head), history.text)
        elif len(names) != 1:
            yield Refused(history.path, f"is not a history of {', '.join(names) or 'a known agent'}")


def _recognised(path: Path, adapters: Mapping[str, Adapter], *, is_named: bool) -> Iterator[Found | Refused]:
    """The file if an agent knows it; a refusal if a person named it and none does, or if it cannot be read."""
    try:
        head = read_head(path)
        size = path.stat().st_size
    except (SourceError, OSError) as error:
        if is_named or not isinstance(error, SourceError) or "cannot be read" in str(error):
            yield Refused(path, str(error))
        return
    names = best_matches(str(path), head, adapters)
    if len(names) == 1:
        yield Found(path, names[0], size, first_time(head))
    elif names:
        yield Refused(path, f"can be read as {' or '.join(names)}: say which with --agent")
    elif is_named and path.suffix in _DATABASES and not head.startswith(_MAGIC):
        yield Refused(path, "is encrypted, or no SQLite database: export it in plain first")
    elif is_named:
        yield Refused(path, f"is not a history of {', '.join(adapters)}")


def best_matches(path: str, head: bytes, adapters: Mapping[str, Adapter]) -> list[str]:
    """The agents whose format a file has most of: none, one, or several between which a person must choose."""
    surest, names = 0, list[str]()
    for name, adapter in adapters.items():
        sure = int(adapter.recognises(path, head))
        if sure > surest:
            surest, names = sure, [name]
        elif sure == surest and sure:
            names.append(name)
    return names


def first_time(head: bytes) -> str:
    """The first time that is in a file, normalised, for ordering files; empty if none does."""
    from datetime import UTC

    match = _TIME.search(head)
    if match is None:
        return ""
    if match[2]:
        return epoch_time(int(match[2]) / 1000) or ""
    found = normal_time(match[1].decode(), UTC)
    if found:
        return found[0]
    return ""


def reading_order(found: Iterable[Found]) -> list[Found]:
    """Parents before sub-agents, then by first time, then by path."""
    return sorted(found, key=lambda file: ("/subagents/" in str(file.path), file.first_time, str(file.path)))
