"""Long scripts in pieces."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.pieces import pieces

LINES = st.lists(st.text("ab ;|(#", max_size=40), max_size=300)


@given(LINES)
def test_no_line_is_lost_but_comments(lines: list[str]) -> None:
    text = "\n".join(lines)
    found, is_whole = pieces(text)
    kept = [line for line in lines if line.strip() and not line.strip().startswith("#")]
    assert is_whole
    assert "\n".join(found).split("\n") == (kept or [""])


def test_a_long_script_is_cut_between_statements() -> None:
    block = 'if [ -n "$x" ]; then\n  echo "$x" | cat\nfi\n'
    found, is_whole = pieces(block * 300)
    assert is_whole
    assert len(found) > 1
    assert all(piece.startswith("if ") and piece.endswith("fi") for piece in found)
    assert all(len(piece) < 16_000 for piece in found)


def test_padding_with_comments_takes_no_room() -> None:
    assert pieces("# x\n" * 50_000 + "cat a") == (["cat a"], True)


def test_there_is_an_end_to_it() -> None:
    found, is_whole = pieces("echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" * 10_000)
    assert not is_whole
    assert len(found) <= 16
