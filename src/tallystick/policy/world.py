"""What policy asks of the machine and of the record: the questions, and the form of the answers.

Owns the protocol World and its values. Anyone who implements it (`guard.live_world`) opens files, the index and
journals; each answer is found only when it is asked for, and a question that cannot be answered has an answer that says
so.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

import msgspec

from tallystick.lineage.taint import Trust
from tallystick.model.table import Table
from tallystick.policy.taint.untrusted_input import Hearing

__all__ = [
    "MOST_BYTES",
    "Comparison",
    "Content",
    "FileKind",
    "FileState",
    "Files",
    "Leaving",
    "Maker",
    "Marker",
    "Past",
    "Provenance",
    "Tracking",
    "Trust",
    "Unread",
    "World",
]


MOST_BYTES = 256 << 10
"""Of a larger file the content is not read."""


class FileKind(enum.StrEnum):
    """What stands at a path."""

    NOTHING = "nothing"
    FILE = "file"
    FOLDER = "folder"
    DEVICE = "device"
    OTHER = "other"
    """A pipe, a socket."""
    UNKNOWN = "unknown"
    """It may not be looked at."""


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    """What is at a path now, links followed."""

    kind: FileKind = FileKind.UNKNOWN
    size_bytes: int = 0
    mode: int = 0


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of a file as it is now."""

    digest: str
    """`sha256:` and hex, of all of it."""
    text: str
    """As UTF-8, with U+FFFD for what is none."""


class Unread(enum.StrEnum):
    """Why content was not read."""

    MISSING = "missing"
    TOO_LARGE = "too-large"
    """More than 256 KiB."""
    TOO_SLOW = "too-slow"
    """Reading took more than 100 ms."""
    UNREADABLE = "unreadable"
    BINARY = "binary"
    """More than 256 KiB, and no text."""


class Maker(enum.StrEnum):
    """Who wrote what is at a path now."""

    UNKNOWN = "unknown"
    """Nothing is on record: it was there before, or no one told."""
    REQUEST = "request"
    """This session, since the user's last prompt."""
    SESSION = "session"
    """This session, earlier."""
    OTHER_SESSION = "other-session"
    OUTSIDE = "outside"
    """A change was seen that no agent's call explains."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What is on record about one path."""

    maker: Maker = Maker.UNKNOWN
    is_new: bool = False
    """The maker made it where nothing was before."""
    author: Maker = Maker.UNKNOWN
    """Who wrote what it holds: of a copy, who wrote what was copied; of a file that got a line more, who wrote the rest."""
    session: str | None = None
    """The session that wrote it last: its id in the store."""
    digest: str | None = None
    """Of what its maker left there, where that is known and nothing may have changed it since."""
    flat: str | None = None
    """The same of its text as `authors.flat_digest` makes it: what a formatter changes is left out."""
    is_download: bool = False
    """It is what a host sent, as it came or unpacked, and not one of many files that came together."""
    trust: Trust = Trust.TRUSTED
    is_sensitive: bool = False
    """What it holds came from a secret, or from what was made of one."""
    evidence: tuple[str, ...] = ()
    """Steps that say so, `session:n`, the newest first."""


class Tracking(msgspec.Struct, frozen=True, kw_only=True):
    """What version control says of one path."""

    root: str | None = None
    """The top folder of the repository that it lies in."""
    is_tracked: bool = False
    is_ignored: bool = False
    is_committed: bool = False
    """What it holds now is what the last commit has; of a folder, all below it that is not ignored."""
    changed: tuple[str, ...] = ()
    """Paths of it, or of files below it, that are tracked and hold what no commit has; where they are too many, itself."""
    untracked: tuple[str, ...] = ()
    """The same for those that are neither tracked nor ignored."""
    is_linked: bool = False
    """Its commits are kept elsewhere: a linked working tree, a submodule."""


class Marker(enum.StrEnum):
    """What a session has done that later calls are judged by."""

    SENSITIVE_READ = "sensitive-read"
    UNTRUSTED_READ = "untrusted-read"


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in something that leaves."""

    steps: tuple[str, ...] = ()
    """The steps that read a value which is in it, `session:n`; a `?` before it: the value was only said there."""
    is_known: bool = True
    """All of it was looked through."""


class Leaving(Protocol):
    """What leaves, compared with the values that the sessions of a family have read, in any encoding."""

    def text(self, text: str) -> Comparison:
        """What a text holds of them."""
        ...

    def file(self, path: str) -> Comparison:
        """The same for a file as it is now, or for what is below a folder."""
        ...

    def push(self, folder: str, words: Sequence[str], *, commits_first: bool) -> Comparison:
        """The same for the commits that a push takes along, and for changes that are committed before."""
        ...

    def is_own(self, folder: str, host: str) -> bool:
        """Whether a host is of the project: a remote of it, or named in what is committed."""
        ...


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """What the session of the call has done before it."""

    markers: frozenset[Marker] = frozenset()
    sensitive: tuple[str, ...] = ()
    """The secrets that it read, by path, each with the step: `path (session:n)`."""
    calls: int = 0
    network_calls: int = 0
    recent_file_calls: int = 0
    """In the last minute."""
    recent_network_calls: int = 0
    heard: Hearing | None = None
    """What it heard from outside, ready to be looked in, and the taint of what it wrote."""
    leaving: Leaving | None = None
    """What the values that it read are compared with; None: it read none."""
    hosts: frozenset[str] = frozenset()
    """Hosts that the user let data go to, when asked."""
    granted: Table[str] = Table()
    """What the user said yes to: digests of scopes, and the steps that asked."""
    workspace: str | None = None
    """The folder that the session began in."""
    home: str | None = None
    """The home folder that the process of its hook had, where that was seen."""
    environment: tuple[tuple[str, str], ...] = ()


class Files(Protocol):
    """What is needed of the machine to read a call."""

    def matches(self, pattern: str) -> Sequence[str]:
        """The paths that a pattern of the shell names, at most some hundreds."""
        ...

    def content(self, path: str) -> Content | Unread:
        """The bytes at a path."""
        ...

    def tracking(self, path: str) -> Tracking:
        """What version control says of a path."""
        ...


class World(Protocol):
    """The machine and the record, as they are when a call is judged. Paths are absolute. No method raises."""

    def real(self, path: str) -> str:
        """The path without links, as far as it is there."""
        ...

    def state(self, path: str) -> FileState:
        """What is at a path."""
        ...

    def matches(self, pattern: str) -> Sequence[str]:
        """The paths that a pattern of the shell names, at most some hundreds."""
        ...

    def content(self, path: str) -> Content | Unread:
        """The bytes at a path."""
        ...

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        ...

    def repository(self, path: str) -> str | None:
        """The top folder of the repository that a path lies in."""
        ...

    def tracking(self, path: str) -> Tracking:
        """What version control says of a path."""
        ...

    def keeps_commits(self, path: str) -> bool:
        """Whether another branch or a tag has all commits of the branch that the repository of a path is on."""
        ...

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        ...

    def blob(self, name: str) -> Content | Unread:
        """What version control has under `REVISION:PATH`, the path absolute."""
        ...

    def has_secret(self, text: str) -> bool:
        """Whether a secret is in a text, by its form or by the name beside it; not a password, which one logs in with."""
        ...

    def past(self) -> Past:
        """What the session of the call has done so far."""
        ...
