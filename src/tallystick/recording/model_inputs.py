"""What a model call was given: the messages of a conversation as steps, each recorded once.

Owns finding the step that holds a message, recording those that no step holds, and the reference to all of them that the
call carries. Must not know any API's messages: `Said` is what their readers make of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b, sha256

import msgspec

from tallystick.model.raw import bytes_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.record import SessionRecord, as_said
from tallystick.seal.tagged import sealed_text

_MOST_RUNS = 600
_MOST_REMEMBERED = 50_000
_HOLDS = frozenset(("system", "user", "assistant", "tool_call", "tool_result"))


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is in a conversation, as the step that holds it.

    `type` is `system`, `user`, `assistant`, `tool_call` or `tool_result`; `values` are field values by full name;
    `source_id` is the id that the conversation itself gives it, if it gives one.
    """

    type: str
    values: Mapping[str, Json]
    meta: Mapping[str, Json] = {}
    source_id: str | None = None
    is_lasting: bool = True
    """False: a later call that goes on from this one's answer is not given it (instructions, tools)."""

    @property
    def key(self) -> bytes:
        """The same for the same thing said."""
        said = (self.type, self.source_id, self.values)
        return blake2b(bytes_of(said), digest_size=16).digest()


class Index:
    """Which entries of a journal hold which message. Reads only what was added since the last time."""

    def __init__(self) -> None:
        self._read = 0
        self._holders: dict[bytes, list[int]] = {}
        self._digests: dict[bytes, bytes] = {}
        """What `_digest` said of a message before: conversations are given again and again, each time a little longer."""

    def catch_up(self, record: SessionRecord) -> None:
        """Take in the entries that were added to the journal, by whomever."""
        if len(record.known) < self._read:
            self.__init__()  # type: ignore[misc]  # the journal was read again: begin again
        for n in range(self._read, len(record.known)):
            step = record.read(n)
            if step is not None and step.type in _HOLDS:
                self._holders.setdefault(_digest(step.type, step.values), []).append(n)
        self._read = len(record.known)

    def find(self, said: Said, used: set[int], after: int) -> int | None:
        """The entry that holds what was said: the first one after entry `after`, else the first that is not used yet."""
        digest = self._digests.get(said.key)
        if digest is None:
            if len(self._digests) >= _MOST_REMEMBERED:
                self._digests.clear()
            digest = self._digests[said.key] = _digest(said.type, as_said(said.values))
        holders = [n for n in self._holders.get(digest, ()) if n not in used]
        return next((n for n in holders if n > after), holders[0] if holders else None)


def _digest(kind: str, values: Mapping[str, Json]) -> bytes:
    shown = {name: value for name, value in values.items() if name.startswith("content.") and name != "content.meta"}
    return sha256(sealed_text([kind, shown])).digest()[:16]


def is_same_result(recorded: Recorded, said: Said) -> bool:
    """Whether a result that the model was given is the recorded one, which may stand there as a value and not as text."""
    output, given = recorded.values.get("content.output"), said.values.get("content.output")
    error = recorded.values.get("content.error")
    if output == given or (output is None and isinstance(error, str) and isinstance(given, str) and error in given):
        return True
    return isinstance(given, str) and output is not None and (given == str(output) or _parsed(given) == output)


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return None


def input_of(numbers: Sequence[int], hashes: Iterable[str]) -> Json:
    """The `input` member of a model call that was given the steps `numbers`, in this order.

    None if it cannot be written: a conversation that was shuffled into more than 600 runs of steps.
    """
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    if len(runs) > _MOST_RUNS:
        return None
    state = sha256()
    for digest in hashes:
        state.update(bytes.fromhex(digest))
    steps = [f"{first}-{last}" if first != last else str(first) for first, last in runs]
    return {"steps": steps, "digest": state.hexdigest()}
