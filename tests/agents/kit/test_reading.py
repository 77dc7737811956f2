from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.kit import reading
from tallystick.agents.kit.reading import (
    BadJson,
    Parsed,
    bad_line,
    dict_of,
    duplicate_key_losses,
    int_of,
    list_of,
    loads,
    loads_text,
    text_of,
)
from tallystick.model.raw import NestedText, NumberText
from tallystick.seal.tagged import MARK, sealed_text, tag
from tests.support.cases import each

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e15, 1e15, allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(plain, st.booleans(), st.booleans())
def test_ordinary_json_comes_back_as_it_was_however_it_is_spelled(
    value: object, ascii_only: bool, spaced: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, separators=None if spaced else (",", ":"))
    assert loads(text.encode("utf-8", "surrogatepass")).value == value


@given(
    st.recursive(plain | st.floats() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_whatever_is_read_can_be_sealed(value: object) -> None:
    sealed_text(loads(json.dumps(value).encode()).value)


@each(
    "text, value",
    [
        ("NaN", "nan"),
        ("[Infinity]", ["inf"]),
        ("-Infinity", "-inf"),
        ("1e400", "num:1e400"),
        ("-1E400", "num:-1E400"),
        ("9007199254740992", "num:9007199254740992"),
        ("-9007199254740993", "num:-9007199254740993"),
        ("9007199254740993.0", "num:9007199254740993.0"),
        ("1e17", "num:1e17"),
        ("123456789012345678901234567890", "num:123456789012345678901234567890"),
        ('"\\ud800x"', "utf16:d8000078"),
        ('{"\\udc00":1}', {"utf16:dc00": 1}),
        ('"\\u0010tally:nan"', "str:\x10tally:nan"),
        ('"\\u0010TALLY:"', None),
    ],
)
def test_what_json_cannot_hold_is_sealed_with_its_literal(text: str, value: object) -> None:
    def marked(item: object) -> object:
        if isinstance(item, list):
            return [marked(inner) for inner in item]
        if isinstance(item, dict):
            return {marked(key): inner for key, inner in item.items()}
        return f"{MARK}{item}"

    assert tag(loads(text.encode()).value) == ("\x10TALLY:" if value is None else marked(value))


@each(
    "text, value",
    [('"\\ud800x"', "\ud800x"), ('{"\\udc00":1}', {"\udc00": 1}), ('"\\u0010tally:nan"', "\x10tally:nan")],
)
def test_text_is_read_as_it_was_said(text: str, value: object) -> None:
    assert loads(text.encode()).value == value


@each("text", ["NaN", "Infinity", "-Infinity", "1e400", "9007199254740992", "9007199254740993.0"])
def test_a_number_that_no_value_holds_is_read_as_its_literal(text: str) -> None:
    assert loads(text.encode()).value == NumberText(text)
    assert type(loads(text.encode()).value) is NumberText


@each("text, value", [("9007199254740991", 2**53 - 1), ("1e21", 1e21), ("1.5e300", 1.5e300), ("-0.0", 0.0)])
def test_numbers_that_the_format_has_stay_numbers(text: str, value: float) -> None:
    assert loads(text.encode()).value == value


def test_duplicate_keys_keep_the_last_value_and_are_counted() -> None:
    parsed = loads(b'{"a":1,"b":{"c":1,"c":2},"a":3}')
    assert parsed == Parsed({"a": 3, "b": {"c": 2}}, duplicate_keys=2)
    assert [loss.kind for loss in duplicate_key_losses(parsed, 7)] == ["duplicate_key", "duplicate_key"]
    assert loads(b'{"a": 1, "b" : "\\":"}') == Parsed({"a": 1, "b": '":'})


def test_a_part_nested_too_deep_becomes_its_text() -> None:
    value = loads(b"[" * 80 + b"1" + b"]" * 80).value
    for _ in range(60):
        (value,) = value
    assert value == f"{'[' * 20}1{']' * 20}"
    assert type(value) is NestedText
    sealed_text(loads(b"[" * 80 + b"]" * 80).value)


def test_json_in_text_may_hold_half_a_surrogate_pair() -> None:
    assert loads_text('{"a":"\ud800","a":NaN}') == Parsed({"a": "NaN"}, duplicate_keys=1)
    with pytest.raises(BadJson):
        loads_text("{\ud800")


@each("text", [b"", b"{", b"\xff", b"{}x", b"[" * 100_000, b"'a'", b'{"a":01}', b"\x00"])
def test_what_is_no_json_says_why(text: bytes) -> None:
    with pytest.raises(BadJson) as caught:
        loads(text)
    loss = bad_line(caught.value, 12)
    assert loss.fault
    assert str(loss.detail).startswith("byte 12: ")


def test_members_of_the_wrong_kind_are_taken_as_absent() -> None:
    assert (text_of("a"), text_of(1), dict_of([]), list_of({}), int_of(True), int_of(3)) == ("a", None, {}, [], None, 3)


def test_the_fast_and_the_careful_way_agree() -> None:
    for text in (b'{"a":[1,2.5,"x"],"b":null}', b"[1e5,-1.25,0]", b'"\\u00e9\\ud83d\\ude00"'):
        assert loads(text) == reading._read(text.decode())
