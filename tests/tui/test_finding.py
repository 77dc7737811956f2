"""Searching and filtering by keys, on recorded sessions."""

from textual.events import Key
from textual.pilot import Pilot

from tallystick.journal.home import Home
from tests.tui.conftest import VERIFYING, app_of, lines, play, press, seen, settled, write

CODEX = "341b8edc"


def test_a_search_goes_to_what_is_shown_while_it_is_typed(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[int | None, int | None]:
        await press(pilot, "slash")
        await write(pilot, "apply")
        while_typed = app_of(pilot).timeline.step
        await press(pilot, "escape")
        return while_typed, app_of(pilot).timeline.step

    while_typed, after = play(store, script, asked=CODEX)
    assert while_typed == 25
    assert after == 0, "Esc goes back to where the search began"


def test_on_enter_the_whole_session_is_searched_and_n_goes_round(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[list[int], list[int | None]]:
        await press(pilot, "slash")
        await write(pilot, "unittest")
        await press(pilot, "enter")
        app = app_of(pilot)
        ways = [app.timeline.step]
        for _ in app.timeline.hits:
            await press(pilot, "n")
            ways.append(app.timeline.step)
        await press(pilot, "N")
        return list(app.timeline.hits), [*ways, app.timeline.step]

    hits, ways = play(store, script, asked=CODEX)
    assert len(hits) > 2
    assert ways == [*hits, hits[0], hits[-1]]


def test_words_that_stand_in_no_line_are_found_in_the_text_behind_it(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[list[int], str]:
        await press(pilot, "slash")
        await write(pilot, '"End Patch"')
        await press(pilot, "enter")
        return list(app_of(pilot).timeline.hits), lines(pilot)[-2]

    hits, status = play(store, script, asked=CODEX)
    assert 25 in hits
    assert "hit" in status


def test_what_is_nowhere_is_said_to_be_nowhere(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, str]:
        await press(pilot, "n")
        before = lines(pilot)[-2]
        await press(pilot, "slash")
        await write(pilot, "xyzzy")
        await press(pilot, "enter")
        return before, lines(pilot)[-2]

    before, after = play(store, script, asked=CODEX)
    assert "nothing was searched for" in before
    assert "no step of this session holds xyzzy" in after


FILTERS = {
    "tool:exec_command type:tool_call": [11, 28, 31, 35, 38],
    "failed": [32, 36],
    "type:user,subagent_end": [5, 7, 20, 22],
    "type:tool_call unittest": [25, 28, 31],
    "agent:gptme": [],
    "agent:codex failed": [32, 36],
}


def test_a_filter_leaves_only_what_it_takes(store: Home) -> None:
    async def filtered(pilot: Pilot[None], typed: str) -> tuple[list[int], bool, int]:
        await press(pilot, "f")
        await write(pilot, typed)
        await press(pilot, "enter")
        timeline = app_of(pilot).timeline
        assert timeline.numbers is not None
        found, says_none = list(timeline.numbers), "no step of this session" in seen(pilot)
        await press(pilot, "x")
        return found, says_none, timeline.count

    async def script(pilot: Pilot[None]) -> dict[str, tuple[list[int], bool, int]]:
        return {typed: await filtered(pilot, typed) for typed in FILTERS}

    expected = {typed: (numbers, not numbers, 42) for typed, numbers in FILTERS.items()}
    assert play(store, script, asked=CODEX) == expected


def test_agents_filter_the_list_of_sessions_too(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> int:
        await press(pilot, "f")
        await write(pilot, "agent:claude-code")
        await press(pilot, "enter")
        return app_of(pilot).sessions.count

    assert play(store, script, asked="6884db8c") == 4


def test_a_filter_that_cannot_be_read_stays_in_the_line_with_the_reason(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, str, int]:
        await press(pilot, "f")
        await write(pilot, "colour:red")
        await press(pilot, "enter")
        return app_of(pilot).prompt.value, seen(pilot), app_of(pilot).timeline.count

    value, text, count = play(store, script, asked=CODEX)
    assert value == "colour:red"
    assert "unknown filter 'colour'" in text
    assert count == 42


def test_a_filter_keeps_the_place(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> list[int | None]:
        await press(pilot, "colon")
        await write(pilot, "30")
        await press(pilot, "enter", "f")
        await write(pilot, "type:tool_call")
        await press(pilot, "enter")
        within = app_of(pilot).timeline.step
        await press(pilot, "escape")
        return [within, app_of(pilot).timeline.step]

    assert play(store, script, asked=CODEX) == [31, 31]


def at_once(pilot: Pilot[None], text: str) -> None:
    """Type without waiting, as keys come over a slow line."""
    names = {":": "colon", "/": "slash", "\r": "enter"}
    for character in text:
        pilot.app.post_message(Key(names.get(character, character), character))


def test_what_comes_in_one_go_with_the_key_that_asks_is_the_answer(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, str]:
        at_once(pilot, ":17\r")
        for _ in range(500):
            await pilot.pause(0.01)
            if app_of(pilot).timeline.row == 17 and not app_of(pilot).prompt.purpose:
                break
        else:
            raise AssertionError("it does not go there")
        at_once(pilot, "/quit")
        for _ in range(500):
            await pilot.pause(0.01)
            if app_of(pilot).prompt.value == "quit":
                break
        await settled(pilot, VERIFYING)
        return app_of(pilot).prompt.purpose, app_of(pilot).prompt.value

    assert play(store, script, asked=CODEX) == ("search", "quit")
