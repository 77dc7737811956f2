"""What one simple command does by itself: the value that a program's rule gives.

Owns Action, Code and Actions. Must not know any program, nor pipes and redirects: `effects` puts those around it.
"""

from __future__ import annotations

import msgspec

from tallystick.model.intent import Domain, Operation
from tallystick.model.script import Word


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a command does. `target` is a word of the command, or made of several (`cp x dir` → `dir/x`)."""

    domain: Domain
    operation: Operation
    target: Word
    words: tuple[Word, ...] = ()
    """The words of the command that it comes from; by default the target."""
    is_deep: bool = False
    is_authored: bool = False
    content: str | None = None
    from_input: bool = False
    """What it writes is what the command reads from its standard input (`tee`), besides the flows given."""


class Code(msgspec.Struct, frozen=True):
    """Text that a command runs: `python -c`, `perl -e`, an awk program, SQL."""

    language: str
    """`sh`, `python`, `javascript`, `perl`, `ruby`, `awk`, `sed`, `sql`…"""
    text: Word


class Actions(msgspec.Struct, frozen=True, kw_only=True):
    """What a simple command does, as far as its words tell."""

    actions: tuple[Action, ...] = ()
    flows: tuple[tuple[int, int], ...] = ()
    """Which action's data goes into which other action's target: positions in `actions`."""
    reads_input: bool = False
    """What reaches its standard input goes to its standard output (`sort`, `sed`, `tee`), and into actions `from_input`."""
    prints: tuple[int, ...] = ()
    """Actions whose data goes to its standard output: the files that `cat` reads."""
    codes: tuple[Code, ...] = ()
    scripts: tuple[Word, ...] = ()
    """Files whose text is run: `bash deploy.sh`, `python x.py`, `./run`. Each is an EXECUTE action as well."""
    is_unknown: bool = False
    """The program is in no table, or its words do not tell what it does."""
