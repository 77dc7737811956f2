"""Whether a gptme-style ledger holds together, by whichever documented formula its writer used.

Owns the three checks that the format promises and the verdict on a ledger. The format's formulas are _ledger_forms.py.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from tallystick.exports._ledger_forms import (
    BODY_FORMS,
    CHAIN_FORMS,
    BodyForm,
    ChainForm,
    Root,
    Variant,
    bare,
    content_hashes,
    digest,
)
from tallystick.model.step import Json

_DETECTION_RECORDS = 3
_CLOSING = re.compile(r"(?:(?:session|chain|ledger)_(?:end|close|complete)(?:e?d)?|end|closed?|closing(?:_marker)?)\Z")

CANNOT_PROVE = (
    "who wrote it: nothing is signed, and whoever can write the file can make every hash anew",
    "that nothing was cut off its end: a ledger without its last records is a valid prefix",
    "that it is the only one: no head is kept anywhere else",
    "when anything happened: times are the writer's",
    "that step ids are unique, or that all records are of one session",
    "joins: a record has one parent, in its own file",
)
WITHOUT_CONTENT = "what was asked and returned: only hashes are kept, and those of short texts can be guessed"


class Check(enum.StrEnum):
    """The three checks of a record."""

    FIELD = "field"
    ORDER = "order"
    PARENT = "parent"


class BadRecord(msgspec.Struct, frozen=True):
    """The first record that does not hold: its index from 0, the check that it fails, and why."""

    index: int
    check: Check
    why: str


class LedgerVerdict(msgspec.Struct, frozen=True):
    """What a ledger's own hashes say about it.

    `steps` counts records up to the first bad one, a closing marker included. `truncated`: no closing marker, or a torn
    last line; such a ledger is valid. `variant` is None where no documented formula fits, or nothing is there.
    """

    valid: bool
    truncated: bool
    steps: int
    first_bad: BadRecord | None = None
    variant: Variant | None = None
    cannot_prove: tuple[str, ...] = ()


def summary(verdict: LedgerVerdict) -> str:
    """The line `valid | N steps | truncated: BOOL`; for a ledger that does not hold, also where and why."""
    word = "invalid"
    if verdict.valid:
        word = "valid"
    line = f"{word} | {verdict.steps} steps | truncated: {verdict.truncated}"
    bad = verdict.first_bad
    if bad is None:
        return line
    return f"{line} | record {bad.index} ({bad.check.value}): {bad.why}"


def verify_ledger(lines: Iterable[bytes]) -> LedgerVerdict:
    """Check a ledger's lines, with or without their LF. A last line that is no record is torn, unless an LF ends it."""
    items = _items(lines)
    head = list(islice(items, _DETECTION_RECORDS))
    chain = _Chain([item for item in head if isinstance(item, dict)])
    for item in (*head, *items):
        if isinstance(item, _Damage):
            bad = None
            if not item.is_torn:
                bad = BadRecord(chain.count, Check.FIELD, item.why)
            return chain.verdict(bad, torn=item.is_torn)
        problem = chain.problem(item)
        if problem is not None:
            return chain.verdict(problem)
        chain.add(item)
    return chain.verdict(None)


def records_of(lines: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """The records of a ledger's lines, whether their hashes hold or not; lines that are no records are left out."""
    return (item for item in _items(lines) if isinstance(item, dict))


class _Damage(msgspec.Struct, frozen=True):
    """A line that is no record."""

    why: str
    is_torn: bool = False


def _items(lines: Iterable[bytes]) -> Iterator[dict[str, Json] | _Damage]:
    """What each line holds. Damage to the last line is a torn write if the line has no LF."""
    waiting: _Damage | None = None
    for line in lines:
        if not line.strip():
            continue
        if waiting is not None:
            yield waiting
            waiting = None
        item = _record(line)
        if isinstance(item, _Damage) and not line.endswith(b"\n"):
            waiting = item
        else:
            yield item
    if waiting is not None:
        yield _Damage(waiting.why, is_torn=True)


def _record(line: bytes) -> dict[str, Json] | _Damage:
    try:
        record = json.loads(line, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        return _Damage(f"no record: {error}")
    if not isinstance(record, dict):
        return _Damage("no record: the line is no JSON object")
    for key in ("step_id", "self_hash", "context_hash"):
        if not isinstance(record.get(key), str):
            return _Damage(f"no record: {key} is no text")
    return record


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key stands twice, so that readers may see different values")
    return record


class _Chain:
    """Takes records one by one. Keeps the formulas that fit all of them so far: the first records decide.

    Args:
        head: the first records. A formula that fits a later one shows that an earlier one was changed.
    """

    def __init__(self, head: list[dict[str, Json]]) -> None:
        self.count = 0
        self._is_known = any(_fitting(BODY_FORMS, record) for record in head)
        self._bodies: list[BodyForm] = list(BODY_FORMS)
        self._chains: list[ChainForm] = list(CHAIN_FORMS)
        self._next_bodies, self._next_chains = self._bodies, self._chains
        self._root: Root | None = None
        self._previous: str | None = None
        if head:
            self._session = str(head[0].get("session_id"))
        else:
            self._session = ""
        self._seen: set[str] = set()
        self._is_closed = False
        self._has_content = True

    def problem(self, record: dict[str, Json]) -> BadRecord | None:
        """The first check that a record fails, in the order in which the format names them."""
        self._next_bodies, self._next_chains = _fitting(self._bodies, record), self._fitting_chains(record)
        for check, why in (
            (Check.FIELD, self._field_problem(record)),
            (Check.ORDER, self._order_problem()),
            (Check.PARENT, self._parent_problem(record)),
        ):
            if why is not None:
                return BadRecord(self.count, check, why)
        return None

    def add(self, record: dict[str, Json]) -> None:
        """Take the record that problem() just found none with."""
        self._bodies, self._chains = self._next_bodies, self._next_chains
        self._seen.add(bare(record["self_hash"]))
        self._previous = record["context_hash"]
        self._is_closed = _CLOSING.match(str(record.get("step_type"))) is not None
        self._has_content = self._has_content and (self._is_closed or {"input", "output"} <= record.keys())
        parent = record.get("parent_step_hash")
        if self._root is None and not parent:
            if parent == "":
                self._root = Root.EMPTY
            elif "parent_step_hash" in record:
                self._root = Root.NULL
            else:
                self._root = Root.ABSENT
        self.count += 1

    def _field_problem(self, record: dict[str, Json]) -> str | None:
        if not self._is_known:
            return "no documented formula gives its self_hash: changed, or written by another formula"
        if not self._next_bodies:
            return "its self_hash is not that of its fields: one was changed"
        for member in ("input", "output"):
            stored = record.get(f"{member}_hash")
            if member in record and isinstance(stored, str) and bare(stored) not in content_hashes(record[member]):
                return f"its {member} is not that of its {member}_hash"
        return None

    def _order_problem(self) -> str | None:
        if self._next_chains:
            return None
        if self.count:
            return "its context_hash does not follow from the record before it: one was inserted, removed or moved"
        return "its context_hash starts from no documented value: records before it are missing, or it was changed"

    def _parent_problem(self, record: dict[str, Json]) -> str | None:
        parent = record.get("parent_step_hash")
        if not parent or (isinstance(parent, str) and bare(parent) in self._seen):
            return None
        return "its parent_step_hash is that of no step before it"

    def _fitting_chains(self, record: dict[str, Json]) -> list[ChainForm]:
        stored = bare(record["context_hash"])
        return [form for form in self._chains if self._context(form, record) == stored]

    def _context(self, form: ChainForm, record: dict[str, Json]) -> str | None:
        try:
            return form.context(self._previous, record["self_hash"], self._session)
        except ValueError:
            return None

    def verdict(self, bad: BadRecord | None, *, torn: bool = False) -> LedgerVerdict:
        """What the records so far say."""
        holds = bad is None
        known = self.count > 0
        cannot_prove: tuple[str, ...] = CANNOT_PROVE
        variant = None
        if not known or not self._has_content:
            cannot_prove = (*CANNOT_PROVE, WITHOUT_CONTENT)
        if known:
            variant = Variant(self._bodies[0], self._chains[0], self._root or Root.NULL)
        return LedgerVerdict(
            valid=holds,
            truncated=torn or not self._is_closed,
            steps=self.count,
            first_bad=bad,
            variant=variant,
            cannot_prove=cannot_prove,
        )


def _fitting(forms: Iterable[BodyForm], record: dict[str, Json]) -> list[BodyForm]:
    """The forms that give a record's self_hash. Forms often agree on a record: each text is hashed once."""
    stored = bare(record["self_hash"])
    known: dict[bytes, bool] = {}
    fitting: list[BodyForm] = []
    for form in forms:
        text = form.text(record)
        if text not in known:
            known[text] = digest(text) == stored
        if known[text]:
            fitting.append(form)
    return fitting
