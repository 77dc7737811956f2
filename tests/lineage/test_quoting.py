"""Whether a piece of a text stands in another, and how much that tells."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.quoting import (
    TELLING,
    flat,
    holds_key,
    indexed,
    is_copied,
    lines_of,
    telling_words,
    weight,
    weight_of,
    words_of,
)
from tests.support.cases import each_case


def holds(text: str, piece: str) -> bool:
    one_line = flat(piece)
    return indexed(text).holds(one_line, words_of(one_line))


@given(
    st.text(max_size=80), st.text(alphabet=string.ascii_letters + " -/.", min_size=1, max_size=40), st.text(max_size=80)
)
def test_a_piece_between_other_words_stands_in_the_text(before: str, piece: str, after: str) -> None:
    if flat(piece):
        assert holds(f"{before} {piece} {after}", piece)


@given(st.text(max_size=200))
def test_flat_is_flat(text: str) -> None:
    assert flat(flat(text)) == flat(text)
    assert "\n" not in flat(text)


@each_case("text, piece, does")
def test_pieces_are_found_from_word_to_word(text: str, piece: str, does: bool) -> None:
    assert holds(text, piece) is does


@each_case("everyday")
def test_everyday_commands_tell_nothing(everyday: str) -> None:
    assert weight(flat(everyday)) == 0


@pytest.mark.parametrize(
    "telling",
    [
        "make frobnicate-7781",
        "./vendor/prepare --channel 7781",
        "npm run deploy:prod",
        "ops@example.net",
        "touch done.txt",
    ],
)
def test_names_tell_enough(telling: str) -> None:
    assert weight(flat(telling)) >= TELLING


def test_words_that_are_known_from_elsewhere_tell_nothing() -> None:
    assert weight("make frobnicate-7781", known=["frobnicate-7781"]) == 0


def test_a_plain_word_tells_a_little() -> None:
    assert weight_of("httpx") == 1
    assert weight_of("12") == weight_of("--verbose") == 0
    assert telling_words("pip install httpx, httpx") == {"httpx": 1}


PAGE = indexed("Hello.\nThen run make release-7781 today.\nimport os\nThen do: git push --tags\nimport sys\n")


@each_case("written, is_it")
def test_what_is_mostly_from_a_page_is_a_copy_of_it_unless_anybody_would_write_that(written: str, is_it: bool) -> None:
    assert is_copied(lines_of(written), PAGE) is is_it


def test_a_line_of_many_plain_words_is_hardly_the_same_by_chance() -> None:
    page = indexed("then run the tests and check that all of it is well, and so on")
    assert is_copied(lines_of("run the tests and check that all of it is well"), page)


def test_what_was_known_before_is_no_copy() -> None:
    assert not is_copied(lines_of("make release-7781"), PAGE, lambda word: word == "release-7781")


@each_case("text, does")
def test_a_long_word_of_letters_and_digits_is_like_a_key(text: str, does: bool) -> None:
    assert holds_key(text) is does


def test_ten_megabytes_are_cut() -> None:
    assert len(indexed("word " * 2_000_000).text) <= 64 << 10
