"""Canonical JSON: the fast path and the reference are one function."""

from __future__ import annotations

import json
import math
import random
import struct
from enum import StrEnum
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.seal import canonical as module
from tallystick.seal.canonical import FAST_DECODER, canonical, fast_dumps, has_astral_key, is_canonical, parse
from tests.seal.sentences import refusal
from tests.support.cases import each

SAFE = 2**53 - 1
CHARACTERS = (
    *(chr(code) for code in (*range(0x21), 0x22, 0x2F, 0x5C, 0x7F, 0x80, 0xE9, 0x2028, 0x2029, 0xD7FF, 0xE000, 0xFEFF)),
    *"aZ09é€",
    "\ufb33",
    "\uffff",
    "\U00010000",
    "\U0001f600",
    "\U0010ffff",
)
INTEGERS = (0, 1, -1, 10, SAFE, -SAFE, SAFE - 1, 2**31, -(2**31), 10**15)
FLOATS = (
    *(
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.0,
        100.0,
        1e-4,
        1e-5,
        1.5e-5,
        1e-6,
        1.25e-6,
        1e-7,
        9.5e-7,
        5e-324,
        2.2250738585072014e-308,
    ),
    *(1.7976931348623157e308, 1e15, 1e21, 1.5e21, 1e22, 123456789012345.6, 1234567890123456.7),
    *(25.0, 1e-300),
    *(0.1, 0.2, 0.30000000000000004, 4.35, 333333333.3333333, 9007199254740991.0, 4503599627370497.5),
)


def text(chance: random.Random) -> str:
    return "".join(chance.choices(CHARACTERS, k=chance.randrange(6)))


def number(chance: random.Random) -> Any:
    kind = chance.randrange(6)
    if kind == 0:
        return chance.choice(INTEGERS)
    if kind == 1:
        return chance.randint(-SAFE, SAFE)
    if kind == 2:
        return chance.choice(FLOATS)
    if kind == 3:
        return chance.randint(-(10**6), 10**6) / 10 ** chance.randrange(1, 12)
    if kind == 4:
        value = struct.unpack("<d", chance.randbytes(8))[0]
        return value if math.isfinite(value) and not SAFE < abs(value) < 1e21 else 0.25
    return chance.randrange(100)


def document(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(10 if depth < 4 else 6)
    if kind < 2:
        return text(chance)
    if kind < 5:
        return number(chance)
    if kind == 5:
        return chance.choice((None, True, False))
    if kind < 8:
        return [document(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {text(chance): document(chance, depth + 1) for _ in range(chance.randrange(5))}


def test_20000_documents_come_out_as_the_reference_writes_them() -> None:
    chance = random.Random(20_260_102)
    fast = 0
    for _ in range(20_000):
        value = document(chance)
        expected = rfc8785.dumps(value)
        assert canonical(value) == expected, value
        fast += _is_fast(value, expected)
    assert 9_000 < fast < 20_000  # both ways are taken, so both are tested


def _is_fast(value: Any, expected: bytes) -> bool:
    """Whether the fast path vouches for a value; then it must be right."""
    if has_astral_key(value):
        return False
    try:
        written = fast_dumps(value)
        FAST_DECODER.decode(written)
    except (TypeError, msgspec.DecodeError):
        return False
    assert written == expected
    return True


def test_20000_numbers_come_out_as_the_reference_writes_them() -> None:
    chance = random.Random(20_260_103)
    values = [number(chance) for _ in range(20_000)]
    for value in values:
        assert canonical(value) == rfc8785.dumps(value), value


@each(
    "value, expected",
    [
        (-0.0, b"0"),
        (1.0, b"1"),
        (1e21, b"1e+21"),
        (9007199254740991.0, b"9007199254740991"),
        (1e15, b"1000000000000000"),
        ("9" * 20, b'"99999999999999999999"'),
        (["9" * 20, 1e22], b'["99999999999999999999",1e+22]'),
        (1e-6, b"0.000001"),
        (1e-7, b"1e-7"),
        (1.5, b"1.5"),
        (5e-324, b"5e-324"),
        (123456789.125, b"123456789.125"),
        ("\u00e9", b'"\xc3\xa9"'),
        ('\u2028\x7f\x1f/\\"', b'"\xe2\x80\xa8\x7f\\u001f/\\\\\\""'),
        ({"\U0001f600": 1, "\ufb33": 2}, b'{"\xf0\x9f\x98\x80":1,"\xef\xac\xb3":2}'),
        ({"b": [], "a": {}}, b'{"a":{},"b":[]}'),
        ([True, False, None, 1, 0], b"[true,false,null,1,0]"),
        (SAFE, b"9007199254740991"),
        (-SAFE, b"-9007199254740991"),
        ("plain", b'"plain"'),
        ("\U0001f600", b'"\xf0\x9f\x98\x80"'),
    ],
)
def test_a_value_has_this_one_text(value: Any, expected: bytes) -> None:
    assert canonical(value) == expected
    assert is_canonical(expected, value)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        [math.nan],
        {"a": math.inf},
        SAFE + 1,
        -SAFE - 1,
        9007199254740992.0,
        -9007199254740992.0,
        1e16,
        [1e20],
        {"a": 123456789012345678.0},
        [2**64],
        10**400,
        "\ud800",
        ["a\udfff"],
        {"\ud800": 1},
        {1: 2},
        {None: 1},
        b"bytes",
        {1, 2},
        pytest.param(object(), id="an object"),
    ],
    ids=repr,
)
def test_a_value_without_a_canonical_text_is_refused(value: Any) -> None:
    assert refusal(lambda: canonical(value)) == "canonical"
    assert not is_canonical(b"null", value)


def test_a_value_nested_beyond_all_reason_is_refused_or_written_but_never_a_crash() -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(FormatError):
        canonical(nested)


class Word(StrEnum):
    YES = "yes"


def test_a_subclass_of_str_is_written_as_the_reference_does() -> None:
    assert canonical(Word.YES) == b'"yes"'
    assert canonical({"word": Word.YES}) == b'{"word":"yes"}'


def test_a_key_beyond_u_ffff_is_found_at_any_depth() -> None:
    assert has_astral_key({"\U0001f600": 1})
    assert has_astral_key([{"a": [{"b\U00010000": 1}]}])
    assert not has_astral_key({"\uffff": "\U0001f600"})
    assert not has_astral_key([{}, {"": []}, "\U0001f600", 1])


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-SAFE, SAFE)
        | st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: not SAFE < abs(value) < 1e21)
        | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_what_was_written_reads_back_and_is_canonical(value: Any) -> None:
    written = canonical(value)
    again = parse(written)
    assert canonical(again) == written
    assert is_canonical(written, again)


@each(
    "spelling",
    [
        b'{"a": 1}',
        b' {"a":1}',
        b'{"a":1}\n',
        b'{"b":1,"a":1}',
        b'{"a":1,"a":1}',
        b'{"\\u0061":1}',
        b'"\\/"',
        b'"\\u000A"',
        b'"\\u000a"',
        b"1.0",
        b"-0",
        b"-0.0",
        b"1e2",
        b"1E400",
        b"0.0000001",
        b"1e+22 ",
        b"9007199254740992",
        b"-9007199254740992",
        b"9" * 18,
        b"9" * 10_000,
        b"-" + b"1" * 5_000,
        b'"\\ud83d\\ude00"',
        b'"\\ud800"',
    ],
    ids=lambda spelling: spelling[:20].decode(),
)
def test_another_spelling_is_not_canonical(spelling: bytes) -> None:
    assert not is_canonical(spelling, parse(spelling))


@each("literal", ["9007199254740991", "-9007199254740991", "123456789012345", "0", "-1"])
def test_an_integer_is_read_exactly(literal: str) -> None:
    assert parse(literal.encode()) == int(literal)


@each(
    "text, rule",
    [
        (b"\xff", "line"),
        (b'"\xed\xa0\x80"', "line"),
        (b"", "line"),
        (b"{", "line"),
        (b"{} {}", "line"),
        (b"nul", "line"),
        (b"NaN", "line"),
        (b"[Infinity]", "line"),
        (b"-Infinity", "line"),
        (b"01", "line"),
        (b"1.", "line"),
        (b'"a\tb"', "line"),
        (b"\xef\xbb\xbf{}", "canonical"),
        (b"{}\r", "canonical"),
        (b'"a\rb"', "canonical"),
        (b'{"a":\x001}', "canonical"),
        (b"\x00\xff", "line"),
    ],
)
def test_what_is_no_json_is_refused_with_its_rule(text: bytes, rule: str) -> None:
    assert refusal(lambda: parse(text)) == rule


def test_a_byte_order_mark_inside_is_a_character_like_any_other() -> None:
    assert parse('["\ufeff"]'.encode()) == ["\ufeff"]


def test_a_number_that_overflows_has_no_canonical_text() -> None:
    assert parse(b"1e400") == math.inf
    assert refusal(lambda: canonical(parse(b"1e400"))) == "canonical"


PLAIN = ["0.5", "-0.5", "0.00001", "0.000019", "1.5", "1234567890123456.5", "0.12345678901234567", "10.25", "-100.001"]
UNCERTAIN = ["1.0", "0.0", "0.50", "1e5", "1E5", "1.5e3", "0.000001", "12345678901234567.5", "1.5e-7", "-0.0", "1e-7"]


@each("literal", PLAIN)
def test_a_plain_float_is_read_fast(literal: str) -> None:
    assert FAST_DECODER.decode(literal) == float(literal)
    assert module.plain_float_hook(literal) == float(literal)


@each("literal", UNCERTAIN)
def test_a_float_that_encoders_differ_on_is_left_to_the_reference(literal: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        FAST_DECODER.decode(literal)
    with pytest.raises(ValueError, match=r"."):
        module.plain_float_hook(literal)


@each("value", [2**53, -(2**53), 2**63, b"x", {1: 1}])
def test_the_fast_writer_refuses_what_it_would_write_otherwise(value: Any) -> None:
    with pytest.raises(TypeError):
        fast_dumps(value)


def test_the_fast_writer_sorts_keys() -> None:
    assert (
        fast_dumps({"b": 1, "a": [1.5, None]})
        == b'{"a":[1.5,null],"b":1}'
        == json.dumps({"a": [1.5, None], "b": 1}, separators=(",", ":")).encode()
    )
