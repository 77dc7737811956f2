"""What the projection of a session asks of its earlier steps.

Owns that interface and its values: what was written is in the index, what it was made of in the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from tallystick.graph.tables import StepRow
from tallystick.model.recorded import Recorded


class Read(msgspec.Struct, array_like=True):
    """What the model was shown of a thing: which access, in which request, and n of the step that showed it."""

    thing: int
    step_id: int
    k: int
    request_id: int
    result: int


class RecordedCall(msgspec.Struct, frozen=True):
    """A call with its row, and what a run that projected it before made of it."""

    step: Recorded
    row: StepRow
    folder: str | None
    """Where it ran."""
    model_call: int | None
    """n of the newest model call before it."""
    outcome: str = "intended"
    scripts: Mapping[str, int] = {}
    """Which step wrote the text of each script that it ran, by path."""


class EarlierCalls(Protocol):
    """What the index and the journal hold of the session's earlier calls."""

    def call_of(self, corr: str) -> int | None:
        """n of the newest call with this id."""
        ...

    def call_again(self, n: int) -> RecordedCall | None:
        """Call `n` as it was projected; None if it has no intents or cannot be read."""
        ...

    def writer_of(self, path: str, n: int) -> int | None:
        """The step that had left a file as a whole when call `n` was made, if nothing of the session changed it since."""
        ...

    def content_at(self, n: int, path: str) -> str | None:
        """What call `n` left in a file."""
        ...

    def reads(self, most: int) -> list[Read]:
        """The newest read of each thing that the model was shown, newest last, so many at most."""
        ...

    def newest_calls(self, most: int) -> list[tuple[RecordedCall, int | None]]:
        """The newest calls that have intents, oldest first, and when each ended, as far as that is known."""
        ...

    def request_of(self, n: int) -> int | None:
        """The request that call `n` belongs to."""
        ...

    def files_below(self, folder: str, most: int) -> list[str]:
        """Absolute paths below a folder that this session touched, in order, so many at most."""
        ...

    def undo_call(self, n: int) -> None:
        """Take out the intents of call `n` and the result of them: a newer entry has its value."""
        ...

    def undo_result(self, n: int) -> None:
        """Take out the result of the intents of call `n`: its result has another value now."""
        ...


class Scripts:
    """The texts of the scripts that a call runs, as the session wrote them before."""

    def __init__(self, n: int, earlier: EarlierCalls, known: Mapping[str, int] | None = None) -> None:
        self.used: dict[str, int] = {}
        """Which step wrote each that was read."""
        self._n = n
        self._earlier = earlier
        self._known = known

    def read(self, path: str) -> str | None:
        """What a file holds. A call that is read again is given what it was given at first."""
        if self._known is None:
            source = self._earlier.writer_of(path, self._n)
        else:
            source = self._known.get(path)
        if source is None:
            return None
        self.used[path] = source
        return self._earlier.content_at(source, path)
