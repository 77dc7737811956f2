from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.extension import (
    MOST_LEAVES,
    Code,
    LogState,
    RefusedError,
    Request,
    answer_text,
    extend,
    in_steps,
    parse_answer,
    parse_request,
    refusal_text,
    request_text,
)
from tallystick.seal.keys import SigningKey
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note, verify_note
from tests.support.cases import each

STORE = "0" * 31 + "1"
KEY = SigningKey(bytes(range(32)))


def leaves(count: int, seed: int = 0) -> tuple[bytes, ...]:
    return tuple((seed * 1_000_003 + n).to_bytes(32, "big") for n in range(count))


def asked(all_leaves: tuple[bytes, ...], old: int, **more: object) -> Request:
    members = {
        "store_id": STORE,
        "old_size": old,
        "size": len(all_leaves),
        "root": merkle_root(all_leaves),
        "leaves": all_leaves[old:],
    }
    return Request(**{**members, **more})  # type: ignore[arg-type]


def state_of(some: tuple[bytes, ...]) -> LogState:
    return extend(LogState(STORE), asked(some, 0)) if some else LogState(STORE)


@given(st.integers(0, 70), st.integers(0, 70))
def test_a_log_that_grew_is_signed_with_the_root_of_all_its_leaves(before: int, more: int) -> None:
    grown = leaves(before + more)
    state = extend(state_of(grown[:before]), asked(grown, before))
    assert (state.size, state.root) == (len(grown), merkle_root(grown))


@given(st.integers(1, 40), st.integers(0, 40), st.data())
def test_a_log_that_was_rewritten_is_not_signed(before: int, more: int, data: st.DataObject) -> None:
    kept, grown = leaves(before), list(leaves(before + more))
    grown[data.draw(st.integers(0, before - 1))] = b"\xff" * 32
    with pytest.raises(RefusedError) as refused:
        extend(state_of(kept), asked(tuple(grown), before))
    assert (refused.value.code, refused.value.size) == (Code.NOT_CONSISTENT, before)


@given(st.integers(1, 40), st.integers(0, 40))
def test_no_smaller_and_no_other_size_is_signed_than_follows(before: int, claimed: int) -> None:
    state, grown = state_of(leaves(before)), leaves(before + 3)
    if claimed == before:
        return
    with pytest.raises(RefusedError) as refused:
        extend(state, asked(grown, claimed))
    assert (refused.value.code, refused.value.size) == (Code.BEHIND, before)


@each("size", [0, 4, 6, 2**63 - 1])
def test_the_leaves_must_be_as_many_as_the_size_says(size: int) -> None:
    with pytest.raises(RefusedError) as refused:
        extend(state_of(leaves(3)), asked(leaves(5), 3, size=size))
    assert refused.value.code is Code.NOT_CONSISTENT


def test_another_log_is_not_signed() -> None:
    with pytest.raises(RefusedError) as refused:
        extend(LogState("f" * 32), asked(leaves(1), 0))
    assert refused.value.code is Code.UNKNOWN_LOG


def test_a_fork_at_one_size_is_not_signed() -> None:
    state = state_of(leaves(4))
    with pytest.raises(RefusedError):
        extend(state, asked(leaves(4, seed=7), 4))
    assert extend(state, asked(leaves(4), 4)) == state


@given(st.integers(0, 9), st.integers(0, 9), st.booleans())
def test_a_request_survives_being_sent(before: int, more: int, has_head: bool) -> None:
    known = sign_note(STORE, 3, merkle_root(leaves(3)), [KEY]) if has_head else None
    request = asked(leaves(before + more), before, known=known)
    assert parse_request(request_text(request)) == request
    shown = asked(leaves(before + more), before, known=known, leaves=(), entries=(b"{}",) * more, recovers=has_head)
    assert parse_request(request_text(shown)) == shown


@each(
    "data",
    [
        b"",
        b"old 0\n",
        b"old 0\n\n\n\n",
        b"old 00\n\n" + b"tallystick/x\n0\n\n\n",
        b"x" * (3 << 20),
        b"old 0\n"
        + base64.b64encode(b"short")
        + b"\n\n"
        + b"tallystick/"
        + STORE.encode()
        + b"\n1\n"
        + b"A" * 43
        + b"=\n\n",
        b"old 0\n" + b"A" * 43 + b"==\n\n\n\n",
    ],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError) as refused:
        parse_request(data)
    assert refused.value.code is Code.MALFORMED


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    with pytest.raises(RefusedError):
        parse_request(data)
    with pytest.raises(RefusedError):
        parse_answer(data)


def test_too_many_leaves_are_no_request_and_are_sent_in_steps() -> None:
    many = leaves(MOST_LEAVES + 1)
    with pytest.raises(RefusedError):
        parse_request(request_text(asked(many, 0)))
    state = LogState(STORE)
    for step in in_steps(many):
        end = state.size + len(step)
        state = extend(state, parse_request(request_text(asked(many[:end], state.size))))
    assert state.root == merkle_root(many)
    assert list(in_steps(())) == [()]


def test_entries_are_sent_in_steps_of_few_bytes() -> None:
    entries = [b"x" * size for size in (3, 3, 3, 90, 1)]
    assert [len(step) for step in in_steps(entries, 8)] == [2, 1, 1, 1]


def test_an_answer_is_the_head_or_the_reason_why_there_is_none() -> None:
    note = sign_note(STORE, 2, merkle_root(leaves(2)), [KEY])
    assert verify_note(parse_answer(answer_text(Code.SIGNED, note)), [KEY.public]) == (KEY.public,)
    with pytest.raises(RefusedError, match="begins at 3") as refused:
        parse_answer(refusal_text(RefusedError(Code.BEHIND, "the request begins at 3", size=2)))
    assert (refused.value.code, refused.value.size) == (Code.BEHIND, 2)
