"""The steps of a session, held block by block."""

from __future__ import annotations

import asyncio
from array import array
from typing import Any

from textual.app import App, ComposeResult

from tallystick.tui.timeline import BLOCK, Row, Timeline
from tests.support.cases import each

SIZE = 100_000


def row(n: int, **more: Any) -> Row:
    fields: dict[str, Any] = {
        "n": n,
        "hash": f"{n:064x}",
        "type": "tool_call",
        "name": "Bash",
        "when": "12:00:00",
        "took": "",
        "sessions": (),
        "said": f"make step {n}",
        "is_bad": False,
        "is_prompt": False,
        "is_quiet": False,
        "is_lost": False,
    }
    return Row(**{**fields, **more})


class Host(App[None]):
    """Gives rows at once, and remembers which blocks were wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[int] = []

    def compose(self) -> ComposeResult:
        yield Timeline(self.give)

    def give(self, block: int) -> None:
        self.wanted.append(block)
        timeline = self.query_one(Timeline)
        numbers = list(timeline.numbers_of(block))
        self.call_later(lambda: timeline.take(block, [row(n) for n in numbers]))


def run(script: Any, size: int = SIZE, numbers: array[int] | None = None) -> Any:
    async def play() -> Any:
        app = Host()
        async with app.run_test(size=(80, 20)) as pilot:
            timeline = app.query_one(Timeline)
            timeline.open("s", size, numbers=numbers)
            timeline.focus()
            await pilot.pause()
            found = await script(pilot, timeline, app)
            await pilot.pause()
            return found

    return asyncio.run(play())


def text(timeline: Timeline, at: int) -> str:
    return "".join(part for part, _ in timeline.pieces(at, 80))


def test_only_what_is_seen_is_asked_for_and_little_is_kept() -> None:
    async def script(pilot: Any, timeline: Timeline, app: Host) -> tuple[list[int], int]:
        for n in range(0, SIZE, SIZE // 40):
            timeline.go(n)
            await pilot.pause()
        return app.wanted, len(timeline._blocks)

    wanted, kept = run(script)
    assert len(wanted) == len(set(wanted)) <= 90
    assert kept <= 40


def test_a_row_that_is_not_there_yet_shows_its_number() -> None:
    async def script(pilot: Any, timeline: Timeline, app: Host) -> tuple[str, str]:
        before = text(timeline, 5_000)
        await pilot.pause()
        return before, text(timeline, 5_000)

    before, after = run(script)
    assert before.split() == ["5000", "…"]
    assert "make step 5000" in after


def test_filtered_steps_keep_their_numbers() -> None:
    numbers = array("L", range(3, SIZE, 1000))

    async def script(pilot: Any, timeline: Timeline, app: Host) -> list[object]:
        timeline.go(50)
        await pilot.pause()
        return [
            timeline.count,
            timeline.step,
            timeline.row_of(50_003),
            timeline.row_of(50_004),
            text(timeline, 50).split()[0],
        ]

    assert run(script, numbers=numbers) == [100, 50_003, 50, None, "50003"]


@each("at, stays", [(SIZE - 1, SIZE + 9), (SIZE - 2, SIZE - 2), (0, 0)])
def test_who_is_at_the_end_stays_there_and_who_is_not_is_left_alone(at: int, stays: int) -> None:
    async def script(pilot: Any, timeline: Timeline, app: Host) -> tuple[int, str]:
        timeline.go(at)
        await pilot.pause()
        timeline.grow(SIZE + 10)
        await pilot.pause()
        await pilot.pause()
        return timeline.row, text(timeline, SIZE + 9)

    row, last = run(script)
    assert row == stays
    assert last.split()[0] == str(SIZE + 9)


def test_the_block_that_was_not_full_is_read_again_when_the_session_grows() -> None:
    async def script(pilot: Any, timeline: Timeline, app: Host) -> str:
        timeline.grow(BLOCK + 20)
        await pilot.pause()
        await pilot.pause()
        text(timeline, BLOCK + 15)
        await pilot.pause()
        return text(timeline, BLOCK + 15)

    assert f"make step {BLOCK + 15}" in run(script, size=BLOCK + 10)


def test_hits_are_those_of_the_store_and_of_what_is_loaded() -> None:
    async def script(pilot: Any, timeline: Timeline, app: Host) -> list[object]:
        timeline.seek("STEP 7", [9_000])
        found = [list(timeline.hits), timeline.next_hit(1), timeline.next_hit(-1), text(timeline, 7)[4:6]]
        timeline.seek("")
        return [*found, timeline.next_hit(1)]

    hits, after, before, sign, none = run(script)
    assert hits[0] == 7
    assert hits[-1] == 9_000
    assert {"7"} == {str(n)[0] for n in hits[:-1]}
    assert after == 7
    assert before == 9_000
    assert "»" in sign
    assert none is None


@each(
    "more, sign",
    [
        ({"is_bad": True}, "✕"),
        ({"is_prompt": True}, "›"),
        ({"sessions": ("a",)}, "↳"),
        ({"is_lost": True}, "?"),
        ({"is_bad": True, "sessions": ("a",)}, "✕"),
    ],
)
def test_what_a_step_is_stands_beside_its_number_and_not_in_its_colour(more: dict[str, Any], sign: str) -> None:
    async def script(pilot: Any, timeline: Timeline, app: Host) -> str:
        timeline.take(0, [row(0, **more)])
        return text(timeline, 0)

    assert run(script, size=1).split()[1] == sign
