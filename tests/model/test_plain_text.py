from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.plain_text import CUT_CHARACTERS, plain_text
from tallystick.model.step import Json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def test_a_value_becomes_its_strings_and_numbers_in_order_without_the_names_of_members() -> None:
    blocks = [{"type": "text", "text": "one\ntwo"}, {"n": 8080, "x": 0.5, "none": None, "yes": True}, "three"]
    assert plain_text(blocks) == "text\none\ntwo\n8080\n0.5\nthree"


def test_line_ends_in_a_value_do_not_glue_words_together() -> None:
    assert plain_text({"command": "cd x\nnice"}).split() == ["cd", "x", "nice"]


@given(VALUES)
def test_every_string_of_a_value_is_in_its_text(value: Json) -> None:
    def strings(part: Json) -> list[str]:
        if isinstance(part, str):
            return [part]
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return [text for item in inner for text in strings(item)]

    text = plain_text(value)
    assert all(part in text for part in strings(value))


def test_text_is_cut_however_it_is_spread() -> None:
    assert len(plain_text("x" * (CUT_CHARACTERS + 1))) == CUT_CHARACTERS
    assert len(plain_text(["x" * 1000] * 100)) == CUT_CHARACTERS


def test_a_deeply_nested_value_is_no_trouble() -> None:
    value: Json = "core"
    for _ in range(5000):
        value = [value]
    assert plain_text(value) == "core"
