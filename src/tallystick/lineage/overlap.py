"""Which lines of what a call wrote are in a text that the model had been shown.

Owns which lines a call brought in, and when lines that two texts share are hardly chance. Must not know where the texts
come from. Every step is linear in the text, which is hostile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tallystick.lineage.quoting import flat, weight_of
from tallystick.model.pattern import pattern_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_MOST_LINES = 2_000
_MOST_CHARACTERS = 256 << 10
_MOST_VALUES = 10_000
_MOST_WEIGHED = 40
_SHORTEST = 12
_ENOUGH = 5
"""So much weight of words in the lines that two texts share is hardly chance."""

_NUMBER = pattern_of(r"\s{0,12}\d{1,7}[\t|:\u2192-] ?")
"""What stands before a line where a tool numbers them."""
_PATCH = ("*** Begin Patch", "@@ ", "diff --git ", "--- ")


def brought_in(step: Recorded) -> frozenset[str]:
    """The lines that a call's arguments brought in: of a change those that it did not take away as well."""
    new, old = set[str](), set[str]()
    for name, text in _texts(step.values.get("content.args")):
        lines = text[:_MOST_CHARACTERS].split("\n", _MOST_LINES)[:_MOST_LINES]
        if name.startswith("old"):
            old.update(line.strip() for line in lines)
        elif any(mark in text for mark in _PATCH):
            new.update(line[1:].strip() for line in lines if line.startswith("+"))
            old.update(line[1:].strip() for line in lines if line.startswith("-"))
        else:
            new.update(line.strip() for line in lines)
    return frozenset(line for line in new - old if len(line) >= _SHORTEST)


def _texts(args: Json) -> Iterator[tuple[str, str]]:
    """Every text among a call's arguments, with the name of its member in lower case."""
    waiting: list[tuple[str, Json]] = [("", args)]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, list):
            waiting += [(name, inner) for inner in value[:_MOST_VALUES]]
        elif isinstance(value, dict):
            waiting += [(str(key).lower(), inner) for key, inner in value.items()]


def lines_in(text: str) -> Mapping[str, None]:
    """The lines of a text that was shown, in its order, without the numbers that a tool puts before them."""
    return dict.fromkeys(map(_bare, text[:_MOST_CHARACTERS].split("\n", _MOST_LINES)[:_MOST_LINES]))


def hardly_chance(lines: Sequence[str]) -> bool:
    """Whether it is hardly chance that two texts share some lines: their words have some weight together."""
    words = {word for line in lines[:_MOST_WEIGHED] for word in flat(line).split()}
    return sum(weight_of(word.strip(".,;:!?()[]{}<>")) for word in words) >= _ENOUGH


def _bare(line: str) -> str:
    """A line without its number and the space around it."""
    number = _NUMBER.match(line)
    if number is not None:
        line = line[number.end() :]
    return line.strip()
