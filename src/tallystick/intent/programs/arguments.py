"""The words of a command line, taken apart into options and operands.

Owns the conventions of POSIX (Utility Syntax Guidelines) and of GNU getopt_long: joined letters, `--name=value`,
`--`. Must not know what any option means. An option that no grammar names is taken to have no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from tallystick.model.pattern import pattern_of
from tallystick.model.script import ANY_ONE, CLASS, STAR, Command, Word

_MOST_LETTERS = 32
"""In one word of joined letters: no program has more."""
MOST_WORDS = 2000
"""Of one command that are looked at."""


class Grammar(msgspec.Struct, frozen=True):
    """Which options of a program take a value."""

    takes: frozenset[str]
    """In the same word or in the next: `-ofile`, `-o file`, `--output=file`."""
    joins: frozenset[str] = frozenset()
    """In the same word only: `-i.bak`."""
    stops: bool = False
    """Options end at the first operand: what follows belongs to another program."""
    is_long: bool = False
    """One dash begins a whole name: `-out file`, `-name=value`."""


def grammar(takes: str = "", *, stops: bool = False, is_long: bool = False) -> Grammar:
    """A grammar from the names of options, apart by blanks; `-i?` takes a value in the same word only."""
    options = takes.split()
    return Grammar(
        frozenset(name for name in options if name[-1] != "?"),
        frozenset(name[:-1] for name in options if name[-1] == "?"),
        stops,
        is_long,
    )


def split_words(text: str) -> list[str]:
    """A text as a program takes it apart: at spaces, tabs and ends of lines, at nothing that other scripts have for that."""
    return [word for word in _BLANKS.split(text.replace("\r\n", "\n")) if word]


def split_lines(text: str) -> list[str]:
    """The lines of a text as programs read them: nothing but a line feed ends one, with or without a carriage return."""
    found = text.replace("\r\n", "\n").split("\n")
    if not found[-1]:
        found.pop()
    return found


_BLANKS = pattern_of(r"[ \t\n]+")


def names(text: str) -> frozenset[str]:
    """A set of names that are written apart by blanks."""
    return frozenset(text.split())


class Line(msgspec.Struct):
    """Arguments taken apart, in their order."""

    operands: list[Word]
    options: list[tuple[str, Word | None]]
    """Names with their dashes, one for each of joined letters, and their values."""

    def has(self, *names: str) -> bool:
        """Whether one of some options is there."""
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[Word]:
        """The values of some options."""
        return [value for name, value in self.options if value is not None and name in names]

    def value(self, *names: str) -> Word | None:
        """The last value of some options."""
        return next((value for name, value in reversed(self.options) if value is not None and name in names), None)

    def said(self, *names: str) -> str:
        """That value as text; empty if none exists."""
        value = self.value(*names)
        if value is None:
            return ""
        return value.text

    def operand(self, at: int) -> str:
        """An operand as text; empty if there are not so many."""
        if at < len(self.operands):
            return self.operands[at].text
        return ""


def taken(words: Sequence[Word], rules: Grammar) -> Line:
    """Arguments taken apart by a grammar."""
    line = Line([], [])
    operands, options, takes = line.operands, line.options, rules.takes
    at, end = 0, min(len(words), MOST_WORDS)
    while at < end:
        word = words[at]
        text = word.text
        at += 1
        if text[:1] != "-" or text == "-":
            operands.append(word)
            if rules.stops:
                operands += words[at:end]
                break
        elif text == "--":
            operands += words[at:end]
            break
        elif rules.is_long or text[1] == "-":
            name, equals, value = text.partition("=")
            if rules.is_long and name[:2] == "--":
                name = name[1:]
            if equals:
                options.append((name, Word(value, word.hidden)))
            elif name in takes and at < end:
                options.append((name, words[at]))
                at += 1
            else:
                options.append((name, None))
        else:
            at += _letters(word, words[at] if at < end else None, rules, options)
    return line


def _letters(word: Word, following: Word | None, rules: Grammar, options: list[tuple[str, Word | None]]) -> int:
    """Take joined letters apart; how many of the words after them were used."""
    text = word.text
    for n, letter in enumerate(text[1:_MOST_LETTERS], 2):
        name = f"-{letter}"
        if name in rules.takes:
            rest = text[n:]
            value = following
            if rest:
                value = Word(rest, word.hidden)
            options.append((name, value))
            if rest or following is None:
                return 0
            return 1
        if name in rules.joins:
            options.append((name, Word(text[n:], word.hidden)))
            return 0
        options.append((name, None))
    return 0


def renamed(word: Word, text: str) -> Word:
    """Another text made from a word."""
    return Word(text, word.hidden, word.commands)


HOME = "\ue010"
"""Stands at the beginning of a path for the home folder, which the words do not tell."""


def at_home(path: str) -> Word:
    """A path below the home folder."""
    return Word(f"{HOME}/{path}")


_LITERAL = str.maketrans({STAR: "*", ANY_ONE: "?", CLASS: "["})


def literal(word: Word) -> Word:
    """A word whose wildcards match no file: the `?` of a URL."""
    text = word.text.translate(_LITERAL)
    if text == word.text:
        return word
    return renamed(word, text)


def merged(text: str, *words: Word) -> Word:
    """A text made from several words."""
    hidden = " ".join(word.hidden for word in words if word.hidden)
    return Word(text, hidden, tuple(at for word in words for at in word.commands))


def inside(folder: Word, name: Word) -> Word:
    """`folder/name`, the last part of the name."""
    return merged(f"{folder.text.rstrip('/')}/{last_part(name.text)}", folder, name)


def below(folder: Word | None, path: Word) -> Word:
    """A path as a program reads it that works in a folder."""
    if folder is None or path.text.startswith(("/", "~", HOME)):
        return path
    if path.text in (".", ""):
        return folder
    return merged(f"{folder.text.rstrip('/')}/{path.text}", folder, path)


def last_part(path: str) -> str:
    """The last part of a path or URL; trailing slashes do not count."""
    return path.rstrip("/").rpartition("/")[2]


def is_folder(path: str) -> bool:
    """Whether the words themselves say that a path is a folder."""
    return path.endswith(("/", "/.", "/..")) or path in (".", "..", "~")


def sentence(words: Iterable[Word]) -> Word:
    """Words as one text, apart by blanks."""
    found = list(words)
    return merged(" ".join(word.text for word in found), *found)


def is_fed(command: Command) -> bool:
    """Whether something but the terminal is on its standard input."""
    if command.fed or command.inputs or command.input is not None:
        return True
    return fed_file(command) is not None


def fed_file(command: Command) -> Word | None:
    """The file of `< FILE`."""
    for redirect in reversed(command.redirects):
        if redirect.operator == "<" and redirect.descriptor in ("", "0"):
            return redirect.target
    return None
