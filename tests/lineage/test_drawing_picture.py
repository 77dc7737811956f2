"""Text in pictures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.drawing_picture import plain


@given(st.text(st.characters(codec=None), max_size=200), st.integers(1, 60))
def test_text_is_one_line_that_can_be_seen_and_no_longer_than_asked(text: str, most: int) -> None:
    shown = plain(text, most)
    assert len(shown) <= most
    assert all(character.isprintable() for character in shown)


def test_short_text_stays_as_it_is_and_long_text_says_that_it_is_cut() -> None:
    assert plain("Grüße, 世界", 20) == "Grüße, 世界"
    assert plain("a\nb\t c", 20) == "a b c"
    assert plain("x" * 30, 10) == "x" * 9 + "…"
    assert plain("x" * 10_000_000, 10) == "x" * 9 + "…"


def test_what_would_be_obeyed_or_hidden_is_written_out() -> None:
    assert plain("a\x1b[31m\u202eb\u200b\ud800", 60) == "a\\x1b[31m\\u202eb\\u200b\\ud800"
