"""The chain of alerts: its formulas against vectors that other code made, and every way to tamper with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.seal.alert_chain import (
    ANCHOR,
    CHECKPOINT_ANCHOR,
    CHECKPOINT_CHANGED,
    EMPTY,
    GENESIS,
    MODIFIED,
    UNCHAINED,
    UNLINKED,
    Anchor,
    Break,
    Checkpoint,
    Finding,
    Link,
    Row,
    Sealed,
    chain_order,
    checkpoint_hash,
    entry_hash,
    pruned_hash,
    retention_root,
    walk,
)
from tests.support.cases import each

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "alerts" / "chain.json").read_text("utf-8"))

texts = st.text(max_size=40)
numbers = st.integers(-(1 << 63), (1 << 63) - 1)
findings = st.builds(
    Finding,
    request_id=st.none() | numbers,
    entity_kind=st.none() | texts,
    entity_id=st.none() | numbers,
    severity=texts,
    action=texts,
    rule_id=texts,
    message=texts,
    path=st.none() | texts,
    evidence=st.none() | texts,
    created_at=numbers,
)


def finding(message: str = "m", **more: int | str | None) -> Finding:
    return replace(Finding(severity="low", action="warn", rule_id="r", message=message, created_at=1), **more)


def chain(findings: Sequence[Finding], *, root: str = GENESIS) -> tuple[list[Row], Anchor]:
    rows, head = [], root
    for number, item in enumerate(findings, start=1):
        digest = entry_hash(head, item)
        rows.append(Row(number, item, head, digest))
        head = digest
    return rows, Anchor(head, len(rows))


def sealed(findings: Sequence[Finding]) -> list[Sealed]:
    rows, _ = chain(findings)
    return [
        Sealed(
            order=(f"2026-01-02T03:04:{row.alert_id:02}", "s", row.alert_id),
            prev_hash=str(row.prev_hash),
            entry_hash=str(row.entry_hash),
            finding=row.finding,
        )
        for row in rows
    ]


ROWS, HEAD = chain([finding(f"alert {n}") for n in range(4)])


# Formulas -------------------------------------------------------------------------------------------------------------


@each("vector", VECTORS["alerts"], ids=lambda vector: vector["name"])
def test_an_entry_hash_is_that_of_the_bytes_that_the_vector_spells_out(vector: dict[str, object]) -> None:
    members = vector["finding"]
    assert isinstance(members, dict)
    assert entry_hash(str(vector["prev_hash"]), Finding(**members)) == vector["entry_hash"]
    assert sha256(bytes.fromhex(str(vector["hashed"]))).hexdigest() == vector["entry_hash"]


def test_a_checkpoint_hash_is_that_of_the_bytes_that_the_vector_spells_out() -> None:
    vector = VECTORS["checkpoint"]
    checkpoint = Checkpoint(**vector["row"])
    assert checkpoint_hash(checkpoint) == checkpoint.checkpoint_hash
    assert sha256(bytes.fromhex(vector["hashed"])).hexdigest() == checkpoint.checkpoint_hash
    assert pruned_hash([(number, digest) for number, digest in vector["pruned"]]) == checkpoint.pruned_entries_hash


@given(findings, st.sampled_from(Finding.__struct_fields__), st.data())
def test_no_member_can_change_without_changing_the_hash(one: Finding, member: str, data: st.DataObject) -> None:
    value = getattr(data.draw(findings), member)
    same = value == getattr(one, member)
    assert (entry_hash(GENESIS, replace(one, **{member: value})) == entry_hash(GENESIS, one)) == same


def test_what_is_missing_and_what_is_empty_have_different_hashes() -> None:
    assert entry_hash(GENESIS, finding(path=None)) != entry_hash(GENESIS, finding(path=""))


@each("spoilt", [{"message": None}, {"severity": 3}, {"created_at": "now"}, {"created_at": 1 << 63}])
def test_a_member_of_another_type_has_no_hash(spoilt: dict[str, int | str | None]) -> None:
    with pytest.raises(ValueError, match="this is no"):
        entry_hash(GENESIS, replace(finding(), **spoilt))


# Walking --------------------------------------------------------------------------------------------------------------


@given(st.lists(findings, max_size=6))
def test_a_chain_that_nobody_touched_is_intact(made: list[Finding]) -> None:
    rows, anchor = chain(made)
    found = walk(rows, anchor=anchor if rows else None)
    assert (found.chained, found.legacy, found.broken, found.head) == (len(rows), 0, None, anchor.head_hash)


def edited(rows: list[Row]) -> None:
    rows[1] = replace(rows[1], finding=finding("alert 1, and nothing else"))


def inserted(rows: list[Row]) -> None:
    rows.insert(2, chain([finding("made up")], root=str(rows[1].entry_hash))[0][0])
    rows[2] = replace(rows[2], alert_id=99)


def unchained(rows: list[Row]) -> None:
    rows.insert(2, Row(99, finding("quiet"), None, None))


def middle_deleted(rows: list[Row]) -> None:
    del rows[1]


def reordered(rows: list[Row]) -> None:
    rows[1], rows[2] = replace(rows[2], alert_id=2), replace(rows[1], alert_id=3)


def first_deleted(rows: list[Row]) -> None:
    del rows[0]


def tail_deleted(rows: list[Row]) -> None:
    rows.pop()


def everything_deleted(rows: list[Row]) -> None:
    rows.clear()


def hashes_nulled(rows: list[Row]) -> None:
    rows[:] = [replace(row, prev_hash=None, entry_hash=None) for row in rows]


def type_changed(rows: list[Row]) -> None:
    rows[3] = replace(rows[3], finding=replace(rows[3].finding, created_at="soon"))


@each(
    "tamper, expected",
    [
        (edited, Break(2, MODIFIED)),
        (inserted, Break(3, UNLINKED)),
        (unchained, Break(99, UNCHAINED)),
        (middle_deleted, Break(3, UNLINKED)),
        (reordered, Break(2, UNLINKED)),
        (first_deleted, Break(2, UNLINKED)),
        (tail_deleted, Break(None, ANCHOR)),
        (everything_deleted, Break(None, EMPTY)),
        (hashes_nulled, Break(None, EMPTY)),
        (type_changed, Break(4, MODIFIED)),
    ],
)
def test_tampering_is_found_where_it_is(tamper: Callable[[list[Row]], None], expected: Break) -> None:
    rows = list(ROWS)
    tamper(rows)
    assert walk(rows, anchor=HEAD).broken == expected


@each("anchor", [Anchor(HEAD.head_hash, 3), Anchor(GENESIS, 4), Anchor(None, None)])
def test_an_anchor_that_says_something_else_is_a_break_at_the_tail(anchor: Anchor) -> None:
    assert walk(ROWS, anchor=anchor).broken == Break(None, ANCHOR)


def test_without_an_anchor_the_tail_is_not_judged() -> None:
    assert walk(ROWS[:-1], anchor=None).broken is None


def test_rows_from_before_the_chain_are_counted_and_not_judged() -> None:
    before = [Row(-2, finding("old"), None, None), Row(-1, finding("older"), None, None)]
    found = walk([*before, *ROWS], anchor=HEAD)
    assert (found.legacy, found.chained, found.broken) == (2, 4, None)


def test_a_row_whose_words_were_erased_keeps_its_hash_and_its_place() -> None:
    rows = [replace(row, finding=finding("")) if row.alert_id == 2 else row for row in ROWS]
    assert walk(rows, anchor=HEAD).broken == Break(2, MODIFIED)
    assert walk(rows, anchor=HEAD, erased={str(ROWS[1].entry_hash)}).broken is None
    moved = [rows[1], rows[0], *rows[2:]]
    assert walk(moved, anchor=HEAD, erased={str(ROWS[1].entry_hash)}).broken == Break(2, UNLINKED)


# Retention ------------------------------------------------------------------------------------------------------------


def checkpoints(count: int) -> list[Checkpoint]:
    made: list[Checkpoint] = []
    for number in range(count):
        row = replace(
            Checkpoint(**VECTORS["checkpoint"]["row"]),
            prev_checkpoint_hash=made[-1].checkpoint_hash if made else GENESIS,
            cutoff_ms=number,
        )
        made.append(replace(row, checkpoint_hash=checkpoint_hash(row)))
    return made


@each("count", [0, 1, 3])
def test_the_last_checkpoint_is_the_root_of_what_was_kept(count: int) -> None:
    made = checkpoints(count)
    root = made[-1].checkpoint_hash if made else GENESIS
    assert retention_root(made, Anchor(root, count) if made else None) == (root, None)
    rows, anchor = chain([finding("kept")], root=str(root))
    assert walk(rows, root=str(root), anchor=anchor).broken is None


def test_a_checkpoint_that_was_changed_or_moved_is_found() -> None:
    made = checkpoints(3)
    anchor = Anchor(made[-1].checkpoint_hash, 3)
    for changed in ([made[1], made[0], made[2]], [made[0], made[2]], [replace(made[0], pruned_count=0), *made[1:]]):
        assert retention_root(changed, anchor)[1] == CHECKPOINT_CHANGED
    assert retention_root([replace(made[0], created_at="x")], anchor)[1] == CHECKPOINT_CHANGED


def test_checkpoints_that_do_not_fit_their_anchor_are_found() -> None:
    made = checkpoints(2)
    for anchor in (None, Anchor(made[-1].checkpoint_hash, 1), Anchor(GENESIS, 2)):
        assert retention_root(made, anchor)[1] == CHECKPOINT_ANCHOR
    assert retention_root([], Anchor(GENESIS, 1))[1] == CHECKPOINT_ANCHOR


def test_a_root_with_nothing_after_it_needs_an_anchor() -> None:
    root = str(checkpoints(1)[0].checkpoint_hash)
    assert walk([], root=root).broken == Break(None, EMPTY)
    assert walk([], root=root, anchor=Anchor(root, 0)).broken is None


# Order ----------------------------------------------------------------------------------------------------------------


@given(st.lists(findings, max_size=8), st.randoms(use_true_random=False))
def test_sealed_alerts_come_in_the_order_of_their_links_whatever_the_order_they_are_found_in(
    made: list[Finding], random: object
) -> None:
    alerts = sealed(made)
    mixed = list(alerts)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    links = list(chain_order(mixed))
    assert [link.sealed for link in links] == alerts
    assert all(link.is_as_sealed for link in links)


@given(st.lists(findings, min_size=1, max_size=8), st.data())
def test_taking_them_in_two_parts_gives_the_same_chain(made: list[Finding], data: st.DataObject) -> None:
    alerts = sealed(made)
    cut = data.draw(st.integers(0, len(alerts)))
    first = list(chain_order(alerts[:cut]))
    rest = chain_order(alerts[cut:], head=first[-1].entry_hash if first else GENESIS)
    assert [*first, *rest] == list(chain_order(alerts))


@given(st.lists(findings, min_size=2, max_size=6), st.data())
def test_whatever_is_sealed_every_alert_gets_a_place_and_the_chain_holds(
    made: list[Finding], data: st.DataObject
) -> None:
    alerts = sealed(made)
    forked = data.draw(st.integers(0, len(alerts) - 1))
    alerts[forked] = replace(alerts[forked], prev_hash=data.draw(st.sampled_from([GENESIS, "ff" * 32, ""])))
    links = list(chain_order(alerts))
    assert sorted(link.sealed.order for link in links) == [alert.order for alert in alerts]
    assert walk(rows_of(links)).broken is None


def rows_of(links: Sequence[Link]) -> list[Row]:
    return [Row(n, link.sealed.finding, link.prev_hash, link.entry_hash) for n, link in enumerate(links)]


def test_of_two_alerts_after_the_same_one_the_first_recorded_keeps_its_hashes() -> None:
    one, two, three = sealed([finding("1"), finding("2"), finding("3")])
    rival = replace(two, order=(two.order[0] + ".5", "t", 9), finding=finding("rival"))
    links = list(chain_order([rival, three, two, one]))
    assert [link.sealed.finding.message for link in links] == ["1", "2", "3", "rival"]
    assert [link.is_as_sealed for link in links] == [True, True, True, False]


def test_an_erased_alert_keeps_its_sealed_hash_so_that_the_next_one_still_follows_it() -> None:
    one, two, three = sealed([finding("1"), finding("2"), finding("3")])
    links = list(chain_order([one, replace(two, finding=finding(""), is_erased=True), three]))
    assert all(link.is_as_sealed for link in links)
