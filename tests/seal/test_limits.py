"""The limits, and the depth of bytes that nobody has parsed."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal import limits
from tallystick.seal.limits import exceeds_depth, is_deeper
from tests.support.cases import each


def test_the_limits_are_those_of_section_15() -> None:
    assert limits.LINE_BYTES == 1_048_576
    assert (limits.DEPTH, limits.META_DEPTH) == (64, 4)
    assert (limits.NAMES, limits.PARENTS, limits.SIGNATURES) == (32, 64, 64)
    assert limits.META_BYTES == 16_384
    assert limits.BLOB_BYTES == 1_073_741_824
    assert limits.NOTE_BYTES == 1_048_576
    assert limits.MAX_N == 2**53 == limits.SAFE_INTEGER + 1
    assert limits.INLINE_BYTES == 65_536
    assert limits.PARSED_BLOB_BYTES == 1_048_576


@each("opening", [b"[", b'{"a":'])
def test_depth_is_counted_to_the_level(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    value = opening * 64 + b"1" + closing * 64
    assert not exceeds_depth(value, 64)
    assert exceeds_depth(opening + value + closing, 64)


def test_brackets_side_by_side_do_not_add_up() -> None:
    assert not exceeds_depth(b"[" + b"[]," * 1000 + b"{}]", 2)
    assert exceeds_depth(b"[" + b"[]," * 1000 + b"[{}]]", 2)


@each("text", [b'["[[[["]', rb'["\"[[[["]', rb'["\\","[[["]', b'{"[[[":"{{{"}', b'"[[[[', b'["\n[[["]'])
def test_brackets_in_strings_do_not_count(text: bytes) -> None:
    assert not exceeds_depth(text, 1)


def test_a_string_that_ends_lets_brackets_count_again() -> None:
    assert exceeds_depth(rb'["\\",[[1]]]', 2)
    assert exceeds_depth(b'["a",[["b"]]]', 2)


def test_brackets_that_close_too_early_do_not_hide_others() -> None:
    assert not exceeds_depth(b"]]]][[[[", 4)
    assert exceeds_depth(b"[" * 100_000, 64)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(
    st.recursive(
        st.text() | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}\\"a'), inner, max_size=3),
    )
)
def test_the_depth_found_is_the_depth_there_is(value: Any) -> None:
    text = json.dumps(value).encode()
    assert not exceeds_depth(text, depth(value))
    assert depth(value) == 0 or exceeds_depth(text, depth(value) - 1)


def test_a_parsed_value_is_as_deep_as_its_objects_and_lists() -> None:
    value: Any = [1]
    for _ in range(62):
        value = {"a": value, "b": [], "c": "[[["}
    assert not is_deeper(value, 63)
    assert is_deeper(value, 62)
    assert not is_deeper({}, 1)
    assert is_deeper({"a": []}, 1)
    for _ in range(100_000):
        value = [value]
    assert is_deeper(value, 63)


@given(
    st.recursive(
        st.text() | st.integers() | st.none() | st.booleans() | st.floats(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    ).filter(lambda value: isinstance(value, dict | list))
)
def test_both_ways_of_counting_agree(value: Any) -> None:
    assert not is_deeper(value, depth(value))
    assert depth(value) == 1 or is_deeper(value, depth(value) - 1)
