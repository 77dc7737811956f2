"""The arguments of a call, whatever an agent names them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.tools.arguments import decoded, members_of, paths_among, plain_name, strings, texts_among
from tests.support.cases import each


@each("name", ["file_path", "filePath", "FilePath", "file-path", "FILE_PATH"])
def test_every_spelling_of_a_name_is_one(name: str) -> None:
    assert plain_name(name) == "filepath"
    assert members_of({name: 1}) == {"filepath": 1}


@given(st.text())
def test_a_plain_name_stays_as_it_is(name: str) -> None:
    assert plain_name(plain_name(name)) == plain_name(name)
    assert len(plain_name("x" * 1000)) == 128


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_the_text_of_an_object_is_the_object(value: dict[str, object]) -> None:
    assert decoded(json.dumps(value)) == value


@each("text", ["{", "{x}", "[1]", "x", ""])
def test_a_text_that_is_no_object_stays_a_text(text: str) -> None:
    assert decoded(text) == text


def test_lists_are_found_also_as_json_text() -> None:
    assert texts_among(members_of({"paths": '["a", "b", 1]', "files": ["c", {"path": "d"}]}), "paths", "files") == [
        "a",
        "b",
        "c",
    ]
    assert paths_among(members_of({"files": ["c", {"path": "d"}]})) == ["c", "d"]
    assert paths_among(members_of({"args": ["e"]})) == ["e"]


def test_strings_of_a_deep_value_are_bounded() -> None:
    deep: object = "x"
    for _ in range(100):
        deep = {"a": [deep]}
    assert list(strings(deep)) == []
    assert len(list(strings(["x"] * 5000))) == 2000
