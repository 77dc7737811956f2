"""Files of gptme-style hash-chain ledgers: `<folder>/sessions/<session>.jsonl`, one record a line.

Owns where a session's ledger is, reading it, and appending a line to it. What the lines say is exports.ledger's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tallystick.capture.history import split_lines
from tallystick.errors import AmbiguousError, NotFoundError, SourceError, UsageError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\Z")
_END = ".jsonl"
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_TORN = b"too long"


class LedgerFolder:
    """The ledgers of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sessions = folder / "sessions"

    @property
    def exists(self) -> bool:
        """Whether a folder of ledgers is there."""
        return self._sessions.is_dir()

    def path(self, session: str) -> Path:
        """The file of a session, whether it is there or not. Raises UsageError: the name cannot be a file's."""
        if not _NAME.match(session):
            raise UsageError(f"{session[:80]!r} cannot name a session", hint="letters, digits, `_`, `-` and `.`")
        return self._sessions / f"{session}{_END}"

    def sessions(self) -> list[str]:
        """The sessions that have a ledger, by name."""
        return sorted(path.stem for path in self._sessions.glob(f"*{_END}") if path.is_file())

    def find(self, name: str) -> str:
        """The session that a name, or the beginning of one, means; `session-1e23` is `1e23` where only that is there.

        Raises:
            NotFoundError, AmbiguousError: no session, or several, have it.
        """
        known = self.sessions()
        for wanted in (name, name.removeprefix("session-")):
            if wanted in known:
                return wanted
            begun = [session for session in known if session.startswith(wanted)]
            if len(begun) == 1:
                return begun[0]
            if begun:
                raise AmbiguousError(
                    f"{name!r} is the beginning of {len(begun)} sessions", hint="give more of the name"
                )
        raise NotFoundError(f"no ledger of a session {name[:80]!r} in {self._sessions}")


def ledger_lines(path: Path) -> Iterator[bytes]:
    """A file's lines with their LF; one that is too long to be a record is cut, so that it is none."""
    for line, _, has_end in split_lines(path, lambda _: None):
        text = _TORN
        if line is not None:
            text = line
        if has_end:
            yield text + b"\n"
        else:
            yield text


def append_line(path: Path, line: bytes) -> None:
    """Append one line, whole or not at all, and make it survive a loss of power; folders are made.

    A last line without its end, of a writer that died, is put aside as `<file>.torn` first.

    Raises:
        SourceError: it cannot be written.
    """
    try:
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, _FILE_MODE)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            _put_torn_aside(path, file.fileno())
            before = os.fstat(file.fileno()).st_size
            try:
                written = file.write(line)
                if written != len(line):
                    raise OSError(f"{written} of {len(line)} bytes were written")
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
            os.fsync(file.fileno())
    except OSError as error:
        raise SourceError(f"cannot write {path}: {error.strerror or error}") from error


_TAIL = 1 << 20


def _put_torn_aside(path: Path, descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    start = max(0, size - _TAIL)
    tail = os.pread(descriptor, size - start, start)
    torn = len(tail) - (tail.rfind(b"\n") + 1)
    if torn:
        with path.with_name(f"{path.name}.torn").open("ab") as aside:
            aside.write(tail[-torn:] + b"\n")
        os.ftruncate(descriptor, size - torn)
