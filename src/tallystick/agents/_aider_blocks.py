"""The blocks of aider's chat history: where a chat begins, what the user typed, what the model answered, aider's own notes.

Owns the marks by which aider tells them apart when it appends to the file: an own line ends with two spaces, stands after a
blank line or after another own line, and begins with `#### ` (typed) or `>` (a note); whatever else begins after a blank line
is the model's. A model may write such lines too, so the marks are believed only where aider would have put them. Must not
know what a note means. Source: aider 0.86, `io.py`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

import msgspec

_CHAT = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z", re.ASCII)
_USAGE = re.compile(r"> Tokens: [\d.]+[kM]? sent, .*received\.", re.ASCII)
_END = "  "


class Kind(enum.Enum):
    """What a block of the history is."""

    CHAT = "chat"
    """aider was started; the text is the time."""
    TYPED = "typed"
    NOTE = "note"
    """One message of aider: a line, or several if it was written at once."""
    ANSWER = "answer"


class Block(msgspec.Struct, frozen=True):
    """One block, without its marks."""

    kind: Kind
    text: str


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a history, in order. Every line that is not blank is in one of them."""
    splitter = _Splitter()
    for line in text.split("\n"):
        yield from splitter.take(line.removesuffix("\r"))
    yield from splitter.flush()


class _Splitter:
    """The block being read. `_is_open`: it is a note of several lines, whose last one ends with two spaces."""

    def __init__(self) -> None:
        self._kind: Kind | None = None
        self._lines: list[str] = []
        self._is_open = False
        self._is_after_blank = True
        self._is_after_chat = False

    def take(self, line: str) -> Iterator[Block]:
        """The blocks that end where this line begins."""
        is_blank = not line.strip()
        if (self._is_after_blank or self._is_open) and (chat := _CHAT.match(line)):
            yield from self.flush()
            yield Block(Kind.CHAT, chat[1])
            self._is_after_chat = True
        elif is_blank:
            yield from self._blank(line)
        else:
            yield from self._full(line)
            self._is_after_chat = False
        self._is_after_blank = is_blank

    def flush(self) -> Iterator[Block]:
        """The block being read, which has ended."""
        if self._kind is not None:
            yield Block(self._kind, "\n".join(self._lines).strip("\n"))
        self._kind, self._lines, self._is_open = None, [], False

    def _blank(self, line: str) -> Iterator[Block]:
        if self._kind is Kind.ANSWER or self._is_open:
            self._lines.append(line)
        else:
            yield from self.flush()

    def _full(self, line: str) -> Iterator[Block]:
        is_own_place = self._is_after_blank or self._kind in (Kind.TYPED, Kind.NOTE)
        if line.startswith("#### ") and line.endswith(_END) and is_own_place and not self._is_inside():
            yield from self._typed(line)
        elif self._is_open:
            self._lines.append(line)
            if line.endswith(_END):
                yield from self._closed()
        elif line.startswith(">") and is_own_place and self._is_note(line):
            yield from self.flush()
            self._kind, self._lines, self._is_open = Kind.NOTE, [line[2:]], True
            if line.endswith(_END):
                yield from self._closed()
        else:
            yield from self._said(line)

    def _is_inside(self) -> bool:
        """Whether the line goes on with a note of several lines: what is typed has a blank line before it."""
        return self._is_open and not self._is_after_blank

    def _is_note(self, line: str) -> bool:
        """A line that begins with `>` where a note may begin: aider's, not a quotation by the model."""
        return line.endswith(_END) or not self._is_after_blank or self._is_after_chat or _USAGE.match(line) is not None

    def _closed(self) -> Iterator[Block]:
        """The note ends with the line just taken; the kind stays, as what comes next may stand right after it."""
        self._lines[-1] = self._lines[-1].rstrip()
        yield Block(Kind.NOTE, "\n".join(self._lines))
        self._lines, self._is_open = [], False
        self._kind = None
        self._after_note()

    def _after_note(self) -> None:
        raise NotImplementedError

    def _typed(self, line: str) -> Iterator[Block]:
        if self._kind is not Kind.TYPED or self._is_after_blank:
            yield from self.flush()
            self._kind = Kind.TYPED
        self._lines.append(line[5:].rstrip())

    def _said(self, line: str) -> Iterator[Block]:
        if self._kind is not Kind.ANSWER:
            yield from self.flush()
            self._kind = Kind.ANSWER
        self._lines.append(line)
