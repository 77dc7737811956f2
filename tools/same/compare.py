"""Two streams of facts, held against each other.

Owns what a difference is, which differences are intended (`expected.toml`), and how they are shown. Must not know what the
facts are about.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).with_name("expected.toml")
_ABSENT = "(absent)"
_WIDEST = 400
_WORDS_OF_KIND = {"journal": 2, "ledger": 2, "graph": 3, "command": 4, "import": 2, "decision": 2, "judged": 2}
"""How many words of a key say of what kind a fact is: of a row, the store and the table."""


@dataclass(frozen=True)
class Difference:
    """One value that is not the same: which fact, where in it, and what the reference and this tree have there."""

    key: str
    path: str
    before: Any
    after: Any

    @property
    def place(self) -> str:
        """Where, as one text: what the patterns of `expected.toml` are matched with."""
        return f"{self.key} @ {self.path}" if self.path else self.key


@dataclass(frozen=True)
class Expected:
    """Differences that are intended: a pattern of their places, why, and the decision that says more."""

    pattern: re.Pattern[str]
    reason: str
    decision: str


@dataclass
class Outcome:
    """What came of a comparison."""

    facts: int = 0
    first: Difference | None = None
    unlisted: Counter[str] = field(default_factory=Counter)
    """Kind of fact → how many differences are not listed."""
    listed: Counter[str] = field(default_factory=Counter)
    """Reason → how many."""
    examples: dict[str, list[Difference]] = field(default_factory=dict)
    """Kind of fact → its first differences."""


def read_expected(path: Path = EXPECTED) -> list[Expected]:
    """The intended differences."""
    rows = tomllib.loads(path.read_text("utf-8")).get("expected", [])
    return [Expected(re.compile(row["place"]), row["reason"], row["decision"]) for row in rows]


def compare(
    before: Iterable[tuple[str, Any]], after: Iterable[tuple[str, Any]], expected: Sequence[Expected] = ()
) -> Outcome:
    """Hold two streams against each other."""
    outcome = Outcome()
    for difference in _differences(before, after, outcome):
        reason = next(
            (f"{one.reason} ({one.decision})" for one in expected if one.pattern.search(difference.place)), ""
        )
        if reason:
            outcome.listed[reason] += 1
            continue
        kind = _kind(difference)
        outcome.unlisted[kind] += 1
        outcome.first = outcome.first or difference
        examples = outcome.examples.setdefault(kind, [])
        if len(examples) < 3:
            examples.append(difference)
    return outcome


def _kind(difference: Difference) -> str:
    """Facts of a kind are counted together: the words of the key that do not number or name a single one."""
    words = difference.key.split()
    member = re.sub(r"\[\d+\]", "[]", difference.path)
    shown = " ".join(words[: _WORDS_OF_KIND.get(words[0], 1)])
    return f"{shown} @ {member}" if member else shown


def _differences(
    before: Iterable[tuple[str, Any]], after: Iterable[tuple[str, Any]], outcome: Outcome
) -> Iterator[Difference]:
    """In the order of the reference, then what only this tree has."""
    present = dict(after)
    for key, value in before:
        outcome.facts += 1
        if key not in present:
            yield Difference(key, "", value, _ABSENT)
        elif present[key] == value:
            del present[key]
        else:
            yield from _inside(key, "", value, present.pop(key))
    for key, value in present.items():
        outcome.facts += 1
        yield Difference(key, "", _ABSENT, value)


def _inside(key: str, path: str, before: Any, after: Any) -> Iterator[Difference]:
    """Where two values differ. Of lists of different lengths, from the first item on that is not the same."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            one, other = before.get(name, _ABSENT), after.get(name, _ABSENT)
            if one != other:
                yield from _inside(key, f"{path}.{name}".lstrip("."), one, other)
    elif isinstance(before, list) and isinstance(after, list):
        for number, (one, other) in enumerate(zip(before, after, strict=False)):
            if one != other:
                yield from _inside(key, f"{path}[{number}]", one, other)
                if len(before) != len(after):
                    return
        if len(before) != len(after):
            yield Difference(key, f"{path}.length", len(before), len(after))
    else:
        yield Difference(key, path, before, after)


def report(outcome: Outcome, *, most: int = 12) -> Iterator[str]:
    """What was found, as lines: intended differences by reason, then the first that is not, then all kinds."""
    for reason, count in outcome.listed.most_common():
        yield f"  listed: {count:,} × {reason}"
    if outcome.first is None:
        return
    yield "  first difference:"
    yield from _shown(outcome.first)
    yield f"  {sum(outcome.unlisted.values()):,} differences, by kind:"
    for kind, count in outcome.unlisted.most_common(most):
        yield f"    {count:>7,} × {kind}"
    if len(outcome.unlisted) > most:
        yield f"    … and {len(outcome.unlisted) - most} more kinds (ALL=1 shows them)"


def _shown(difference: Difference) -> Iterator[str]:
    yield f"    what:   {difference.key}"
    yield f"    where:  {difference.path or 'the whole of it'}"
    yield f"    before: {_short(difference.before)}"
    yield f"    after:  {_short(difference.after)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}… ({len(text):,} characters)"


def examples(outcome: Outcome) -> Iterator[str]:
    """The first differences of each kind."""
    for kind, found in outcome.examples.items():
        yield f"  {outcome.unlisted[kind]:,} × {kind}"
        for difference in found:
            yield from _shown(difference)
