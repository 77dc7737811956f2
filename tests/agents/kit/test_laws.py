from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from tallystick.agents import Adapter, Shape, SourceFile
from tallystick.agents.kit.laws import broken_laws
from tallystick.model.step import Event, Loss, Opening, Step

LINES = b'{"type":"user","text":"a"}\n{"type":"user","text":"b"}\n{"type":"user","text":"c"}\n'


class Good:
    """A reader that keeps to all laws; the others below break one each."""

    def __init__(self) -> None:
        self.lines = 0

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        if not self.lines:
            yield Opening(session="s", agent="made")
        self.lines += 1
        yield Step(session="s", type="user", source_id=f"#{self.lines}") if b"text" in data else Loss(kind="x")

    def finish(self) -> Iterator[Event]:
        return iter(())


class Forgets(Good):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield from super().feed(data, offset) if b'"a"' in data else ()


class Repeats(Good):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield Opening(session="s", agent="made")
        yield Step(session="s", type="user", source_id="always")


class Raises(Good):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        if not data.endswith(b"}"):
            raise ValueError("not whole")
        yield from super().feed(data, offset)


class Unopened(Good):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield from (event for event in super().feed(data, offset) if not isinstance(event, Opening))


class Changing(Good):
    count = 0

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield from super().feed(data, offset)
        Changing.count += 1
        yield Loss(kind=f"n{Changing.count}")


class Faulty(Good):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield from super().feed(data, offset)
        yield Loss(kind="bad", fault=True)


class Empty(Good):
    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        yield Loss(kind="x")


def adapter(made: type[Good], *, sure: int = 1) -> Adapter:
    def reader(file: SourceFile) -> Good:
        return made()

    found = SimpleNamespace(SHAPE=Shape.LINES, reader=reader, recognises=lambda path, head: sure)
    return cast("Adapter", found)


def test_a_good_reader_breaks_no_law() -> None:
    assert broken_laws(adapter(Good), "a.jsonl", LINES) == []


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Forgets, "each must be a step"),
        (Repeats, "two steps are named 'always'"),
        (Raises, "it raises ValueError"),
        (Unopened, "steps and no opening"),
        (Changing, "in another way the second time"),
        (Faulty, "a loss that is damage"),
        (Empty, "no line gives a step"),
    ],
)
def test_each_law_that_is_broken_is_said(made: type[Good], says: str) -> None:
    assert any(says in sentence for sentence in broken_laws(adapter(made), "a.jsonl", LINES))


def test_a_file_that_its_reader_does_not_recognise_is_said() -> None:
    assert broken_laws(adapter(Good, sure=0), "a.jsonl", LINES) == ["it does not recognise the file"]
