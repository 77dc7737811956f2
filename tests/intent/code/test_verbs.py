"""Languages that are read by verbs."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code import read_code
from tests.support.cases import each, each_case


@each_case("language, text, expected")
def test_what_a_text_does_is_found(language: str, text: str, expected: list[str]) -> None:
    read = read_code(language, text, home="/h")
    found = [f"{action.operation} {action.target.plain}" for action in read.actions]
    found += [f"{code.language}: {code.text.plain}" for code in read.codes]
    assert list(dict.fromkeys(found)) == expected


@each("language", ["applescript", "elisp", "julia", "other", "r"])
def test_it_is_never_all(language: str) -> None:
    assert read_code(language, "x").is_unknown
    assert not read_code(language, " ").is_unknown


@given(st.sampled_from(["applescript", "elisp", "julia", "other", "r"]), st.text(max_size=300))
def test_any_text_is_read(language: str, text: str) -> None:
    read = read_code(language, text)
    assert all(action.target.text for action in read.actions)
