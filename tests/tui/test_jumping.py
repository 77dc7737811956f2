"""Where the keys that jump lead, on recorded sessions."""

import sqlite3
from collections.abc import Iterable

from textual.pilot import Pilot

from tallystick.journal.home import Home
from tallystick.review.browse import Reader
from tallystick.tui.jumping import Marked, mark_pieces, marks_of
from tests.tui.conftest import app_of, lines, play, press, seen, write

CODEX, CODEX_CHILD, CLAUDE = "341b8edc", "c76d0104", "6884db8c"


async def step_after(pilot: Pilot[None], keys: tuple[str, ...]) -> tuple[str, int, str]:
    """Which session and step keys lead to from the beginning of one, where no jump was made before, and what is said."""
    app = app_of(pilot)
    if app.prompt.purpose:
        await press(pilot, "escape")
    app._places.clear()
    app.say("")
    await app.open(next(sid for sid, _ in app.home.sessions() if sid.startswith(CODEX)), 0)
    for key in keys:
        await (write(pilot, key[1:]) if key.startswith("=") else press(pilot, key))
    assert app.session is not None
    assert app.timeline.step is not None
    return app.session[:8], app.timeline.step, lines(pilot)[-2]


def after_each(store: Home, keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, int, str]]:
    """The same of several, on one screen."""

    async def script(pilot: Pilot[None]) -> dict[tuple[str, ...], tuple[str, int, str]]:
        return {one: await step_after(pilot, one) for one in keys}

    return play(store, script, asked=CODEX)


LEADS = {
    ("e",): (CODEX, 32),
    ("e", "e"): (CODEX, 36),
    ("e", "e", "e"): (CODEX, 36),
    ("G", "E"): (CODEX, 36),
    ("G", "K"): (CODEX, 22),
    ("J",): (CODEX, 5),
    ("e", "c"): (CODEX, 31),
    ("e", "c", "c"): (CODEX, 7),
    ("e", "p"): (CODEX, 31),
    ("e", "c", "backspace"): (CODEX, 32),
    ("colon", "=16", "enter", "o"): (CODEX_CHILD, 0),
    ("colon", "=16", "enter", "o", "P"): (CODEX, 16),
    ("colon", "=16", "enter", "o", "c"): (CODEX, 16),
    ("colon", "=16", "enter", "o", "backspace"): (CODEX, 16),
    ("colon", "=6884db8c:31", "enter"): (CLAUDE, 31),
    ("colon", "=6884", "enter"): (CLAUDE, 0),
    ("number_sign", "=12", "enter"): (CODEX, 12),
    ("right_square_bracket",): (CODEX_CHILD, 0),
    ("right_square_bracket", "left_square_bracket"): (CODEX, 0),
}


def test_where_keys_lead(store: Home) -> None:
    found = after_each(store, LEADS)
    assert {keys: (session, n) for keys, (session, n, _) in found.items()} == LEADS


SAID = {
    ("backspace",): "no jump to go back from",
    ("o",): "no session began at this step",
    ("P",): "this session has no parent",
    ("G", "e"): "no failure after this step",
    ("E",): "no failure before this step",
    ("colon", "=4200", "enter"): "step 4200",
    ("colon", "=nothing at all", "enter"): "✕",
    ("colon", "enter"): "type a number",
}


def test_where_there_is_nothing_to_jump_to_it_is_said(store: Home) -> None:
    found = after_each(store, SAID)
    assert {keys: said for keys, said in SAID.items() if said not in found[keys][2]} == {}


def test_among_filtered_steps_jumps_stay_among_them_and_a_number_drops_the_filter(store: Home) -> None:
    filtered = ("f", "=type:tool_result", "enter")
    after = after_each(store, ((*filtered, "e"), (*filtered, "J"), (*filtered, "colon", "=9", "enter")))
    failure, prompt, number = after.values()
    assert failure[:2] == (CODEX, 32)
    assert prompt[1:] == (12, " no prompt after this step" + " " * 54)
    assert number[:2] == (CODEX, 9)


def test_a_checkpoint_leads_to_what_it_marks(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, int | None]:
        await press(pilot, "m")
        listed = seen(pilot)
        await press(pilot, "j", "enter")
        return listed, app_of(pilot).timeline.step

    listed, n = play(store, script, asked="78dde6e5")
    assert "✔ at    41" in listed
    assert n == 38


def told(mark: Marked) -> str:
    return "".join(text for text, _ in mark_pieces(mark))


def marks(store: Home) -> list[Marked]:
    session = next(sid for sid, _ in store.sessions() if sid.startswith("78dde6e5"))
    reader = Reader(store)
    found = marks_of(reader, session)
    reader.close()
    return found


def test_the_newest_comes_first_with_its_place_and_its_label(store: Home) -> None:
    found = marks(store)
    assert [mark.entry.position for mark in found] == [41, 38, 4]
    assert all(mark.holds for mark in found)
    assert told(found[0]).split() == ["✔", "at", "41", "phase", found[0].entry.hash[:8], "draft"]


def test_one_whose_entry_is_another_now_is_said_to_be_broken(store: Home) -> None:
    database = sqlite3.connect(store.graph)
    database.execute("UPDATE checkpoints SET position_hash = ? WHERE position = 38", ("0" * 64,))
    database.commit()
    database.close()
    found = marks(store)
    assert [mark.holds for mark in found] == [True, False, True]
    assert "✕ broken" in told(found[1])
