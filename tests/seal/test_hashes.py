"""The formulas of section 4, written out once more by hand, and that no two inputs share a frame."""

from __future__ import annotations

import random
from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.seal import hashes as module
from tallystick.seal.hashes import (
    FIELDS_START,
    Seen,
    commitment,
    entry_hash,
    fields_hash,
    genesis,
    node_hash,
    salt,
    streamed_commitment,
    tagged_hash,
)
from tests.support.cases import each

SEED = bytes(range(32))


def plainly(tag: bytes, *parts: bytes) -> bytes:
    """H as section 4 has it."""
    name = b"tallystick/v1/" + tag
    text = bytes([len(name)]) + name + len(parts).to_bytes(4, "big")
    for part in parts:
        text += len(part).to_bytes(8, "big") + part
    return sha256(text).digest()


def test_the_formulas_are_those_of_the_text() -> None:
    sid = "00" * 16
    assert tagged_hash("x", b"a", b"") == plainly(b"x", b"a", b"")
    assert genesis(sid) == plainly(b"genesis", sid.encode())
    assert salt(SEED, "content.text") == plainly(b"salt", SEED, b"content.text")
    value = b'"hello"'
    expected = plainly(b"field", b"content.text", b"json", SEED, value)
    assert commitment("content.text", "json", SEED, value) == expected
    assert commitment("content.text", "raw", SEED, value) == plainly(b"field", b"content.text", b"raw", SEED, value)
    pairs = [("content.a", b"\x01" * 32), ("meta", b"\x02" * 32)]
    assert fields_hash(pairs) == plainly(b"fields", b"content.a", b"\x01" * 32, b"meta", b"\x02" * 32)
    assert entry_hash(b"{}") == sha256(b"\x00tallystick/v1/entry\n{}").digest()
    assert node_hash(b"l" * 32, b"r" * 32) == sha256(b"\x01" + b"l" * 32 + b"r" * 32).digest()


@each("count", [1, 2, 31, 32])
def test_any_number_of_fields_that_an_entry_may_have_can_be_hashed(count: int) -> None:
    pairs = [(f"content.part_{number:02}", bytes([number]) * 32) for number in range(count)]
    flat = [part for name, digest in pairs for part in (name.encode(), digest)]
    assert fields_hash(pairs) == plainly(b"fields", *flat)
    assert sorted(FIELDS_START) == list(range(1, 33))


def test_a_commitment_in_chunks_is_the_commitment() -> None:
    value = b"0123456789"
    whole = commitment("content.part_0", "raw", SEED, value)
    assert streamed_commitment("content.part_0", "raw", SEED, 10, [b"012", b"", b"3456789"]) == whole
    assert streamed_commitment("content.part_0", "raw", SEED, 11, [value]) != whole
    assert streamed_commitment("content.part_0", "json", SEED, 10, [value]) != whole
    assert streamed_commitment("content.part_1", "raw", SEED, 10, [value]) != whole
    assert streamed_commitment("content.part_0", "raw", bytes(32), 10, [value]) != whole


parts = st.lists(st.binary(max_size=5), max_size=4)


@given(st.tuples(st.sampled_from(["a", "ab", "salt"]), parts), st.tuples(st.sampled_from(["a", "ab", "salt"]), parts))
def test_framing_is_injective(one: tuple[str, list[bytes]], other: tuple[str, list[bytes]]) -> None:
    same = tagged_hash(one[0], *one[1]) == tagged_hash(other[0], *other[1])
    assert same is (one == other)


def test_moving_a_byte_between_parts_changes_the_hash() -> None:
    assert tagged_hash("t", b"ab", b"c") != tagged_hash("t", b"a", b"bc")
    assert tagged_hash("t", b"ab") != tagged_hash("t", b"ab", b"")
    assert tagged_hash("ta", b"b") != tagged_hash("t", b"ab")


def test_leaves_and_nodes_cannot_be_taken_for_each_other() -> None:
    left, right = b"l" * 32, b"r" * 32
    assert entry_hash(left + right) != node_hash(left, right)


@pytest.fixture(params=[100_000, 3, 0], autouse=True)
def spill(request: pytest.FixtureRequest) -> Iterator[None]:
    """Everything here holds for small sets, for large ones, and where one becomes the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SPILL", request.param)
        yield


def test_a_value_is_new_once() -> None:
    seen = Seen()
    values = [sha256(bytes([number])).digest() for number in range(200)]
    for value in values:
        assert value not in seen
        assert seen.add(value)
        assert value in seen
        assert not seen.add(value)
    assert all(value in seen for value in values)
    assert sha256(b"other").digest() not in seen


def test_a_value_that_only_lies_across_two_others_is_not_there() -> None:
    seen = Seen()
    first, second = bytes(32), bytes(31) + b"\x01"
    seen.add(first)
    seen.add(second)
    across = (first + second)[31:63]
    assert across == bytes(32)
    shifted = bytes(2) + b"\x07" * 30
    seen.add(shifted)
    assert (second + shifted)[2:34] not in seen
    assert (shifted + shifted)[16:48] not in seen
    assert shifted in seen


small = st.binary(min_size=1, max_size=2).map(lambda end: bytes(32 - len(end)) + end) | st.sampled_from(
    [bytes(32), bytes(2) + b"\x01" * 30, bytes(3) + b"\x01" * 29, bytes(16) + b"\x01" * 16]
)


@given(st.lists(small, max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the fixture changes nothing between examples
def test_it_is_a_set(values: list[bytes]) -> None:
    seen, known = Seen(), set[bytes]()
    for value in values:
        assert (value in seen) is (value in known)
        assert seen.add(value) is (value not in known)
        known.add(value)


def test_thousands_of_values_in_few_buckets_are_told_apart() -> None:
    chance = random.Random(7)
    values = [bytes([0, number % 2]) + chance.randbytes(30) for number in range(3000)]
    seen = Seen()
    assert all(seen.add(value) for value in values)
    assert not any(seen.add(value) for value in values)


def test_a_large_set_is_kept_end_to_end() -> None:
    seen = Seen()
    values = [sha256(bytes([number])).digest() for number in range(10)]
    assert all(seen.add(value) for value in values)
    spilled = module.SPILL < 10
    assert (seen._few is None) is spilled
    assert sum(map(len, seen._buckets.values())) == (320 if spilled else 0)
