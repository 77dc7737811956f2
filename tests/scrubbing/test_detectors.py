"""Each detector on the text that is the worst for it: its work grows with the text and no faster.

The detectors are those that the code has, so that none can be left out here.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import pytest

from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import _Literal, may_hold_secrets, scrub_bytes
from tallystick.scrubbing.finding import _literals as literals_looked_for
from tests.support.cases import each

FLAGS = ("names", "embedded", "digits", "program", "call", "spelling")
ENDS = (
    "",
    " ",
    "=",
    ": ",
    '="',
    "\n",
    '"',
    "\\",
    "(",
    "A1b2c3d4",
    "Zx9!kq7Wm ",
    ":Zx9!kq7Wm@h ",
    "://",
    "@",
    "\n" + "a" * 70,
)
"""What stands after the literal each time: signs, and values that have to be judged."""


def detectors() -> dict[str, list[str]]:
    """The literals of each detector: of a form, of a place or a format, of a program, of one of the other sorts."""
    found: dict[str, list[str]] = {}
    for literal in literals_looked_for():
        for name in _detectors_at(literal):
            found.setdefault(name, []).append(literal.text)
    return found


def _detectors_at(literal: _Literal) -> Iterator[str]:
    yield from (f"form {shape.kind}" for shape in literal.shapes)
    yield from (f"place {getattr(find, '__qualname__', find)}" for find in literal.places)
    for flag in FLAGS:
        if getattr(literal, flag):
            yield f"{flag} {literal.text if flag in ('program', 'call') else ''}"


def test_every_literal_belongs_to_a_detector_that_is_fed() -> None:
    assert all(literal.is_sure or list(_detectors_at(literal)) for literal in literals_looked_for())
    assert {*vars(_Literal("x"))} == {"text", "shapes", "places", "is_sure", *FLAGS}


def floods(chance: random.Random) -> Iterator[tuple[str, str]]:
    """What is repeated for each detector: one of its literals, with one of the ends."""
    for name, literals in detectors().items():
        yield name, chance.choice(literals) + chance.choice(ENDS)


def work(data: bytes) -> int:
    counts = Counts()
    scrub_bytes(data, counts)
    return counts.budget.spent


def repeated(unit: str, size: int) -> bytes:
    return (unit * (size // len(unit.encode()))).encode()


def numbered(unit: str, size: int) -> bytes:
    """The unit again and again, with another number behind it each time, so that no two are alike."""
    return "".join(f"{unit}{number * 7919 % 10_000}" for number in range(size // (len(unit.encode()) + 4))).encode()


@each("seed", [15])
def test_the_work_of_each_detector_on_a_repeated_text_does_not_grow_with_it(seed: int) -> None:
    """Ten and a hundred times the text take no more work, but for where the repetition is noticed first."""
    for name, unit in floods(random.Random(seed)):
        small, middle, large = (work(repeated(unit, size)) for size in (10_000, 100_000, 1_000_000))
        assert max(middle, large) <= 1.2 * small + 100, (name, unit)
        assert large < 5000, (name, unit)


@each("seed", [16])
def test_the_work_of_each_detector_grows_no_faster_than_its_text(seed: int) -> None:
    for name, unit in floods(random.Random(seed)):
        least, most = (work(numbered(unit, size)) for size in (500, 2000))
        assert most <= 5 * least + 50, (name, unit)


def _seconds(run: Callable[[bytes], object], data: bytes) -> float:
    began = time.process_time()
    run(data)
    return time.process_time() - began


def _scrub(data: bytes) -> bytes:
    return scrub_bytes(data, Counts())


@pytest.mark.soak
@each("run", [_scrub, may_hold_secrets])
def test_no_detector_takes_more_time_than_its_text_is_long(run: Callable[[bytes], object]) -> None:
    """The time, which no count can vouch for: a generous bound, for machines differ."""
    for name, unit in floods(random.Random(17)):
        small, large = (min(_seconds(run, numbered(unit, size)) for _ in range(2)) for size in (4_000, 32_000))
        assert large < 24 * small + 0.1, (name, unit)
        small, large = (min(_seconds(run, repeated(unit, size)) for _ in range(2)) for size in (100_000, 1_000_000))
        assert large < 30 * small + 0.1, (name, unit)
