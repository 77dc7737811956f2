"""What is shown when something is opened, and what is said where that cannot be."""

import asyncio
import os
import sqlite3
import time
from typing import Any

import pytest
from textual.pilot import Pilot

from tallystick.graph.graph import Graph, Mode
from tallystick.graph.journals import Depth
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.review import browse_upkeep
from tallystick.tui.app import Browser
from tallystick.workspace.indexing import bring_up_to_date, open_index
from tests.tui.conftest import LARGE, app_of, lines, play, press, seen, settled

CODEX = "341b8edc"


def test_a_session_is_opened_by_the_beginning_of_its_id_or_of_the_agents_own(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> str | None:
        return app_of(pilot).session

    assert (play(store, script, asked="6884") or "").startswith("6884db8c")
    assert (play(store, script, asked="a42b3437") or "").startswith("6884db8c")


def test_a_session_that_is_not_there_is_said_and_the_list_is_shown(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, int]:
        return seen(pilot), app_of(pilot).sessions.count

    text, count = play(store, script, asked="ffffffff")
    assert "no session 'ffffffff'" in text
    assert count == 8


def test_a_session_that_the_index_does_not_have_yet_is_opened_all_the_same(store: Home) -> None:
    with open_index(store):
        pass
    with Recorder(store.folder) as recorder, recorder.session("demo", "brand-new") as session:
        session.prompt("hello")

    async def script(pilot: Pilot[None]) -> tuple[str | None, int]:
        return app_of(pilot).session, app_of(pilot).timeline.count

    assert play(store, script, asked="brand-new") == (session.id, 3)


def test_the_index_is_made_where_there_is_none(store: Home) -> None:
    for path in store.folder.glob("graph.db*"):
        path.unlink()

    async def script(pilot: Pilot[None]) -> int:
        return app_of(pilot).timeline.count

    assert play(store, script, asked=None) == 42


def test_an_index_that_is_no_database_is_told_with_what_to_do(store: Home) -> None:
    for path in store.folder.glob("graph.db*"):
        path.unlink()
    store.graph.write_bytes(b"no database" * 1000)

    async def script(pilot: Pilot[None]) -> str:
        return lines(pilot)[-1]

    assert "tally rebuild" in play(store, script)


def test_an_index_that_is_being_written_is_read_as_it_is(store: Home) -> None:
    with open_index(store):
        pass
    writer = sqlite3.connect(store.graph)
    writer.execute("BEGIN IMMEDIATE")
    path = store.journal(CODEX + next(sid for sid, _ in store.sessions() if sid.startswith(CODEX))[8:])
    assert path is not None
    os.utime(path)
    try:

        async def script(pilot: Pilot[None]) -> int:
            return app_of(pilot).timeline.count

        assert play(store, script, asked=CODEX) == 42
    finally:
        writer.rollback()
        writer.close()


def test_a_journal_that_is_gone_is_told_and_nothing_ends(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, str]:
        path = store.journal(app_of(pilot).session or "")
        assert path is not None
        path.unlink()
        await press(pilot, "G")
        gone = seen(pilot)
        await press(pilot, "R")
        return gone, lines(pilot)[2]

    gone, after = play(store, script, asked=CODEX, size=LARGE)
    assert "has no line there" in gone
    assert "tally verify" in gone
    assert "Sessions 7" in after


def test_a_store_that_is_not_there_is_looked_for_again(tmp_path: object, store: Home) -> None:
    away = store.folder.rename(store.folder.with_name("away"))

    async def script(pilot: Pilot[None]) -> tuple[str, int]:
        said = lines(pilot)[-2]
        away.rename(store.folder)
        await press(pilot, "R")
        return said, app_of(pilot).timeline.count

    said, count = play(store, script)
    assert "no store at" in said
    assert count == 42


def test_the_detail_has_everything_of_the_step(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> str:
        await press(pilot, "e")
        return "\n".join("".join(text for text, _ in line) for line in app_of(pilot).detail._text)

    text = play(store, script, size=LARGE, asked=CODEX)
    for part in ("tool_result", "failed, exit 1", "cause    341b8edc:31", "test_rounding", "hash", "seal", "recorded"):
        assert part in text


def test_every_session_is_verified_when_it_is_opened(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> str:
        await press(pilot, "right_square_bracket")
        await settled(pilot)
        return lines(pilot)[1]

    shown = play(store, script, size=LARGE)
    for word in ("integrity ✔ intact", "completeness", "authenticity ✔ signed", "anchoring ✔ A2", "disclosure ✔ full"):
        assert word in shown


def test_the_layout_follows_the_size_of_the_terminal(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[set[int], set[int]]:
        await pilot.resize_terminal(130, 30)
        await settled(pilot)
        large = {len(line) for line in lines(pilot)}
        await pilot.resize_terminal(60, 12)
        await settled(pilot)
        return large, {len(line) for line in lines(pilot)}

    assert play(store, script) == ({130}, {60})


@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (39, 9)])
def test_the_steps_are_seen_on_the_smallest_terminals(store: Home, columns: int, rows: int) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, list[str]]:
        small = lines(pilot)
        await press(pilot, "j", "enter")
        return small[1], lines(pilot)

    first, detailed = play(store, script, size=(columns, rows), asked=CODEX)
    assert first.startswith("  0   session_start")
    assert detailed[1].startswith("  1 ")
    assert detailed[2].startswith("─Detail")


def test_steps_are_seen_while_the_index_is_being_made_and_the_newest_session_at_its_end(
    store: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in store.folder.glob("graph.db*"):
        path.unlink()
    app = Browser(store)
    catch_up, early = browse_upkeep.catch_up, []

    def slowly(home: Home, **named: Any) -> list[str]:
        oldest = next(sid for sid, _ in home.sessions() if not sid.startswith(CODEX))
        with Graph(home.graph, Mode.WRITE) as graph:
            bring_up_to_date(home, graph, sessions=[oldest], depth=Depth.ROWS)
        for _ in range(1000):
            if app.session is not None and app.timeline.count:
                early.append((app.session, app.timeline.count))
                break
            time.sleep(0.01)
        return catch_up(home, **named)

    monkeypatch.setattr(browse_upkeep, "catch_up", slowly)

    async def run() -> str | None:
        async with app.run_test(size=LARGE) as pilot:
            await settled(pilot)
            return app.session

    last = asyncio.run(run())
    ((session, count),) = early
    assert not session.startswith(CODEX)
    assert count > 2
    assert (last or "").startswith(CODEX)
    assert app.verdict is not None


@pytest.mark.parametrize("name", ["a step of it", "its hash"])
def test_a_step_that_is_named_is_chosen_in_its_session(store: Home, name: str) -> None:
    async def find(pilot: Pilot[None]) -> str:
        await settled(pilot)
        row = app_of(pilot).timeline.get(7)
        assert row is not None
        return row.hash

    asked = f"{CODEX}:7" if name == "a step of it" else play(store, find, asked=CODEX)[:12]

    async def script(pilot: Pilot[None]) -> tuple[str | None, int | None]:
        return app_of(pilot).session, app_of(pilot).timeline.step

    session, step = play(store, script, asked=asked)
    assert (session or "").startswith(CODEX)
    assert step == 7


def test_a_list_that_is_not_there_yet_is_not_said_to_be_empty(store: Home) -> None:
    app = Browser(store)

    async def before() -> tuple[str, str]:
        async with app.run_test():
            return app.sessions.empty, app.timeline.empty

    assert asyncio.run(before()) == ("loading…", "loading…")
