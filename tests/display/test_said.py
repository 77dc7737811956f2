"""Lines of pieces: cut and wrapped."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.display.said import Line, Piece, Tone, cut_line, text_of, wrapped
from tallystick.display.text import one_line, width_of
from tests.support.cases import each

TEXTS = st.text(max_size=60).map(one_line)
LINES = st.lists(st.builds(Piece, TEXTS, st.sampled_from(Tone)), max_size=6)


@given(LINES, st.integers(2, 80))
def test_a_line_that_is_cut_fits_and_begins_as_it_did(line: Line, width: int) -> None:
    shown = text_of(cut_line(line, width))
    assert width_of(shown) <= width
    if width_of(text_of(line)) <= width:
        assert shown == text_of(line)
    else:
        assert shown.endswith("…")
        assert text_of(line).startswith(shown[:-1])


def test_pieces_keep_their_tone() -> None:
    line = [Piece("TOOL: ", Tone.TOOL), Piece("a long command")]
    assert cut_line(line, 12) == [Piece("TOOL: ", Tone.TOOL), Piece("a lon…")]


@given(TEXTS, st.integers(8, 40))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    found = list(wrapped(text, width))
    assert "".join(found) == text
    assert all(width_of(piece) <= width for piece in found)


@each(
    "text, pieces",
    [
        ("", [""]),
        ("short", ["short"]),
        ("some words that are long", ["some words ", "that are ", "long"]),
        ("x" * 25, ["x" * 12, "x" * 12, "x"]),
        ("漢字漢字漢字漢字", ["漢字漢字漢字", "漢字"]),
    ],
)
def test_lines_are_broken_behind_a_blank_where_there_is_one(text: str, pieces: list[str]) -> None:
    assert list(wrapped(text, 12)) == pieces
