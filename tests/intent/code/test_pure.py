"""Functions that only make texts of texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.languages import read_code
from tallystick.intent.code.pure import FUNCTIONS, METHODS, made
from tallystick.model.script import HOLE
from tests.support.cases import each, each_case

_KEY = "/h/.ssh/id_rsa"


@each_case("language, code")
def test_a_path_that_is_put_together_is_known(language: str, code: str) -> None:
    assert _KEY in [action.target.text for action in read_code(language, code, home="/h").actions]


@each_case("language, code")
def test_what_is_made_of_the_unknown_is_unknown(language: str, code: str) -> None:
    found = read_code(language, code, home="/h")
    assert all(HOLE in action.target.text for action in found.actions)


@each(
    "kind, parts, expected",
    [
        ("codes", ("47", "0x2f"), "//"),
        ("hex", ("2f61",), "/a"),
        ("base64", ("L2E",), "/a"),
        ("hex", ("xy",), None),
        ("glue", ("/", "a", HOLE), f"a/{HOLE}"),
        ("reverse", (HOLE,), None),
        ("repeat", ("ab", "9999999"), None),
        ("unknown", ("a",), None),
    ],
)
def test_a_text_is_made_or_it_is_unknown(kind: str, parts: tuple[str, ...], expected: str | None) -> None:
    found = made(kind, parts)
    assert found == expected


@given(st.sampled_from(sorted({*FUNCTIONS.values(), *METHODS.values()})), st.lists(st.text(max_size=20), max_size=4))
def test_any_texts_have_an_answer(kind: str, parts: list[str]) -> None:
    found = made(kind, parts)
    assert found is None or sum(map(len, found)) <= 4096


def test_a_loop_over_numbers_is_bounded() -> None:
    read = read_code("python", "open(''.join(chr(n) for n in range(10**9)))", home="/h")
    assert HOLE in read.actions[0].target.text
