"""What every reader of a history keeps to, whatever its format, checked on one file.

Owns the laws and the damage they are tried with: for the tests of readers, ours and those of other packages. Must not know
any agent's format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TypeVar

from tallystick.agents import Adapter, Shape, SourceFile
from tallystick.model.step import Event, Json, Loss, Opening, Step

_HEAD = 64 * 1024
_STRANGE: tuple[Json, ...] = (
    None,
    True,
    -1,
    0.5,
    2**70,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"type": "zz"},
    [{"type": 1}],
)

T = TypeVar("T")


class _Draws:
    """Numbers that look drawn and are the same each time."""

    def __init__(self, seed: int) -> None:
        self._text = f"{seed}"
        self._count = 0

    def below(self, limit: int) -> int:
        """A number from 0 on, below `limit`."""
        self._count += 1
        digest = sha256(f"{self._text} {self._count}".encode()).digest()
        return int.from_bytes(digest[:6], "big") % limit

    def choice(self, values: Sequence[T]) -> T:
        """One of some values."""
        return values[self.below(len(values))]


def broken_laws(adapter: Adapter, path: str, content: bytes, *, tries: int = 200, seed: int = 1) -> list[str]:
    """What a reader of lines or of documents does not keep to, in sentences; empty: it keeps to all.

    It recognises the file, gives every line as steps or as losses, names no two steps of a session alike, reads a file twice
    in the same way, and raises for no damage: values that are others, lines that are cut, gone, doubled or exchanged.
    """
    found = []
    if not adapter.recognises(path, content[:_HEAD]):
        found.append("it does not recognise the file")
    if adapter.SHAPE is Shape.LINES:
        pieces = [line for line in content.split(b"\n") if line.strip()]
    else:
        pieces = [content]
    events = read(adapter, path, pieces)
    found += _of_events(events, len(pieces))
    if read(adapter, path, pieces) != events:
        found.append("it reads the same file in another way the second time")
    order = _Draws(seed)
    for number in range(tries):
        damaged = list(_damaged(pieces, order))
        try:
            events = read(adapter, path, damaged)
        except Exception as error:
            found.append(f"it raises {error!r} for damage {number} of seed {seed}: {damaged[:3]!r}")
            break
        if len(events) < len(damaged):
            found.append(f"lines vanish in damage {number} of seed {seed}")
            break
    return found


def read(adapter: Adapter, path: str, pieces: Sequence[bytes]) -> list[Event]:
    """All events of a file of these lines, or of this one document."""
    reader = adapter.reader(SourceFile(path))
    events: list[Event] = []
    offset = 0
    for piece in pieces:
        events += reader.feed(piece, offset)
        offset += len(piece) + 1
    return [*events, *reader.finish()]


def _of_events(events: Sequence[Event], lines: int) -> Iterator[str]:
    if len(events) < lines:
        yield f"{lines} lines give {len(events)} events: each must be a step, a loss or an opening"
    steps = [event for event in events if isinstance(event, Step)]
    if not steps:
        yield "no line gives a step"
    names = [(step.session, step.source_id) for step in steps if step.source_id is not None]
    if len(names) != len(set(names)):
        twice = next(name for name in names if names.count(name) > 1)
        yield f"two steps are named {twice[1]!r}"
    sessions = {event.session for event in events if isinstance(event, Opening)}
    if {step.session for step in steps} - sessions:
        yield "a session has steps and no opening"
    if any(isinstance(event, Loss) and event.fault for event in events):
        yield "a whole file has a loss that is damage"


def _damaged(pieces: Sequence[bytes], order: _Draws) -> Iterator[bytes]:
    chosen = [piece for piece in pieces if order.below(10) > 0] or list(pieces[:1])
    change: Callable[[bytes], Iterator[bytes]] = order.choice((_cut, _doubled, _spoilt, _spoilt, _spoilt))(order)
    if order.below(5) == 0:
        chosen.reverse()
    at = order.below(len(chosen))
    for place, piece in enumerate(chosen):
        if place == at:
            yield from change(piece)
        else:
            yield piece


def _cut(order: _Draws) -> Callable[[bytes], Iterator[bytes]]:
    return lambda piece: iter((piece[: 1 + order.below(len(piece))],))


def _doubled(order: _Draws) -> Callable[[bytes], Iterator[bytes]]:
    return lambda piece: iter((piece, piece))


def _spoilt(order: _Draws) -> Callable[[bytes], Iterator[bytes]]:
    def change(piece: bytes) -> Iterator[bytes]:
        value: Json = None
        with suppress(ValueError):
            value = json.loads(piece)
        yield json.dumps(_with_another(value, order)).encode()

    return change


def _with_another(value: Json, order: _Draws) -> Json:
    """`value` with one thing in it, wherever it is, replaced."""
    if isinstance(value, dict) and value and order.below(7) > 0:
        key = order.choice(sorted(value))
        return {**value, key: _with_another(value[key], order)}
    if isinstance(value, list) and value and order.below(7) > 0:
        place = order.below(len(value))
        return [*value[:place], _with_another(value[place], order), *value[place + 1 :]]
    return order.choice(_STRANGE)
