"""Tagged strings: what JSON cannot hold comes in, and canonical JSON comes out."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.model.decision import Call
from tallystick.model.raw import Instead, NestedText, NumberText, Placeholder, legible
from tallystick.model.step import Step
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.json_values import scrub_json
from tallystick.seal.canonical import canonical, parse
from tallystick.seal.limits import exceeds_depth
from tallystick.seal.tagged import MARK, json_of, said, sealed_text, tag, tag_cut, tag_unsearched
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


@each(
    "value, expected",
    [
        (NumberText("1e400"), "\x10tally:num:1e400"),
        (NumberText("-Infinity"), "\x10tally:-inf"),
        (NestedText("[1]"), "\x10tally:json:[1]"),
        (tag_cut(1073741825), "\x10tally:cut:1073741825"),
        ({"a": [tag_unsearched(5, "ab")]}, {"a": ["\x10tally:unsearched:5:ab"]}),
        ("\ud800\udc00", "\x10tally:utf16:d800dc00"),
    ],
    ids=repr,
)
def test_what_takes_the_place_of_a_value_is_spelled_by_its_kind(value: Any, expected: Any) -> None:
    assert tag(value) == expected


def nested(levels: int) -> Any:
    value: Any = "in"
    for _ in range(levels):
        value = [value]
    return value


def test_60_levels_stay_and_the_61st_becomes_text() -> None:
    assert tag(nested(60)) == nested(60)
    found: Any = tag(nested(62))
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


@each("depth", [1, 59, 60, 61, 80])
@each("text", ["in", "[" * 100, '{"' * 100, "\\]" * 100, "é{" * 90, "\U0001f600[" * 70])
def test_brackets_in_texts_are_not_taken_for_depth(depth: int, text: str) -> None:
    value: Any = {text: text}
    for _ in range(depth - 1):
        value = [value, text]
    assert sealed_text(value) == canonical(tag(value))
    assert sealed_text(text) == canonical(tag(text))


def test_text_of_a_deep_part_is_ascii_and_never_fails() -> None:
    value: Any = {"\ud800": math.nan, "é": object()}
    for _ in range(60):
        value = [value]
    found: Any = tag(value)
    for _ in range(60):
        (found,) = found
    assert found.startswith('\x10tally:json:{"\\ud800": NaN, "\\u00e9": "<object')


def test_what_is_no_json_at_all_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="bytes"):
        tag(b"bytes")  # type: ignore[arg-type]


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


@given(anything)
def test_what_was_sealed_is_read_as_it_was_said(value: Any) -> None:
    raw = json_of(value)
    assert said(tag(raw)) == raw
    assert _kinds(said(tag(raw))) == _kinds(raw)


def _kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return [(type(key), _kinds(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_kinds(item) for item in value]
    return type(value)


@given(anything)
def test_what_is_read_is_sealed_again_as_it_was(value: Any) -> None:
    tagged = tag(value)
    assert tag(said(tagged)) == tagged


@each(
    "text",
    [
        "\x10tally:",
        "\x10tally:odd:1",
        "\x10tally:utf16:xyz",
        "\x10tally:utf16:0061",
        "\x10tally:str:a",
        "\x10tally:cut:5",
    ],
)
def test_what_no_writer_of_ours_made_stays_as_it_stands(text: str) -> None:
    assert said(text) == text
    assert type(said(text)) is Placeholder
    assert str(tag(said(text))) == text


@given(anything)
def test_the_bytes_that_are_sealed_are_those_of_the_tagged_value(value: Any) -> None:
    raw = json_of(value)
    assert sealed_text(raw) == canonical(tag(raw))


@each(
    "value", [nested(60), nested(61), [{"a": NumberText("1e400")}], {"\ud800": [1.0, 1e21, -0.0]}, (1, (2,))], ids=repr
)
def test_the_quick_way_to_them_seals_the_same(value: Any) -> None:
    assert sealed_text(value) == canonical(tag(value))


def test_what_is_no_json_cannot_be_sealed() -> None:
    holds_itself: list[Any] = []
    holds_itself.append(holds_itself)
    for value in (b"bytes", {"a": {1, 2}}, holds_itself):
        with pytest.raises(FormatError):
            sealed_text(value)  # type: ignore[arg-type]


def test_no_text_that_stands_for_a_value_is_taken_for_one() -> None:
    for text in (NumberText("1"), NestedText("[]"), Placeholder(f"{MARK}cut:1")):
        assert isinstance(text, Instead)
        assert tag(str(text)) != tag(text)


def the_wrong_order(counts: Counts) -> None:
    """Never run: `make check` reads it. mypy refuses each of these lines, and an ignore that it does not need is an error."""
    tagged = tag("cat ~/.ssh/id_rsa # \ud800")
    Call(agent="a", session="s", tool="Bash", args=tagged)  # type: ignore[arg-type]
    scrub_json(tagged, counts)  # type: ignore[arg-type]
    Step(session="s", type="user", values={"content.text": tagged})  # type: ignore[dict-item]
    legible(tagged)  # type: ignore[arg-type]
    sealed_text(tagged)  # type: ignore[arg-type]
    tag(tagged)  # type: ignore[arg-type]


def test_the_checker_is_strict_about_the_order() -> None:
    settings = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert settings["strict"] is True
    assert the_wrong_order.__doc__
