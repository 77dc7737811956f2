"""Turns of one session follow each other; sessions do not wait for each other."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tallystick.live.turns import Turns

ONE, OTHER = ("agent", "one"), ("agent", "other")


class Log:
    """Turns that note when they begin; some are over only when they are told."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.begun: list[tuple[str, int]] = []
        self.open: dict[tuple[str, int], Callable[[], None]] = {}

    def take(self, session: tuple[str, str], number: int, *, later: bool) -> None:
        def turn(over: Callable[[], None]) -> None:
            self.begun.append((session[1], number))
            if later:
                self.open[session[1], number] = over
            else:
                over()

        self.turns.take(session, turn)


def test_a_turn_waits_for_those_of_its_session_only() -> None:
    log = Log()
    log.take(ONE, 1, later=True)
    log.take(ONE, 2, later=False)
    log.take(OTHER, 1, later=False)
    assert log.begun == [("one", 1), ("other", 1)]
    log.open.pop(("one", 1))()
    assert log.begun == [("one", 1), ("other", 1), ("one", 2)]
    assert not log.turns.is_any


def test_many_that_waited_are_worked_on_without_end_of_the_stack() -> None:
    log = Log()
    log.take(ONE, 0, later=True)
    for number in range(1, 5000):
        log.take(ONE, number, later=False)
    log.open.pop(("one", 0))()
    assert [number for _, number in log.begun] == list(range(5000))


@given(st.lists(st.tuples(st.sampled_from([ONE, OTHER]), st.booleans()), max_size=20), st.randoms())
def test_each_session_keeps_its_order_however_long_turns_take(
    wanted: list[tuple[tuple[str, str], bool]], chance: random.Random
) -> None:
    log = Log()
    for number, (session, later) in enumerate(wanted):
        log.take(session, number, later=later)
    while log.open:
        log.open.pop(chance.choice(sorted(log.open)))()
    for session in (ONE, OTHER):
        assert [number for name, number in log.begun if name == session[1]] == [
            number for number, (which, _) in enumerate(wanted) if which == session
        ]
    assert not log.turns.is_any
