"""The machine and the record, as they are when a call is judged: what `policy.world` asks; and files after a call.

Owns looking at files; the record is `recorded_context`'s. Before a call, `policy` sees only what the call tells; a program
may write something else. Must not know why something is asked, nor what follows from a tag.
"""

from __future__ import annotations

import glob
import os
import posixpath
import stat
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Protocol

import msgspec

from tallystick.capture.content import Contents
from tallystick.capture.tracking import content_in, keeps_commits, repository_of, tracking_of
from tallystick.model.paths import placed
from tallystick.policy.content.code_files import language_in
from tallystick.policy.content.inspection import content_tags
from tallystick.policy.world import Content, FileKind, FileState, Past, Provenance, Tracking, Unread
from tallystick.scrubbing.budget import STEP_WORK, Budget, Counts, TooMuchWorkError
from tallystick.scrubbing.finding import scrub_text
from tallystick.scrubbing.step import LOGINS


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is now."""

    path: str
    digest: str | None = None
    """`sha256:` and hex; None: it could not be read."""
    tags: frozenset[str] = frozenset()
    """Words of `policy.content.inspection.TAGS` and `policy.risks.RISKS`. They are the digest's: other content has others."""


def inspect_written(path: str, user_home: Path) -> Inspected | None:
    """Look at a file that a call wrote, an absolute path; None if it is not there or holds no code."""
    found = _CONTENTS.read(path)
    if isinstance(found, Content):
        language = language_in(found.text, path)
        if language is None:
            return None
        tags = content_tags(found.text, language, home=str(user_home), name=posixpath.basename(path))
        return Inspected(path=path, digest=found.digest, tags=tags)
    is_code = found is not Unread.MISSING and language_in("", path) is not None
    if is_code:
        return Inspected(path=path, tags=frozenset((str(found),)))
    return None


_CONTENTS = Contents()
"""One for the process: what a file holds is the same for all who ask."""
_MOST_MATCHES = 300


class RecordBefore(Protocol):
    """What is on record before one call is made."""

    def past(self) -> Past:
        """What the session of the call has done so far."""
        ...

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        ...

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        ...


class LiveWorld:
    """Answers for one call."""

    def __init__(self, before: RecordBefore | None = None) -> None:
        """`before` is what is on record; None: nothing is."""
        self._before = before

    def real(self, path: str) -> str:
        """The path without links, as far as it is there."""
        with suppress(OSError, ValueError):  # a loop, a zero byte: the path as it is spelled is looked at anyway
            path = os.path.realpath(path)
        return placed(path, None)

    def state(self, path: str) -> FileState:
        """What is at a path."""
        try:
            found = Path(path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return FileState(kind=FileKind.NOTHING)
        except (OSError, ValueError):
            return FileState()
        return FileState(kind=_kind(found.st_mode), size_bytes=found.st_size, mode=stat.S_IMODE(found.st_mode))

    def matches(self, pattern: str) -> Sequence[str]:
        """The paths that a pattern of the shell names."""
        try:
            found = glob.iglob(pattern)  # noqa: PTH207 - Path.glob takes no absolute pattern
            return list(islice(found, _MOST_MATCHES))
        except (OSError, ValueError, RecursionError):
            return ()

    def content(self, path: str) -> Content | Unread:
        """The bytes at a path."""
        return _CONTENTS.read(path)

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        if self._before is not None:
            return self._before.provenance(path)
        return Provenance()

    def repository(self, path: str) -> str | None:
        """The top folder of the repository that a path lies in."""
        return repository_of(path)

    def tracking(self, path: str) -> Tracking:
        """What version control says of a path."""
        return tracking_of(path)

    def keeps_commits(self, path: str) -> bool:
        """Whether another branch or a tag has all commits of the branch that the repository of a path is on."""
        return keeps_commits(path)

    def blob(self, name: str) -> Content | Unread:
        """What version control has under `REVISION:PATH`, the path absolute."""
        revision, _, path = name.partition(":")
        return content_in(path, revision)

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        return self._before is not None and self._before.is_approved(digest)

    def has_secret(self, text: str) -> bool:
        """Whether a secret is in a text, by its form or by the name beside it. With a password one logs in."""
        found = Counts(Budget(STEP_WORK))
        try:
            scrub_text(text, found)
        except TooMuchWorkError:  # it may be anywhere in it
            return True
        return not found.keys() <= LOGINS

    def past(self) -> Past:
        """What the session of the call has done so far."""
        if self._before is not None:
            return self._before.past()
        return Past()


def _kind(mode: int) -> FileKind:
    if stat.S_ISREG(mode):
        return FileKind.FILE
    if stat.S_ISDIR(mode):
        return FileKind.FOLDER
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        return FileKind.DEVICE
    return FileKind.OTHER
