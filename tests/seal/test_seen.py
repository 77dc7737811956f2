"""A set of hashes that is exact, whatever its bytes are."""

from __future__ import annotations

import random
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.seen import Seen


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
