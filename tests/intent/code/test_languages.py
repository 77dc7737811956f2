"""All languages alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.languages import languages, read_code
from tests.intent.code.cases import done

LANGUAGES = sorted(languages())
_PIECES = [
    "'", '"', "`", "\\", "/", "#", "(", ")", "{", "}", "[", "]", "q{", "qx{", "%x(", "=~ s/", "/*", "--", "[[", "print > ",
    "getline < ", "s/", "w ", "\n", " ", "open(", "unlink ", "COPY ", "FROM ", ".read ", ";", "<", "|", "'x'", '"y"', "$a",
    "File.read ", "system(", "=", ".", ",", "x.y(", "\0", "é", "${", "#{", "+", "a", "require(", "fs.", "eval ",
]  # fmt: skip


def test_a_language_that_nobody_reads_is_unknown() -> None:
    assert done("cobol", "OPEN INPUT F") == ["unknown"]
    assert done("cobol", " ") == []


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=40).map("".join))
def test_no_text_is_too_odd(language: str, text: str) -> None:
    read = read_code(language, text)
    assert len(read.actions) <= 200
    assert len(read.codes) <= 200
    assert all(action.target.text for action in read.actions)


@pytest.mark.parametrize("length", [1_000, pytest.param(30_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_text_of_one_piece_is_read_in_part(language: str, length: int) -> None:
    for piece in _PIECES:
        read = read_code(language, piece * (length // len(piece)))
        assert len(read.actions) + len(read.codes) <= 400


@given(st.sampled_from(LANGUAGES), st.text())
def test_reading_twice_gives_the_same(language: str, text: str) -> None:
    assert read_code(language, text) == read_code(language, text)
