"""The blocks of aider's chat history: where a chat begins, what was typed, what the model answered, aider's own notes.

Owns the marks by which aider tells them apart when it appends to the file: an own line ends with two spaces, begins with
`#### ` (typed) or `>` (a note), and stands after a blank line or right below another own line; whatever else begins after a
blank line is the model's. A model may write such lines too, so marks are believed only where aider would have put them. Must
not know what a note means. Source: aider 0.86, `io.py`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

import msgspec

_CHAT = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z", re.ASCII)
_USAGE = re.compile(r"> Tokens: \d[\d.]*[kM]? sent, .*received\.", re.ASCII)
_END = "  "


class Kind(enum.Enum):
    """What a block of the history is."""

    CHAT = "chat"
    """aider was started; the text is the time."""
    TYPED = "typed"
    NOTE = "note"
    """One message of aider: a line, or several if they were written at once."""
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
    """The block being read: a note that is held is one whose end, two spaces, is yet to come."""

    def __init__(self) -> None:
        self._kind: Kind | None = None
        self._lines: list[str] = []
        self._is_after_blank = True
        self._is_below_own = False
        self._is_after_chat = False

    def take(self, line: str) -> Iterator[Block]:
        """The blocks that are known to have ended when this line is read."""
        is_blank = not line.strip()
        if is_blank:
            yield from self._blank(line)
        elif self._is_after_blank and (chat := _CHAT.match(line)):
            yield from self.flush()
            yield Block(Kind.CHAT, chat[1])
        else:
            yield from self._full(line)
        self._is_below_own = not is_blank and self._kind is not Kind.ANSWER
        self._is_after_chat = _CHAT.match(line) is not None or (is_blank and self._is_after_chat)
        self._is_after_blank = is_blank

    def flush(self) -> Iterator[Block]:
        """The block being read, which has ended."""
        if self._kind is not None:
            yield Block(self._kind, "\n".join(self._lines).strip("\n"))
        self._kind, self._lines = None, []

    def _blank(self, line: str) -> Iterator[Block]:
        if self._kind in (Kind.ANSWER, Kind.NOTE):
            self._lines.append(line)
        else:
            yield from self.flush()

    def _full(self, line: str) -> Iterator[Block]:
        if self._is_typed(line):
            if self._kind is not Kind.TYPED:
                yield from self._begin(Kind.TYPED)
            self._lines.append(line[5:].rstrip())
        elif self._kind is Kind.NOTE or self._is_note(line):
            text = line.removesuffix(_END)
            if self._kind is not Kind.NOTE:
                yield from self._begin(Kind.NOTE)
                text = text.removeprefix(">").removeprefix(" ")
            self._lines.append(text)
            if line.endswith(_END):
                yield from self.flush()
        else:
            if self._kind is not Kind.ANSWER:
                yield from self._begin(Kind.ANSWER)
            self._lines.append(line)

    def _begin(self, kind: Kind) -> Iterator[Block]:
        yield from self.flush()
        self._kind = kind

    def _is_typed(self, line: str) -> bool:
        """A line that was typed. Inside a note it has a blank line before it."""
        may_begin = self._is_after_blank or (self._is_below_own and self._kind is not Kind.NOTE)
        return may_begin and line.startswith("#### ") and line.endswith(_END)

    def _is_note(self, line: str) -> bool:
        """A note, or the rest of one: a model's answer never begins right below an own line."""
        if self._is_below_own:
            return True
        if not self._is_after_blank or not line.startswith(">"):
            return False
        return line.endswith(_END) or self._is_after_chat or _USAGE.match(line) is not None
