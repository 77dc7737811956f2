"""Questions that are asked beside the keys."""

import asyncio
import threading
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.review.browse import Reader
from tallystick.tui.lanes import Lane, StoppedError


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    return Lane(Home(tmp_path))


def test_questions_are_answered_in_order_in_a_thread_of_the_lanes_own(lane: Lane) -> None:
    async def ask() -> list[tuple[int, int]]:
        return await asyncio.gather(*(lane.ask(lambda _, n=n: (n, threading.get_ident())) for n in range(20)))  # type: ignore[misc]

    found = asyncio.run(ask())
    lane.close()
    assert [n for n, _ in found] == list(range(20))
    assert len({ident for _, ident in found} - {threading.get_ident()}) == 1


def test_an_error_is_that_of_whoever_asked_and_the_next_question_is_answered(lane: Lane) -> None:
    def fail(_: Reader) -> None:
        raise NotFoundError("not there")

    async def ask() -> int:
        with pytest.raises(NotFoundError):
            await lane.ask(fail)
        return await lane.ask(lambda _: 7)

    assert asyncio.run(ask()) == 7
    lane.close()


def test_a_question_that_nobody_waits_for_any_more_is_not_begun(lane: Lane) -> None:
    asked: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def slow(_: Reader) -> None:
        begun.set()
        go_on.wait(120)

    async def ask() -> None:
        first = asyncio.create_task(lane.ask(slow))
        await asyncio.to_thread(begun.wait, 10)
        second = asyncio.create_task(lane.ask(lambda _: asked.append("second")))
        third = asyncio.create_task(lane.ask(lambda _: asked.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(first, third)

    asyncio.run(ask())
    lane.close()
    assert asked == ["third"]


def test_what_takes_long_stops_when_the_lane_is_closed(lane: Lane) -> None:
    lane.check()
    lane.close()
    with pytest.raises(StoppedError):
        lane.check(17)
