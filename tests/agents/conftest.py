"""Running a reader over a file, as capture does it, for the tests of all agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from tallystick.agents import Adapter, Shape, SourceFile
from tallystick.capture.history import Companions
from tallystick.capture.sqlite_rows import read_rows
from tallystick.model.step import Event

ReadEvents = Callable[[Adapter, Path], list[Event]]


@pytest.fixture
def read_events() -> ReadEvents:
    """`read_events(adapter, path)`: all events of one history file."""
    return events_of


def events_of(adapter: Adapter, path: Path) -> list[Event]:
    companions = Companions(path, adapter.COMPANIONS)
    reader = adapter.reader(SourceFile(str(path), companions))
    if adapter.SHAPE is Shape.SQLITE:
        rows = read_rows(path, adapter.TABLES)  # type: ignore[attr-defined]
        return [*(event for row, ordinal in rows for event in reader.feed(row, ordinal)), *reader.finish()]
    data = path.read_bytes()
    if adapter.SHAPE is Shape.DOCUMENT:
        return [*reader.feed(data, 0), *reader.finish()]
    return events_of_lines(adapter, data.split(b"\n"), str(path), companions)


def events_of_lines(
    adapter: Adapter, lines: Iterable[bytes], path: str = "file.jsonl", companions: Mapping[str, bytes] | None = None
) -> list[Event]:
    """The events of lines that stand in no file. Blank lines are not fed, as in capture."""
    reader = adapter.reader(SourceFile(path, companions or {}))
    events: list[Event] = []
    offset = 0
    for line in lines:
        if line.strip():
            events += reader.feed(line.strip(), offset)
        offset += len(line) + 1
    return [*events, *reader.finish()]
