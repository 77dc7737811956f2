"""The texts that scripts are read from.

Owns the limits on how many files one call's analysis reads, what the call itself has written before it runs it, and which
language a script is in. Must not know where texts come from: a function is given.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tallystick.catalog.loading import Entry, inverted, load
from tallystick.model.pattern import pattern_of

_MOST_FILES = 20
_MOST_DEPTH = 6
_MOST_CHARACTERS = 256 << 10
_MOST_TOGETHER = 1 << 20
_SHEBANG = pattern_of(r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]*)?(?:\w+=\S*[ \t]+)*)?(?:\S*/)?([A-Za-z]+)")


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/languages.toml."""

    languages: Mapping[str, tuple[str, ...]]


_FACTS = load("code/languages", _Facts)
_OF_NAME = inverted(_FACTS.languages)


Text: TypeAlias = str | Callable[[], str | None] | None
"""What a file holds: read when it is asked for, or None where that is unknown."""


class Files:
    """The texts of files for one analysis: what is there before it, each read once and not too many, and what it writes."""

    def __init__(self, read_text: Callable[[str], str | None] | None) -> None:
        self._read = read_text
        self._before: dict[str, str | None] = {}
        self._left = _MOST_TOGETHER
        self._written: dict[str, Text] = {}
        self.open: list[str] = []
        """The scripts that are being read, one run by the other."""

    def before(self, path: str) -> str | None:
        """The text that a file has before the call; None if it cannot be had."""
        if self._read is None or not path.startswith("/"):
            return None
        if path not in self._before:
            if len(self._before) >= _MOST_FILES or self._left <= 0:
                return None
            found = self._read(path)
            if found is not None:
                self._before[path] = found[:_MOST_CHARACTERS]
            else:
                self._before[path] = None
            self._left -= len(self._before[path] or "")
        return self._before[path]

    def text(self, path: str) -> str | None:
        """The text that a file has now; None if it cannot be had."""
        return read(self.held(path))

    def held(self, path: str) -> Text:
        """The same, read only when it is asked for: what the call writes later does not change it."""
        if path in self._written:
            return self._written[path]
        return lambda: self.before(path)

    def change(self, path: str, text: Text) -> None:
        """Take what is written to a file; None if that is unknown."""
        self._written[path] = text

    def is_changed(self, path: str) -> bool:
        """Whether the call itself has written the file."""
        return path in self._written

    def opened(self) -> str:
        """The file that is being read where it is run, the innermost one; empty for the call itself."""
        return next((path.partition(": ")[0] for path in reversed(self.open) if path), "")

    def may_open(self, path: str) -> bool:
        """Whether a script may be read where it is run: not in itself, and not too deep."""
        return path not in self.open and len(self.open) < _MOST_DEPTH


def read(text: Text) -> str | None:
    """A text that may have to be read first, at most 256 KiB of it."""
    if callable(text):
        found = text()
    else:
        found = text
    if found is not None:
        return found[:_MOST_CHARACTERS]
    return None


def together(texts: Sequence[Text]) -> Text:
    """Several texts in a row; not told where one of them is not."""
    if any(text is None for text in texts):
        return None

    def joined() -> str | None:
        parts = [read(text) for text in texts]
        if None not in parts:
            return "".join(part for part in parts if part is not None)
        return None

    return joined


def language_of(text: str, path: str, interpreter: str) -> str | None:
    """The language of a script: by its first line, by the name of its file, by the program that runs it."""
    found = _SHEBANG.match(text)
    candidates = (
        found[1] if found else "",
        path.rpartition(".")[2] if "." in path.rpartition("/")[2] else "",
        interpreter,
    )
    named = (_OF_NAME.get(re.sub(r"[\d.]+$", "", name)) for name in candidates)
    return next((language for language in named if language is not None), None)
