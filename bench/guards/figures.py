"""The comparison as it is kept, and the tables that pages show of it. Must not know how a guard was asked."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from bench.guards.cases import Compared
from bench.guards.programs import guards
from tallystick.model.decision import Effect

_MARKS = {Effect.ALLOW: ".", Effect.WARN: ".", Effect.ASK: "a", Effect.DENY: "d"}
_STOPPED = ("a", "d")


class Line(msgspec.Struct, frozen=True):
    """An attack, or one call of a piece of work, and what is called in it."""

    id: str
    class_: str = msgspec.field(name="class")
    is_attack: bool
    call: str


class Measured(msgspec.Struct, frozen=True):
    """What one guard answered: a mark for each line, `d` for a denial, `a` for a question."""

    name: str
    version: str
    answers: str
    median_ms: float | None = None
    """The time of an answer; None where it was not taken."""


class Comparison(msgspec.Struct, frozen=True):
    """All guards on the same cases."""

    cases: str
    """SHA-256 of the cases."""
    every: int
    """Of the older sets, each how manyth case is among them."""
    lines: tuple[Line, ...]
    guards: tuple[Measured, ...]


def measured(name: str, version: str, found: Iterable[Compared]) -> Measured:
    """The answers of one guard, in short."""
    return Measured(name, version, "".join(_MARKS[one.effect] for one in found))


def timed(kept: Comparison, took: Mapping[str, Sequence[float]]) -> Comparison:
    """The same with the medians of some times, by the names of guards."""
    found = (
        msgspec.structs.replace(one, median_ms=round(statistics.median(took[one.name]), 1)) if one.name in took else one
        for one in kept.guards
    )
    return msgspec.structs.replace(kept, guards=tuple(found))


def with_(kept: Comparison | None, made: Comparison) -> Comparison:
    """What was measured now, beside what was measured before on the same cases."""
    if kept is None or kept.cases != made.cases:
        return made
    found = {one.name: one for one in (*kept.guards, *made.guards)}
    in_order = [guard.name for guard in guards()]
    return msgspec.structs.replace(made, guards=tuple(sorted(found.values(), key=lambda one: in_order.index(one.name))))


# Tables --------------------------------------------------------------------------------------------------------------


def table(compared: Comparison) -> Iterator[str]:
    """How many lines each guard stopped, as lines of Markdown: a row a class of attacks, work, and the time of an answer."""
    shown = compared.guards
    yield _row("attacks of the class", "cases", *(f"{one.name} {one.version}".strip() for one in shown))
    yield "|" + "---|" * (len(shown) + 2)
    classes = Counter(line.class_ for line in compared.lines if line.is_attack)
    stopped = [_stopped(compared.lines, one) for one in shown]
    for name, count in sorted(classes.items()):
        yield _row(name, count, *(one[True][name] for one in stopped))
    yield _row("**all attacks**", classes.total(), *(one[True].total() for one in stopped))
    work = sum(not line.is_attack for line in compared.lines)
    yield _row("**everyday calls stopped**", work, *(one[False].total() for one in stopped))
    yield _row("median time of an answer, ms", "", *(one.median_ms for one in shown))


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _stopped(lines: Iterable[Line], guard: Measured) -> Mapping[bool, Counter[str]]:
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for line, mark in zip(lines, guard.answers, strict=True):
        if mark in _STOPPED:
            found[line.is_attack][line.class_] += 1
    return found


def behind(compared: Comparison) -> Iterator[tuple[str, str, int, int]]:
    """Where another guard stopped more attacks of a class than the first: class, guard, its count, the first's count."""
    counts = [_stopped(compared.lines, one)[True] for one in compared.guards]
    for name in sorted({line.class_ for line in compared.lines if line.is_attack}):
        for guard, count in zip(compared.guards[1:], counts[1:], strict=True):
            if count[name] > counts[0][name]:
                yield name, guard.name, count[name], counts[0][name]


def stopped_elsewhere(compared: Comparison) -> Iterator[tuple[Line, list[str]]]:
    """The attacks that the first guard lets through and others stop, with those."""
    ours, *others = compared.guards
    for number, line in enumerate(compared.lines):
        if not line.is_attack or ours.answers[number] in _STOPPED:
            continue
        names = [one.name for one in others if one.answers[number] in _STOPPED]
        if names:
            yield line, names


def work_stopped(compared: Comparison) -> Iterator[tuple[Line, str]]:
    """The everyday calls that the first guard stops, with its mark."""
    for line, mark in zip(compared.lines, compared.guards[0].answers, strict=True):
        if not line.is_attack and mark in _STOPPED:
            yield line, mark
