"""What waits while Claude Code works: its queue of prompts and notifications, as `queue-operation` lines tell of it.

Owns which text leaves the queue with which line. `enqueue` adds one. `dequeue` takes one that is then said in a line of its
own, `popAll` takes all back to be edited, and `remove` takes one that the model is given between two calls: newer versions
show that in an attachment, older ones nowhere else. Must not know what a step looks like.
"""

from __future__ import annotations

from collections import deque

import msgspec

from tallystick.agents.claude_code.blocks import texts_of
from tallystick.agents.claude_code.draft import Draft
from tallystick.model.step import Json

_MOST_WAITING = 1_000
_MOST_SHOWN = 100


class QueuedText(msgspec.Struct, frozen=True):
    """A text in the queue, and when it came there."""

    text: str
    since: str


class Queue:
    """The queue of one conversation."""

    def __init__(self) -> None:
        self.waiting: list[Draft] = []
        """What was taken out for the model and is not handed out yet: an attachment may still show it."""
        self._queued: deque[QueuedText] = deque(maxlen=_MOST_WAITING)
        self._shown: deque[str] = deque(maxlen=_MOST_SHOWN)

    def take(self, line: dict[str, Json]) -> QueuedText | None:
        """Take a `queue-operation` line; what the model was given by it, unless an attachment shows it."""
        match line.get("operation"):
            case "enqueue":
                self._queued.append(QueuedText(texts_of(line.get("content")), str(line.get("timestamp") or "")))
            case "popAll":
                self._queued.clear()
            case "dequeue" if self._queued:
                self._queued.popleft()
            case "remove" if self._queued:
                taken = self._queued.popleft()
                if taken.text in self._shown:
                    self._shown.remove(taken.text)
                elif taken.text and len(self.waiting) < _MOST_WAITING:
                    return taken
        return None

    def shown(self, text: str) -> None:
        """An attachment shows a text that left the queue, or is about to."""
        for index, draft in enumerate(self.waiting):
            if draft.values.get("content.text") == text:
                del self.waiting[index]
                return
        self._shown.append(text)
