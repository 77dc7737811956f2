"""A call that is judged, as it was read: the value.

Owns CallReading: everything that the call's arguments, and the texts that it runs, say it will do. Must not know how a
call is read (`reader` does), nor what matters of what it does.
"""

from __future__ import annotations

import re

import msgspec

from tallystick.intent.actions import Done, Reading, Snippet
from tallystick.intent.tools.uses import Uses
from tallystick.model.decision import Call
from tallystick.model.intent import Effects, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Script


class Module(msgspec.Struct, frozen=True):
    """A file of code that a call loads though nothing in the call says so."""

    path: str
    digest: str
    reading: Reading


class CallReading(msgspec.Struct, frozen=True, kw_only=True):
    """One call, read."""

    call: Call
    home: str
    """The user's home folder."""
    folder: str | None
    """Where it runs: absolute, or None if the agent did not say."""
    workspace: str | None
    """The folder whose files are the agent's to change."""
    uses: Uses
    effects: Effects
    """What the tool itself does, then what its commands, programs and code do."""
    scripts: tuple[Script, ...] = ()
    """Shell texts that run, in order, those in files and in other texts as well."""
    snippets: tuple[Snippet, ...] = ()
    """Code in other languages that runs."""
    done: tuple[Done, ...] = ()
    """The commands of the scripts, each with what its program does with its words."""
    texts: tuple[str, ...] = ()
    """The commands and codes as the agent gave them, also those that it types into a program."""
    modules: tuple[Module, ...] = ()
    """Code that it loads: modules, tests, configurations. Of `effects` they have what is grave."""
    patterns: tuple[str, ...] = ()
    """Patterns of the shell that were looked up: the paths among the intents are what they match."""


def is_archive(intent: Intent) -> bool:
    """Whether an intent writes an archive, by its name."""
    return intent.operation is Operation.WRITE and _ARCHIVE.search(intent.target) is not None


_ARCHIVE = pattern_of(r"\.(?:zip|tar|tgz|tbz2?|txz|7z|tar\.\w{2,4})\Z", re.IGNORECASE)
