"""The texts that scripts are read from.

Owns the limits on how many files one call's analysis reads, what the call itself has written before it runs it, and which
language a script is in. Must not know where texts come from: a function is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_MOST_FILES = 20
_MOST_DEPTH = 3
_MOST_CHARACTERS = 64 << 10
_MOST_TOGETHER = 256 << 10
_SHEBANG = re.compile(r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]*)?(?:\w+=\S*[ \t]+)*)?(?:\S*/)?([A-Za-z]+)")
_OF_NAME = {
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "dash", "ash", "mksh"), "sh"),
    **dict.fromkeys(("python", "py", "pyw"), "python"),
    **dict.fromkeys(("node", "js", "mjs", "cjs", "bun", "deno", "ts", "tsx", "mts"), "javascript"),
    **dict.fromkeys(("perl", "pl", "pm"), "perl"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("awk", "gawk", "mawk"), "awk"),
    **dict.fromkeys(("psql", "sqlite3", "mysql", "sql"), "sql"),
    "php": "php",
    "sed": "sed",
}


class Files:
    """The texts of files for one analysis: what is there before it, each read once and not too many, and what it writes."""

    def __init__(self, read_text: Callable[[str], str | None] | None) -> None:
        self._read = read_text
        self._before: dict[str, str | None] = {}
        self._left = _MOST_TOGETHER
        self._written: dict[str, str | None] = {}
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
            self._before[path] = found[:_MOST_CHARACTERS] if found is not None else None
            self._left -= len(self._before[path] or "")
        return self._before[path]

    def text(self, path: str) -> str | None:
        """The text that a file has now; None if it cannot be had."""
        return self._written[path] if path in self._written else self.before(path)

    def change(self, path: str, text: str | None) -> None:
        """Take what is written to a file; None if that is not told."""
        self._written[path] = text[:_MOST_CHARACTERS] if text is not None else None

    def is_changed(self, path: str) -> bool:
        """Whether the call itself has written the file."""
        return path in self._written

    def may_open(self, path: str) -> bool:
        """Whether a script may be read where it is run: not in itself, and not too deep."""
        return path not in self.open and len(self.open) < _MOST_DEPTH


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
