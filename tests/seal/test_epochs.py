"""Rows of epochs: what follows from what. The vectors `epoch*` have the same for both verifiers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.seal.epochs import Epoch, LiveEpoch, Row, end_epoch, epoch_of, later, why_not_forward
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.merkle import EMPTY_ROOT, merkle_root
from tests.support.cases import each
from tools.vectors.maker import STORE, moment

KEYS = [SigningKey(bytes([n]) * 32) for n in range(1, 8)]
LEAVES = [n.to_bytes(32, "big") for n in range(9)]
HOUR = 3_600


def ended(number: int, size: int, *, by: SigningKey | None = None, **said: Any) -> Epoch:
    end = Epoch(
        epoch=number,
        size=size,
        root=(merkle_root(LEAVES[:size]) if size else EMPTY_ROOT).hex(),
        key=did_key(KEYS[number].public),
        began=moment(HOUR * (number - 1)),
        ended=moment(HOUR * number),
        seconds=HOUR,
        signature="",
    )
    return end_epoch(msgspec.structs.replace(end, **said), STORE, by or KEYS[number - 1])


def taken(row: Row, *ends: Epoch, n: int = 9) -> Row:
    for end in ends:
        row.take(end, store_id=STORE, leaves=b"".join(LEAVES[:n]), named=[KEYS[0].public])
    return row


def test_keys_follow_from_the_pinned_one() -> None:
    row = taken(Row(KEYS[0].public), ended(1, 3), ended(2, 3), ended(3, 7))
    assert row.counting(10) == tuple(key.public for key in KEYS[:4])
    assert row.counting(9) == (KEYS[0].public,)
    assert row.follows


def test_keys_follow_from_a_later_one_too_and_from_no_other() -> None:
    ends = [ended(1, 3), ended(2, 4), ended(3, 7)]
    assert taken(Row(KEYS[2].public), *ends).counting(10) == (KEYS[2].public, KEYS[3].public)
    stranger = taken(Row(KEYS[6].public), *ends)
    assert (stranger.counting(10), stranger.follows) == ((KEYS[6].public,), False)


@each(
    "end, rule",
    [
        (ended(3, 7, by=KEYS[1]), "signature"),
        (ended(2, 7, by=KEYS[0]), "signature"),
        (ended(2, 7, by=KEYS[6]), "signature"),
        (msgspec.structs.replace(ended(2, 7), ended=moment(HOUR * 2 + 1)), "signature"),
        (ended(2, 7, began=moment(1)), "signature"),
        (ended(2, 7, ended=moment(1)), "signature"),
        (ended(2, 7, root="00" * 32), "head"),
        (ended(2, 2), "head"),
        (ended(1, 7, by=KEYS[5]), "signature"),
    ],
)
def test_what_does_not_follow_is_refused_and_nothing_after_it_counts(end: Epoch, rule: str) -> None:
    row = taken(Row(KEYS[0].public), ended(1, 3))
    with pytest.raises(FormatError) as refused:
        taken(row, end)
    assert refused.value.rule == rule
    taken(row, ended(3, 8))
    assert row.counting(10) == (KEYS[0].public, KEYS[1].public)


def test_an_end_over_entries_that_come_after_it_is_refused() -> None:
    with pytest.raises(FormatError, match="could be"):
        taken(Row(None), ended(1, 5), n=4)


OTHER_PASTS: list[dict[str, Any]] = [
    {"size": 1, "root": merkle_root(LEAVES[:1]).hex()},
    {"root": "11" * 32},
    {"key": did_key(KEYS[6].public)},
]


@given(at=st.integers(1, 3), later_by=st.integers(0, 3), said=st.sampled_from(OTHER_PASTS))
def test_whoever_has_a_later_key_cannot_change_what_an_earlier_one_said(
    at: int, later_by: int, said: dict[str, Any]
) -> None:
    ends = [ended(1, 3), ended(2, 5), ended(3, 7), ended(4, 8)]
    changed = msgspec.structs.replace(ends[at - 1], **said)
    ends[at - 1] = end_epoch(changed, STORE, KEYS[at + later_by])
    with pytest.raises(FormatError):
        taken(Row(KEYS[0].public), *ends)


def test_an_end_of_nothing_takes_nothing_back() -> None:
    row = taken(Row(KEYS[0].public), ended(1, 3), ended(1, 0, by=KEYS[0]))
    with pytest.raises(FormatError, match="could be"):
        taken(row, ended(2, 2))


def test_a_new_signer_begins_a_new_row_with_a_key_that_the_ledger_names() -> None:
    row = taken(Row(KEYS[0].public), ended(1, 3), ended(2, 4))
    again = ended(1, 6, by=KEYS[0])
    assert taken(row, again).last == again


def test_an_end_that_a_key_add_does_not_say_whole_is_none() -> None:
    meta = {"type": "key_add", "recorded": moment(0), **msgspec.to_builtins(ended(1, 3))}
    assert epoch_of(meta) == ended(1, 3)
    for member in msgspec.to_builtins(ended(1, 3)):
        assert epoch_of({name: value for name, value in meta.items() if name != member}) is None
    for changed in ({"epoch": 0}, {"epoch": True}, {"seconds": 0}, {"size": -1}, {"root": "AB" * 32}, {"key": "x"}):
        assert epoch_of({**meta, **changed}) is None
    for changed in ({"began": "now"}, {"ended": "2026-01-01"}, {"signature": "00"}, {"type": "key_retire"}):
        assert epoch_of({**meta, **changed}) is None


def test_epochs_that_last_too_long_are_remembered_and_break_nothing() -> None:
    slow = ended(2, 4, ended=moment(HOUR * 9))
    row = taken(Row(KEYS[0].public), ended(1, 3), slow)
    assert row.long == [slow]
    assert row.follows


def test_a_time_that_is_none_is_over_at_once() -> None:
    assert later("2026-02-31T00:00:00.000000Z", 5) == "2026-02-31T00:00:00.000000Z"
    assert later("9999-12-31T23:59:59.000000Z", 5) == "9999-12-31T23:59:59.000000Z"
    assert later("2026-02-28T23:59:59.000000Z", 2) == "2026-03-01T00:00:01.000000Z"


# What it gives -----------------------------------------------------------------------------------------------------------


def live(**changed: Any) -> LiveEpoch:
    own = {"key": KEYS[2].public, "at": moment(HOUR * 3), "is_noted": True}
    return LiveEpoch(**{**own, **changed})


def whole() -> Row:
    return taken(Row(KEYS[0].public), ended(1, 3), ended(2, 4))


def test_a_whole_row_up_to_the_live_key_guards_the_past() -> None:
    assert why_not_forward(whole(), live(), is_pinned=True) is None


@each(
    "row, said, is_pinned, why",
    [
        (Row(KEYS[0].public), live(), True, "no epoch has ended"),
        (whole(), None, True, "does not have the key"),
        (whole(), live(key=KEYS[1].public), True, "does not have the key"),
        (whole(), live(at=moment(HOUR * 3 + 61)), True, "epoch 3 was to end by"),
        (whole(), live(is_noted=False), True, "from outside this machine"),
        (whole(), live(), False, "from outside this machine"),
        (taken(Row(KEYS[6].public), ended(1, 3), ended(2, 4)), live(), True, "no epoch follows"),
    ],
)
def test_it_says_what_is_missing(row: Row, said: LiveEpoch | None, is_pinned: bool, why: str) -> None:
    assert why in (why_not_forward(row, said, is_pinned=is_pinned) or "")


def test_an_end_that_the_ledger_got_meanwhile_is_not_taken_twice() -> None:
    ends = (ended(1, 3), ended(2, 4))
    assert live(ends=ends).after(ends[0]) == ends[1:]
    assert live(ends=ends).after(None) == ends
    assert live(ends=ends).after(ended(3, 5)) == ends
