"""Here-documents lifted out of a text, and the parts of their bodies.

Owns where a here-document begins and ends, and the text that is left: each `<<WORD`, and each `<<< TEXT`, becomes `< NAME`.
Must not know the grammar. The grammar loses its way where a redirect, a `;` or a second here-document follows the first on
its line, where a body begins with a blank or a backslash, and more. Whatever is unusual in the text stops the lifting:
better no answer than text taken for a document that the shell would run.
Source: the Bash Reference Manual, 3.1.2 "Quoting", 3.6.6 "Here Documents".
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

from msgspec import Struct

_NAME = "_HERE_DOCUMENT_"
_START = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]{1,64})'|\"([\w.-]{1,64})\"|(\\?[\w.-]{1,64}))(?=[\s;|&<>)]|$)")
_STRING = re.compile(r"<<<[ \t]*((?:'[^']*'|\"(?:[^\"\\`]|\\.)*\"|[\w./,:=%+@~-]|\$\w+|\$\{\w+\})+)(?=[\s;|&<>)]|$)")
_PLAIN = re.compile(r"[^'\"\\#$`(){}<\n]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_EXPANDED = re.compile(
    r"\\(?P<escaped>[$`\\\n])"
    r"|\$(?:(?P<name>[A-Za-z_]\w*|[0-9@*#?$!-])|\{(?P<braced>[A-Za-z_]\w*)\}|\{[^{}\n]*\}"
    r"|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))"
    r"|`(?:[^`\\]|\\.)*`",
    re.ASCII | re.DOTALL,
)
_MOST = 32


class Kind(enum.Enum):
    """How the text of a document becomes what is read."""

    LITERAL = enum.auto()
    BODY = enum.auto()
    """What `$`, back-quotes and backslashes stand for is put in."""
    STRING = enum.auto()
    """It is a word of the shell as it is spelled, quotes included; a newline follows it."""


class Document(Struct, frozen=True):
    """One here-document, or one string that is in its place."""

    text: str
    kind: Kind


class Piece(enum.Enum):
    """A part of a body."""

    TEXT = enum.auto()
    NAME = enum.auto()
    """The name of a variable or parameter."""
    SHELL = enum.auto()
    """Something else that the shell expands, as it is spelled."""


def pieces(body: str) -> Iterator[tuple[Piece, str]]:
    """The parts of a body in which something is expanded."""
    at = 0
    for found in _EXPANDED.finditer(body):
        yield Piece.TEXT, body[at : found.start()]
        at = found.end()
        if found["escaped"] is not None:
            yield Piece.TEXT, found["escaped"].replace("\n", "")
        elif found["name"] or found["braced"]:
            yield Piece.NAME, found["name"] or found["braced"]
        else:
            yield Piece.SHELL, found[0]
    yield Piece.TEXT, body[at:]


def lifted(text: str) -> tuple[str, dict[str, Document]] | None:
    """The text without its here-documents, and these by the names that stand for them; None where that is not sure."""
    if "<<" not in text or _NAME in text:
        return None
    return _Lifter(text).run()


class _Lifter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._left: list[str] = []
        self._found: dict[str, Document] = {}
        self._open: list[tuple[int, str, bool, bool]] = []
        """Documents whose bodies follow at the end of the line: where they go, their end, stripped, literal."""

    def run(self) -> tuple[str, dict[str, Document]] | None:
        text, size = self._text, len(self._text)
        while self._at < size:
            plain = _PLAIN.match(text, self._at)
            if plain is not None:
                self._take(plain.end())
                continue
            if not self._special(text[self._at]):
                return None
        if self._found and not self._open:
            return "".join(self._left), self._found
        return None

    def _take(self, end: int) -> None:
        self._left.append(self._text[self._at : end])
        self._at = end

    def _special(self, character: str) -> bool:
        if character == "\n":
            self._take(self._at + 1)
            return self._bodies()
        if character == "<":
            return self._less()
        end = self._end(character, self._at)
        if end <= 0:
            return False
        self._take(min(end, len(self._text)))
        return True

    def _end(self, character: str, at: int) -> int:
        """Where what begins with a character ends; 0 for what is unusual."""
        text = self._text
        match character:
            case "'":
                return text.find("'", at + 1) + 1
            case '"':
                return self._double(at + 1)
            case "\\":
                return at + 2
            case "#":
                if at == 0 or text[at - 1] in " \t\r\n;|&()<>":
                    return text.find("\n", at)
                return at + 1
            case "$":
                return 0 if text[at + 1 : at + 2] in ("'", '"', "(", "{", "[") else at + 1
            case "(" | "{" | ")" | "}":
                return 0 if text.startswith("((", at) else at + 1
            case _:
                return 0

    def _double(self, at: int) -> int:
        """Where a string ends; 0 if something in it is run, or it does not end."""
        text = self._text
        while at < len(text):
            plain = _IN_DOUBLE.match(text, at)
            if plain is not None:
                at = plain.end()
            mark = text[at : at + 1]
            if mark == '"':
                return at + 1
            if mark == "\\":
                at += 2
            elif mark == "$" and text[at + 1 : at + 2] not in ("(", "{", "["):
                at += 1
            else:
                return 0
        return 0

    def _less(self) -> bool:
        text, at = self._text, self._at
        if not text.startswith("<<", at):
            self._take(at + 1)
            return True
        is_string = text.startswith("<<<", at)
        found = (_STRING if is_string else _START).match(text, at)
        if found is None or len(self._open) + len(self._found) >= _MOST:
            return False
        self._left += ["< ", "", " "]
        self._at = found.end()
        if is_string:
            self._put(len(self._left) - 2, Document(found[1], Kind.STRING))
        else:
            bare = found[4]
            word = found[2] or found[3] or (bare or "").removeprefix("\\")
            self._open.append((len(self._left) - 2, word, bool(found[1]), bare is None or bare.startswith("\\")))
        return True

    def _put(self, place: int, document: Document) -> None:
        name = f"{_NAME}{len(self._found)}"
        self._found[name] = document
        self._left[place] = name

    def _bodies(self) -> bool:
        for place, word, is_stripped, is_literal in self._open:
            lines: list[str] = []
            while True:
                if self._at >= len(self._text):
                    return False
                end = self._text.find("\n", self._at)
                if end < 0:
                    end = len(self._text)
                line = self._text[self._at : end]
                if is_stripped:
                    line = line.lstrip("\t")
                self._at = end + 1
                if line == word:
                    break
                lines.append(f"{line}\n")
            body = "".join(lines)
            self._put(place, Document(body, Kind.LITERAL if is_literal else Kind.BODY))
        self._open = []
        self._at = min(self._at, len(self._text))
        return True
