"""What a shell command does, as far as its text tells.

Owns Word, Redirect, Command and Script: what the `shell` package makes of a text and `policy` judges. Must not know the
grammar, nor which paths matter.
"""

from __future__ import annotations

import re

import msgspec

HOLE = "\0"
"""Stands in a word for what the text does not tell: the output of a command, a variable that nobody set."""
STAR, ANY_ONE, CLASS = "\ue000", "\ue001", "\ue002"
"""Stand in a word for `*`, `?` and `[` where they are wildcards."""
_PLAIN = str.maketrans({HOLE: "", STAR: "*", ANY_ONE: "?", CLASS: "["})


class Word(msgspec.Struct, frozen=True):
    """A word after quotes, variables and braces are resolved."""

    text: str
    hidden: str = ""
    """What the holes were made from: the text of a substitution, the values that a loop gives a variable."""

    @property
    def plain(self) -> str:
        """The text with wildcards as they are written, and without its holes."""
        return self.text.translate(_PLAIN)

    @property
    def is_known(self) -> bool:
        """Whether nothing in it is a hole."""
        return HOLE not in self.text


class Redirect(msgspec.Struct, frozen=True):
    """A file that a command's descriptors are bound to."""

    target: Word
    writes: bool


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One program and its arguments; wrappers like `sudo`, `env` and `sh -c` are taken off."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    folders: tuple[str, ...] = ()
    """Absolute paths of the folders that it may run in; empty where that is not known."""
    fed: str = ""
    """What reaches its standard input, as text: a here-document, or the words of the commands before it in a pipe."""
    trusted: bool = True
    """Whether a bare name is the system's program: no function, alias or other PATH stands in its way."""

    @property
    def program(self) -> str:
        """The program's name without its folder, or the whole word where the folder is not one of the system's."""
        if not self.words:
            return ""
        name = self.words[0].plain
        found = _SYSTEM.fullmatch(name)
        if found is None:
            return name
        return found[1] if self.trusted or "/" in name else f"./{found[1]}"

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the program."""
        return self.words[1:]


_SYSTEM = re.compile(r"(?:/(?:usr/|usr/local/|opt/homebrew/)?s?bin/)?([^/]+)")


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """All simple commands of a text, in order, those of substitutions included."""

    commands: tuple[Command, ...] = ()
    opaque: tuple[str, ...] = ()
    """Why the text does not tell all that will run: `syntax`, `eval`, `pipe`, `program`, `size`, `depth`."""
