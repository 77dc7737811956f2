"""Whatever a text holds, the screen shows it and obeys none of it."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot

from tallystick.journal.home import Home
from tallystick.tui.theme import BAD, CHOSEN, PLAIN, fitted, strip_of, wrapped
from tests.tui.conftest import LARGE, SMALL, lines, play, press, settled, write
from tests.tui.hostile import HOSTILE, make_hostile

_FORBIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
text = st.one_of(st.text(), st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map("".join))


def is_harmless(shown: str) -> bool:
    return not any(unicodedata.category(character) in _FORBIDDEN for character in shown)


@given(st.lists(text, max_size=4), st.integers(1, 200))
def test_a_line_has_the_width_it_should_and_no_control_character(texts: list[str], width: int) -> None:
    strip = strip_of([(one, BAD) for one in texts], width)
    assert strip.cell_length == width
    assert is_harmless(strip.text)


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "Zs"))), st.integers(0, 60))
def test_a_fitted_text_has_the_width_it_should(text: str, width: int) -> None:
    assert cell_len(fitted(text, width)) == width


@given(st.text("ab 宽", max_size=300), st.integers(8, 60))
def test_a_wrapped_text_loses_nothing_and_fits(text: str, width: int) -> None:
    parts = list(wrapped([(text, PLAIN)], width))
    assert all(sum(cell_len(piece) for piece, _ in part) <= width for part in parts)
    whole = "".join(piece for number, part in enumerate(parts) for piece, _ in (part[1:] if number else part))
    assert whole == text


def test_a_chosen_line_looks_chosen_whatever_its_pieces_say() -> None:
    assert {segment.style for segment in strip_of([("a", BAD), ("b", PLAIN)], 9, CHOSEN)} == {CHOSEN}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("hostile") / "store"
    make_hostile(folder)
    return Home(folder)


@pytest.mark.parametrize(
    "size", [pytest.param(SMALL, marks=pytest.mark.soak, id="80x24"), pytest.param(LARGE, id="120x40")]
)
def test_no_pane_holds_what_a_terminal_would_obey(hostile: Home, size: tuple[int, int]) -> None:
    """The list of sessions and all steps are paged through, details are read, and every page on top is looked at."""

    async def script(pilot: Pilot[None]) -> list[str]:
        found: list[str] = []
        if size == SMALL:
            await press(pilot, "enter")
        await settled(pilot)
        for key in (
            *"eeeeeeeeeeeeeeeeeeeeeeeeee",
            *(["pageup"] * 8),
            "m",
            "escape",
            "v",
            "escape",
            "tab",
            "pagedown",
            "end",
        ):
            await press(pilot, key)
            found += lines(pilot)
        await press(pilot, "t", "t", "shift+tab", "shift+tab")
        for key in ("pagedown", "end"):
            await pilot.press(key)
            found += lines(pilot)
        await press(pilot, "f")
        await write(pilot, "[bold]x")
        await press(pilot, "enter")
        return [*found, *lines(pilot)]

    found = play(hostile, script, size=size)
    assert {cell_len(line) for line in found} == {size[0]}
    assert all(map(is_harmless, found))
    shown = "\n".join(found)
    assert "␛]0;another title␇" in shown
    assert "[bold red]markup[/bold red]" in shown, "markup is text"


def test_what_is_drawn_of_hostile_text_is_bounded(tmp_path: Path) -> None:
    from tallystick.recording.recorder import Recorder

    with Recorder(tmp_path / "store") as recorder, recorder.session("demo", "huge") as session:
        session.prompt("\x1b[31m" + "x" * 3_000_000 + "\n" * 100_000)

    async def script(pilot: Pilot[None]) -> tuple[int, str]:
        await press(pilot, "j", "enter", "tab", "end")
        from tests.tui.conftest import app_of

        return app_of(pilot).detail.count, "\n".join(lines(pilot))

    count, shown = play(Home(tmp_path / "store"), script)
    assert count < 10_000
    assert "the rest: tally show" in shown
