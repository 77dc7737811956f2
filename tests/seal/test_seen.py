"""A set of hashes that is exact, whatever its bytes are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.seal import seen as module
from tallystick.seal.seen import Seen


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
