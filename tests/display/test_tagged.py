"""Tagged strings read back as what they stand for."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tallystick.display.tagged import readable
from tallystick.model.raw import NestedText, NumberText
from tallystick.model.step import Json
from tallystick.seal.tagged import json_of, said, tag, tag_cut, tag_unsearched
from tests.support.cases import each

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_reads_as_it_was_before_it_was_tagged(value: Json) -> None:
    assert readable(said(tag(value))) == value


@each(
    "tagged, shown",
    [
        (json_of(math.nan), "NaN"),
        (json_of(-math.inf), "-Infinity"),
        (NumberText("12345678901234567890"), "12345678901234567890"),
        (tag_cut(5), "(a value of 5 bytes, too large to keep)"),
        (NestedText("[[1]]"), "[[1]]"),
        (
            tag_unsearched(5, "ab"),
            "(a value of 5 bytes, not recorded: searching it for secrets takes too long; SHA-256 ab)",
        ),
    ],
)
def test_what_json_cannot_hold_is_said_in_words(tagged: Json, shown: str) -> None:
    assert readable(tagged) == shown


@each("text", ["\x10", "\x10tally:", "\x10tally:odd:1", "\x10tally:utf16:xyz", "\x10tally:cut:5", "\x10tally:nan"])
def test_an_agent_cannot_say_that_a_value_was_not_kept(text: str) -> None:
    assert readable(text) == text
