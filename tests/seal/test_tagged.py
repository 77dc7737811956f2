"""Tagged strings: what JSON cannot hold comes in, and canonical JSON comes out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.canonical import canonical, parse
from tallystick.seal.limits import exceeds_depth
from tallystick.seal.tagged import MARK, tag, tag_cut, tag_number, tag_text
from tests.support.cases import each

SAFE = 2**53 - 1


def test_the_mark_is_the_one_of_the_format() -> None:
    assert MARK == "\x10tally:"


@each(
    "value, expected",
    [
        (math.nan, "\x10tally:nan"),
        (math.inf, "\x10tally:inf"),
        (-math.inf, "\x10tally:-inf"),
        (SAFE, SAFE),
        (SAFE + 1, "\x10tally:num:9007199254740992"),
        (-SAFE, -SAFE),
        (-SAFE - 1, "\x10tally:num:-9007199254740992"),
        (float(SAFE), float(SAFE)),
        (float(SAFE + 1), "\x10tally:num:9007199254740992"),
        (-float(SAFE + 1), "\x10tally:num:-9007199254740992"),
        (1e20, "\x10tally:num:100000000000000000000"),
        (1e21, 1e21),
        (-1e21, -1e21),
        (0.5, 0.5),
        (True, True),
        (False, False),
        (None, None),
        ("", ""),
        ("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600"),
        ("a\ud800", "\x10tally:utf16:0061d800"),
        ("\x10tally:", "\x10tally:str:\x10tally:"),
        ("\x10tally:nan", "\x10tally:str:\x10tally:nan"),
        ("\x10tally", "\x10tally"),
        (" \x10tally:nan", " \x10tally:nan"),
        ({"a\udfff": [math.nan]}, {"\x10tally:utf16:0061dfff": ["\x10tally:nan"]}),
        ((1, (2,)), [1, [2]]),
        ({1: "one"}, {"1": "one"}),
    ],
    ids=repr,
)
def test_only_what_the_format_cannot_hold_is_replaced(value: Any, expected: Any) -> None:
    found = tag(value)
    assert found == expected
    assert type(found) is type(expected)


def test_literals_and_sizes_are_tagged_as_they_are() -> None:
    assert tag_number("1e400") == "\x10tally:num:1e400"
    assert tag_cut(1073741825) == "\x10tally:cut:1073741825"
    assert tag_text("\ud800\udc00") == "\x10tally:utf16:d800dc00"


def nested(levels: int) -> Any:
    value: Any = "in"
    for _ in range(levels):
        value = [value]
    return value


def test_60_levels_stay_and_the_61st_becomes_text() -> None:
    assert tag(nested(60)) == nested(60)
    found = tag(nested(62))
    for _ in range(60):
        (found,) = found
    assert found == '\x10tally:json:[["in"]]'
    pairs: Any = "in"
    for _ in range(61):
        pairs = {"a": pairs}
    found = tag(pairs)
    for _ in range(60):
        found = found["a"]
    assert found == '\x10tally:json:{"a": "in"}'
    deepest: Any = {}
    for _ in range(60):
        deepest = {"a": deepest}
    line = {"fields": {"content.meta": {"key": tag(deepest)}}}
    assert not exceeds_depth(canonical(line), 64)


def test_text_of_a_deep_part_is_ascii_and_never_fails() -> None:
    value: Any = {"\ud800": math.nan, "é": object()}
    for _ in range(60):
        value = [value]
    found = tag(value)
    for _ in range(60):
        (found,) = found
    assert found.startswith('\x10tally:json:{"\\ud800": NaN, "\\u00e9": "<object')


def test_what_is_no_json_at_all_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="bytes"):
        tag(b"bytes")


characters = st.characters() | st.sampled_from("\x10\ud800\udfff")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(characters) | st.just(MARK + "nan"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(characters, max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(anything)
def test_whatever_a_source_holds_can_be_sealed_once_it_is_tagged(value: Any) -> None:
    written = canonical(tag(value))
    assert canonical(parse(written)) == written
