"""What a shell command does, as far as its text tells.

Owns Word, Redirect, Command and Script: what the `shell` package makes of a text and `policy` judges. Must not know the
grammar, nor which paths matter.
"""

from __future__ import annotations

import enum
import re

import msgspec

from tallystick.model.intent import Chance
from tallystick.model.pattern import pattern_of

HOLE = "\0"
"""Stands in a word for what the text does not tell: the output of a command, a variable that no one set."""
STAR, ANY_ONE, CLASS = "\ue000", "\ue001", "\ue002"
"""Stand in a word for `*`, `?` and `[` where they are wildcards."""
OPEN, COMMA, CLOSE, SPLIT = "\ue003", "\ue004", "\ue005", "\ue006"
"""Stand for `{`, `,` and `}` of a brace expansion, and for the blank that splits the value of a variable."""
_FOREIGN = str.maketrans({HOLE: None, **dict.fromkeys((STAR, ANY_ONE, CLASS, OPEN, COMMA, CLOSE, SPLIT), "\ufffd")})
_PLAIN = str.maketrans({HOLE: "", STAR: "*", ANY_ONE: "?", CLASS: "["})
_MARK = re.compile(f"[{HOLE}{STAR}-{SPLIT}]")


def unmarked(text: str) -> str:
    """A text that an agent gives a shell, as the shell reads it: it drops NUL; what are marks here are letters there."""
    if _is_unmarked(text):
        return text
    return text.translate(_FOREIGN)


def _is_unmarked(text: str) -> bool:
    """Asked first: replacing costs a hundred times as much, and most texts have no mark."""
    return HOLE not in text if text.isascii() else _MARK.search(text) is None


class Word(msgspec.Struct, frozen=True):
    """A word after quotes, variables and braces are resolved."""

    text: str
    hidden: str = ""
    """What the holes were made from: the text of a substitution, the values that a loop gives a variable."""
    commands: tuple[int, ...] = ()
    """Which commands' output is in it, by their place in Script.commands."""
    is_stream: bool = False
    """It names no file but a pipe to or from those commands: `<(…)`, `>(…)`."""
    many: int = 0
    """Braces stand for so many words, of which only some are given, this being the first; 0: all are given."""

    @property
    def plain(self) -> str:
        """The text with wildcards as they are written, and without its holes."""
        text = self.text
        if (text.isascii() and HOLE not in text) or _is_unmarked(text):
            return text
        return text.translate(_PLAIN)

    @property
    def is_known(self) -> bool:
        """Whether nothing in it is a hole."""
        return HOLE not in self.text


class Redirect(msgspec.Struct, frozen=True):
    """A file that a command's descriptors are bound to."""

    target: Word
    writes: bool
    operator: str = ""
    """As it is written: `<`, `>>`, `&>`."""
    descriptor: str = ""
    """The number before it, where one stands there."""


class Role(enum.StrEnum):
    """What a Command stands for. Only those of PROGRAM and CALL have words."""

    PROGRAM = "program"
    CALL = "call"
    """A function that the text defines; its body follows as commands of their own."""
    GROUP = "group"
    """A compound statement's redirects: what comes in goes out."""
    WRAPPER = "wrapper"
    """A program that ran the commands before it, `spelled` being its words: what they print goes out."""
    UNTOLD = "untold"
    """Something that runs and is not reported, for a `reason`; `spelled` is what is known of it."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One program and its arguments; wrappers like `sudo`, `env` and `sh -c` are taken off."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    folders: tuple[str, ...] = ()
    """Absolute paths of the folders that it may run in; empty where that is not known."""
    fed: str = ""
    """What reaches its standard input, as text: a here-document, or the words of the commands before it in a pipe."""
    trusted: bool = True
    """Whether a bare name is the system's program: no function, alias or other PATH is in its way."""
    role: Role = Role.PROGRAM
    spelled: tuple[Word, ...] = ()
    reason: str = ""
    """One of those in Script.opaque."""
    folder: str | None = None
    """Where it runs if the text does what it is meant to do; None where that is not known."""
    inputs: tuple[int, ...] = ()
    """Commands whose output it reads, by their place in Script.commands."""
    input: Word | None = None
    """All that it reads from its standard input, where the text tells."""
    is_diverted: bool = False
    """Its standard output goes to another descriptor, not to a pipe."""
    chance: Chance = Chance.ALWAYS
    is_last: bool = True
    """It belongs to the last statement of the text."""
    variables: tuple[tuple[str, Word], ...] = ()
    """Those that the text has set which make programs load something, with their values."""

    @property
    def program(self) -> str:
        """The program's name without its folder, or the whole word where the folder is not one of the system's."""
        if not self.words:
            return ""
        name = self.words[0].plain
        if "/" not in name and name:
            if self.trusted:
                return name
            return f"./{name}"
        found = _SYSTEM.fullmatch(name)
        if found is None:
            return name
        if self.trusted or "/" in name:
            return found[1]
        return f"./{found[1]}"

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the program."""
        return self.words[1:]


_SYSTEM = pattern_of(r"(?:/(?:usr/|usr/local/|opt/homebrew/|opt/local/|snap/|run/current-system/sw/)?s?bin/)?([^/]+)")


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of a text."""

    rounds: int | None = None
    """How often it goes round; None where the text does not tell."""
    is_endless: bool = False
    """Its condition always holds."""
    waits: tuple[str, ...] = ()
    """The programs that each round waits for."""
    behind: tuple[str, ...] = ()
    """Those that it starts and leaves running."""
    appends: bool = False
    """Each round writes more to a file."""


class Cycle(msgspec.Struct, frozen=True, kw_only=True):
    """A function, or the text itself by the name `$0`, that starts itself again in another process."""

    name: str
    is_sure: bool
    """Nothing stands before it that could end it."""
    is_given: bool
    """It gives itself arguments, so that one of them may come to an end."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """All simple commands of a text, in order, those of substitutions included."""

    commands: tuple[Command, ...] = ()
    opaque: tuple[str, ...] = ()
    """Why the text does not tell all that will run: `syntax`, `eval`, `pipe`, `program`, `size`, `depth`."""
    outputs: tuple[int, ...] = ()
    """Commands whose standard output is that of the whole text."""
    loops: tuple[Loop, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables of the shell itself that it sets, with their values; unset ones with an empty value."""
