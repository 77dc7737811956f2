"""Texts without their repetitions."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing import folding
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import scrub_bytes
from tallystick.scrubbing.folding import Edit, Fold, Folded, folded
from tests.support.cases import each

UNITS = st.lists(
    st.sampled_from(["password=", "Sw0rdf1sh!x9", "token: ", '"', "\n", " ", "a", "cookie: ", "=", "://u:Zx9!kq@h "]),
    min_size=1,
    max_size=6,
).map("".join)


def places_of(word: bytes) -> folding.Search:
    def search(data: bytes, at: int, stop: int) -> list[folding.Hit]:
        begin = max(0, at - len(word))
        starts = [begin + at for at in range(stop - begin) if data.startswith(word, begin + at, stop)]
        return [(0, start, start + len(word)) for start in starts if start + len(word) > at]

    return search


def fold(data: bytes, word: bytes) -> tuple[Folded, int]:
    spent: list[int] = []
    text, hits = folded(data, places_of(word), spent.append)
    assert all(text.data[start:end] == word for _, start, end in hits)
    assert sum(spent) == len(hits)
    return text, len(hits)


@given(UNITS, st.text("ab =\n", max_size=50), st.text("ab =\n", max_size=50), st.integers(1, 400))
def test_what_is_left_out_can_be_put_back(unit: str, before: str, after: str, times: int) -> None:
    whole = f"{before}{unit * times}{after}".encode()
    text, _ = fold(whole, unit.encode()[:4])
    assert text.original(0, len(text.data)) == whole
    assert text.edited([])[0] == whole


@each("size", [10_000, 100_000, 1_000_000])
def test_a_word_that_is_repeated_is_looked_at_a_few_times(size: int) -> None:
    text, found = fold(b"cookie: " * (size // 8), b"cookie")
    assert len(text.data) < 2200
    assert found < 280


@each("period", [1, 2, 7, 100, 400])
def test_a_repetition_is_noticed_whatever_it_repeats(period: int) -> None:
    unit = b"token" + bytes(33 + number * 7 % 90 for number in range(period))
    text, _ = fold(b"x" * 3000 + unit * (80_000 // len(unit)) + b"y" * 3000, b"token")
    assert len(text.data) < 12_000


def test_what_is_rare_or_short_is_left_as_it_is() -> None:
    for whole in (b"token " * 100, (b"token " + b"lorem ipsum " * 60) * 20):
        assert fold(whole, b"token")[0].data == whole


def test_an_edit_is_made_wherever_it_is_repeated() -> None:
    text = Folded(b"ab" * 1000, [Fold(100, 2, 800)])
    assert text.edited([Edit(98, 99, b"X", ("k",)), Edit(102, 103, b"Y", ())]) == (
        b"ab" * 49 + b"Xb" * 801 + b"abYb" + b"ab" * 148,
        {"k": 801},
    )


def test_an_edit_across_what_is_left_out_replaces_all_of_it() -> None:
    text = Folded(b"ab" * 1000, [Fold(100, 2, 800)])
    assert text.edited([Edit(90, 110, b"X", ("k",))]) == (b"ab" * 45 + b"X" + b"ab" * 145, {"k": 1})


def test_an_edit_that_ends_in_the_next_period_is_made_in_each() -> None:
    text = Folded(b"abc" * 1000, [Fold(300, 3, 800)])
    edits = [Edit(at + 2, at + 4, b"X", ("k",)) for at in range(0, 597, 3)]
    clean, kinds = text.edited(edits)
    assert clean == b"ab" + b"Xb" * 999 + b"c"
    assert kinds == {"k": 999}


@given(UNITS, st.integers(1, 60))
def test_a_repetition_is_scrubbed_as_if_each_of_it_were_looked_at(unit: str, length: int) -> None:
    """Where the two differ, more is replaced: what is in one repetition is not in the other."""
    data = (unit * (2 * folding._LEAST // len(unit) + length)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "_LEAST", len(data) + 1)
        each_of_it = scrub_bytes(data, Counts())
    assert scrub_bytes(data, Counts()).count(b"Sw0rdf1sh!x9") <= each_of_it.count(b"Sw0rdf1sh!x9")
    assert scrub_bytes(data, Counts()).count(b"Zx9!kq") <= each_of_it.count(b"Zx9!kq")


def test_secrets_that_are_repeated_are_all_counted() -> None:
    counts = Counts()
    clean = scrub_bytes(b"password=Sw0rdf1sh!x9\n" * 5000, counts)
    assert clean == "password=‹secret:password›\n".encode() * 5000
    assert counts == {"password": 5000}


def test_a_run_of_base64_is_written_again_whole() -> None:
    plain = b"the password is kept elsewhere; " * 400 + b"password=Sw0rdf1sh!x9\n"
    clean = scrub_bytes(base64.b64encode(plain), Counts())
    assert base64.b64decode(clean) == plain.replace(b"Sw0rdf1sh!x9", "‹secret:password›".encode())
