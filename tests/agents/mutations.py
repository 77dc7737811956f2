"""Lines as a damaged disk, another version or an enemy would write them, for the tests of all readers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from tallystick.agents import Adapter, SourceFile
from tallystick.model.step import Event, Json, Loss, Opening, Step

JSON_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(["", "user", "assistant", "data:image/png;base64,AAAA", "\ud800", "../..", "0" * 300]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)


@st.composite
def mutated(draw: st.DrawFn, lines: Sequence[bytes]) -> list[bytes]:
    """A history in which some values are others, some lines are gone, repeated, cut or no JSON."""
    chosen = draw(st.lists(st.sampled_from(range(len(lines))), min_size=1, max_size=12))
    if draw(st.booleans()):
        chosen.sort()
    return [draw(_changed(lines[index])) for index in chosen]


@st.composite
def _changed(draw: st.DrawFn, line: bytes) -> bytes:
    how = draw(st.sampled_from(["as it is", "value", "value", "value", "cut", "garbage"]))
    if how == "cut":
        return line[: draw(st.integers(1, len(line)))]
    if how == "garbage":
        return draw(st.binary(min_size=1, max_size=40)).replace(b"\n", b" ")
    if how == "value":
        value = json.loads(line)
        for _ in range(draw(st.integers(1, 3))):
            _replace_somewhere(draw, value)
        return json.dumps(value).encode("utf-8", "surrogatepass")
    return line


def _replace_somewhere(draw: st.DrawFn, value: Json) -> None:
    """Put a random value in a random place: the deeper, the less often."""
    while isinstance(value, dict | list) and value:
        key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        if not isinstance(value[key], dict | list) or draw(st.integers(0, 3)) == 0:
            value[key] = draw(JSON_VALUES)
            return
        value = value[key]


def lines_of(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n") if line.strip()]


def pieces_of(adapter: Adapter, lines: Sequence[bytes], path: str) -> list[list[Event]]:
    """The events of each line, and those of the end."""
    reader = adapter.reader(SourceFile(path))
    pieces, offset = [], 0
    for line in lines:
        pieces.append(list(reader.feed(line, offset)))
        offset += len(line) + 1
    return [*pieces, list(reader.finish())]


def names_of(events: Sequence[Event]) -> set[tuple[str, str, str | None]]:
    """What identity rests on: the session, type and source id of every step, and the sessions."""
    steps = {(event.session, event.type, event.source_id) for event in events if isinstance(event, Step)}
    return steps | {(event.session, "", None) for event in events if isinstance(event, Opening)}


def losses_of(events: Sequence[Event]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for event in events:
        if isinstance(event, Loss):
            counts[event.kind] = counts.get(event.kind, 0) + 1
    return counts


def steps_of(events: Sequence[Event], *types: str) -> list[Step]:
    return [event for event in events if isinstance(event, Step) and (not types or event.type in types)]


def types_of(events: Sequence[Event]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for step in steps_of(events):
        counts[step.type] = counts.get(step.type, 0) + 1
    return counts
