"""What a call means to do to the world: to files, to the network, to processes.

Owns Operation, Intent, Flow and Effects: what `shell` and `tools` make of a call, and `lineage` and `policy` work with. Must
not know whether it happened: that is said by what was observed afterwards.
"""

from __future__ import annotations

import enum

import msgspec


class Domain(enum.StrEnum):
    """What kind of thing an intent concerns."""

    FILE = "file"
    NETWORK = "network"
    PROCESS = "process"
    PRIVILEGE = "privilege"
    UNKNOWN = "unknown"
    """Something will be done, and the text does not tell what."""


class Operation(enum.StrEnum):
    """What is done. The first names are those of the reference's file intents (specs/gensee.md 3)."""

    READ = "read"
    COPY_SOURCE = "copy_source"
    """Read in order to be written elsewhere, byte for byte."""
    COPY_DEST = "copy_dest"
    """Written whole, from a COPY_SOURCE or from a RENAME."""
    RENAME = "rename"
    """The old name of a file that moves: it is gone afterwards."""
    CREATE = "create"
    """Made if it is not there, left as it is if it is: `touch`, `mkdir`, `ln`."""
    WRITE = "write"
    """Written whole: what was there before is gone."""
    APPEND = "append"
    EDIT = "edit"
    """Changed in part: what it holds afterwards comes from what it held."""
    DELETE = "delete"
    METADATA = "metadata"
    """Mode, owner, times, attributes."""
    LIST = "list"
    """Names are read, not contents."""
    EXECUTE = "execute"
    """A file is run, or read as code."""
    FOLDER = "folder"
    """Becomes the working folder."""

    FETCH = "fetch"
    """Data comes from a URL or host."""
    SEND = "send"
    """Data goes to a URL or host."""
    CONNECT = "connect"
    """Both, or it is not reported which."""
    LISTEN = "listen"

    RUN = "run"
    """A program runs; the target is its name."""
    SIGNAL = "signal"
    """A process is stopped or told something; the target is its id, its name or a pattern."""
    SCHEDULE = "schedule"
    """Something will run later or at every start: cron, systemd, at."""

    ELEVATE = "elevate"
    """It runs with other rights; the target is the wrapper (`sudo`) or the account."""

    UNKNOWN = "unknown"


class Chance(enum.StrEnum):
    """Whether a part of a script runs when the script runs."""

    ALWAYS = "always"
    MAYBE = "maybe"
    """It is in a condition, a loop, a function, or after `&&` or `||`."""


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a call means to do.

    `target` is an absolute path without `.` or `..`, as far as the folder is known; a URL or `host:port`; a program's name; a
    process. Where `is_known` is false it holds what is known of it: wildcards as they are written, unknown parts left out.
    """

    domain: Domain
    operation: Operation
    target: str
    is_known: bool = True
    is_pattern: bool = False
    """The target is a pattern with wildcards: which files it names was not looked up."""
    is_deep: bool = False
    """With everything below it."""
    is_authored: bool = False
    """What is written is in the call itself: the model wrote it."""
    content: str | None = None
    """All that the target holds afterwards, where the call tells it."""
    command: int = 0
    """Which simple command of the script it comes from, counted from 0; 0 for tools other than a shell."""
    words: tuple[str, ...] = ()
    """The words of that command that it comes from, as they are read."""
    script: str = ""
    """The file that says it, where that is not the call itself: absolute."""
    chance: Chance = Chance.ALWAYS
    is_last: bool = True
    """It belongs to the last statement of the script, the one whose status the shell reports."""


class Flow(msgspec.Struct, frozen=True):
    """What one intent reads goes into what another one writes: positions in `Effects.intents`."""

    source: int
    target: int


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    """All that a call means to do, in order, and how data moves among it."""

    intents: tuple[Intent, ...] = ()
    flows: tuple[Flow, ...] = ()
    opaque: tuple[str, ...] = ()
    """Why the text does not tell all (model.script.Script.opaque); each gives an intent of Domain.UNKNOWN too."""
