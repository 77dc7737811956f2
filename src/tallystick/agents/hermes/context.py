"""How Hermes carries messages from one context into the next, and finding out which they were.

Owns the recognition of copies. A compaction writes the messages that it keeps once more, a branch all of them, each
under a new row id and often with a new time: taken as new, they would be counted twice. Must not know what becomes of
them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

import msgspec

from tallystick.agents.hermes.rows import MessageRow
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.step import Json, Ref

_SUMMARY = re.compile(
    r"\A\s*\[(?:context )?(?:compaction|summary)|\[END OF PRIOR CONTEXT\b.{0,80}SUMMARY BELOW\]", re.I
)
# Rows of one transaction are a microsecond apart; rows copied one by one, a few milliseconds. No model answers within
# a quarter of a second and no person types within it.
_ONE_WRITE_S = 1e-5
_ONE_COPY_S = 0.25
_FIRST_COPY_S = 2.0
_MOST_ROWS = 4096


class History:
    """The messages of one session in order, each findable by what it says."""

    def __init__(self) -> None:
        self.refs: list[Ref] = []
        self._by_key: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self.refs)

    def add(self, message: MessageRow, ref: Ref) -> None:
        """Take the next message; `ref` is the last step that it became."""
        for key in _keys(message):
            self._by_key.setdefault(key, []).append(len(self.refs))
        self.refs.append(ref)

    def find(self, message: MessageRow, after: int) -> int | None:
        """The first message beyond position `after` that says the same."""
        found = []
        for key in _keys(message):
            places = self._by_key.get(key, [])
            place = bisect_right(places, after)
            found += places[place : place + 1]
        return min(found, default=None)

    def find_last(self, message: MessageRow, before: int) -> int | None:
        """The last message short of position `before` that says the same."""
        found = []
        for key in _keys(message):
            places = self._by_key.get(key, [])
            place = bisect_left(places, before)
            if place:
                found += places[place - 1 : place]
        return max(found, default=None)


class Carried(msgspec.Struct, frozen=True):
    """A row at the beginning of a context, and where in the earlier history it is a copy from, if it is one."""

    message: MessageRow
    original: int | None
    is_summary: bool = False


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """How a context began."""

    since: float | None
    """When it was made, as far as that is known."""
    after: int = -1
    """Only what comes after this position of the history can be an original."""
    is_certain: bool = True
    """Whether there was a compaction or a branch; else a summary or several copies must prove it."""
    is_whole: bool = False
    """Whether a branch copies all, summaries too; else a summary is new, even if one like it was there."""


class Carry:
    """The rows at the beginning of a context, held back until it is known how many of them are copies."""

    def __init__(self, history: History, beginning: Beginning) -> None:
        """Begin to hold rows back, which may be copies of what is in `history`."""
        self.history = history
        self.is_certain = beginning.is_certain
        self._is_whole = beginning.is_whole
        self.rows: list[Carried] = []
        self._cursor = beginning.after
        self._time = beginning.since

    def take(self, message: MessageRow) -> bool:
        """Hold the row back if it may be one of them."""
        if len(self.rows) >= _MOST_ROWS:
            return False
        is_summary = not self._is_whole and says_summary(message)
        original = None
        if not is_summary:
            original = self.history.find(message, self._cursor)
        if not is_summary and not self._is_written_with_others(message, original):
            return False
        self.rows.append(Carried(message, original, is_summary))
        if original is not None:
            self._cursor = original
        if message.time is not None:
            self._time = max(message.time, self._time or message.time)
        return True

    def _is_written_with_others(self, message: MessageRow, original: int | None) -> bool:
        if original is None and not self.rows:
            return self.is_certain
        if message.time is None or self._time is None:
            return original is not None
        gap = message.time - self._time
        if original is None:
            return 0 <= gap <= _ONE_WRITE_S
        if self.rows:
            return gap <= _ONE_COPY_S
        return gap <= _FIRST_COPY_S

    def settle(self) -> list[Carried]:
        """The rows. What is kept behind the summary is the end of the history, so originals are sought from its end."""
        if not self._is_whole:
            self._find_summary()
            self._seek_from_end()
        return self.rows

    def _find_summary(self) -> None:
        """A summary that says nothing known is what is new before the last copy."""
        if any(row.is_summary for row in self.rows):
            return
        last = max((place for place, row in enumerate(self.rows) if row.original is not None), default=-1)
        for place, row in enumerate(self.rows[:last]):
            if row.original is None:
                self.rows[place] = Carried(row.message, None, is_summary=True)
                return

    def _seek_from_end(self) -> None:
        bound = len(self.history)
        for place in range(len(self.rows) - 1, -1, -1):
            row = self.rows[place]
            if row.is_summary:
                return
            if row.original is not None:
                found = self.history.find_last(row.message, bound)
                if found is not None:
                    bound = found
                else:
                    bound = row.original
                self.rows[place] = Carried(row.message, bound)


def says_summary(message: MessageRow) -> bool:
    """Whether a message is the hand-over that a compaction writes, alone or merged into another."""
    return message.role in ("user", "assistant") and _SUMMARY.search(flat_text(message.content)[:4000]) is not None


def flat_text(content: Json) -> str:
    """What Hermes keeps of a content when it writes it as text: images become a word."""
    if isinstance(content, str):
        return content
    lines = []
    for part in list_of(content):
        found = dict_of(part)
        if found.get("type") == "text":
            lines.append(text_of(found.get("text")) or "")
        elif found.get("type") in ("image", "image_url", "input_image"):
            lines.append("[screenshot]")
    return "\n".join(lines)


def _keys(message: MessageRow) -> list[int]:
    """What a copy has in common with its original: the ids of calls (outputs are cut when kept), else what is said."""
    text = flat_text(message.content).strip()
    if text:
        keys = [hash((message.role, text))]
    else:
        keys = []
    if message.role == "tool" and message.call_id is not None:
        keys.append(hash(("result", message.call_id)))
    if ids := tuple(str(dict_of(call).get("id")) for call in list_of(message.calls)):
        keys.append(hash(("calls", ids)))
    return keys
