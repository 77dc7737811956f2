"""The spelling of Go's encoder, held against bytes that it wrote."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.step import Json
from tallystick.seal.go_json import go_json, go_text, sorted_keys
from tests.support.cases import each


@each(
    "value, text",
    [
        ("curl x && sh <y>", r'"curl x \u0026\u0026 sh \u003cy\u003e"'),
        ("é\u2028\u2029", r'"é\u2028\u2029"'),
        ('a\bb\fc\nd\x01"\\/\x7f', '"a\\bb\\fc\\nd\\u0001\\"\\\\/\x7f"'),
        ("\ud800A", '"\ufffdA"'),
        ("\x10tally:num:1", r'"\u0010tally:num:1"'),
        ([1.0, 0.85, 1e21, None, True], "[1,0.85,1e+21,null,true]"),
        ({"b": [], "a": {}}, '{"b":[],"a":{}}'),
    ],
)
def test_a_value_is_spelled_as_go_spells_it(value: Json, text: str) -> None:
    assert go_json(value) == text


@given(st.dictionaries(st.text(), st.text() | st.lists(st.integers() | st.booleans() | st.none())))
def test_the_spelling_is_json_of_the_same_value(value: dict[str, Json]) -> None:
    assert json.loads(go_json(value)) == value


@given(st.text())
def test_a_text_holds_none_of_the_escaped_characters(text: str) -> None:
    assert not set("<>&\u2028\u2029") & set(go_text(text))


def test_a_map_has_its_keys_in_the_order_of_their_bytes() -> None:
    assert go_json(sorted_keys({"é": 1, "b": {"z": 1, "a": 2}, "Z": 3})) == '{"Z":3,"b":{"a":2,"z":1},"é":1}'
