"""Calls are judged in a process of their own: whatever becomes of that one, each call is answered and all is recorded."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tallystick.capture import recorder
from tallystick.guard.fallback_decision import UNDECIDED
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json, Step
from tallystick.policy.alert import DISAGREEMENT
from tallystick.service import deciders
from tallystick.service.deciders import Deciders
from tallystick.service.frames import Question, written_question
from tallystick.service.template import Template
from tests.service.faults import before, send, steps, wait_for
from tests.support import recorders
from tests.support.working import Work

HARMFUL = "rm -rf ~/"
_NOBODY = 0x7FFFFFFF
"""No process has this id."""


def decider_of(home: Home) -> int:
    """The process id of the decider, once there is one."""
    found: list[int] = []

    def is_there() -> bool:
        said = recorder.status(home.folder)
        if said is not None and said["decider"]["pid"] is not None:
            found.append(int(said["decider"]["pid"]))
        return bool(found)

    wait_for(is_there)
    return found[-1]


def replaced(home: Home) -> int:
    said = recorder.status(home.folder)
    assert said is not None
    return int(said["decider"]["replaced"])


def open_connections(home: Home) -> int:
    """That of who asks among them."""
    said = recorder.status(home.folder)
    return int(said["open_connections"]) if said is not None else 0


def told(home: Home, number: int, command: str = HARMFUL, **members: Any) -> bytes:
    return send(home, {**before("claude-code", number, command=command), **members})


def test_a_call_is_judged_in_another_process(home: Home) -> None:
    front = recorders.start(home.folder)
    assert b"deny" in told(home, 1)
    assert decider_of(home) not in (front, os.getpid())


def test_a_decider_that_is_killed_is_replaced(home: Home) -> None:
    recorders.start(home.folder)
    assert b"deny" in told(home, 1)
    for number in range(2, 5):
        os.kill(decider_of(home), signal.SIGKILL)
        assert b"deny" in told(home, number)
    assert replaced(home) == 3


def test_while_the_decider_hangs_no_other_session_waits_and_a_call_with_effects_is_not_let_through(home: Home) -> None:
    recorders.start(home.folder)
    assert b"deny" in told(home, 1)
    pid = decider_of(home)
    prompt = {"session_id": "another", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "hello"}
    os.kill(pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(1) as beside:
            waiting = beside.submit(told, home, 2)
            wait_for(lambda: open_connections(home) > 1 or waiting.done())
            assert send(home, prompt) == b"0 0 0\n"
            assert send(home, before("claude-code", 3, reads=True) | {"session_id": "third"}) == b"0 0 0\n"
            assert b"could not decide" in waiting.result()
    finally:
        with contextlib.suppress(ProcessLookupError):  # on a busy machine it was replaced meanwhile
            os.kill(pid, signal.SIGCONT)
    assert b"deny" in told(home, 4)
    assert [step.meta["rules"] for step in steps(home) if step.type == "decision"][1] == [UNDECIDED]


def test_both_may_be_killed(home: Home) -> None:
    """The process that makes deciders, too: another one is started."""
    front = recorders.start(home.folder)
    assert b"deny" in told(home, 1)
    for pid in (*children(front), decider_of(home)):
        os.kill(pid, signal.SIGKILL)
    assert b"deny" in told(home, 2)


def children(pid: int) -> list[int]:
    said = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(word) for word in said.split()]


def test_they_end_with_the_recorder(home: Home) -> None:
    front = recorders.start(home.folder)
    assert b"deny" in told(home, 1)
    theirs = [*children(front), decider_of(home)]
    assert len(theirs) == 2
    os.kill(front, signal.SIGKILL)
    wait_for(lambda: not any(map(is_alive, theirs)))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# In this process ------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    Archive.make(home)
    return home


def play(home: Home, script: Callable[[Deciders], Awaitable[None]]) -> None:
    """Run a script with deciders whose template is gone at first."""

    async def run() -> None:
        ours, theirs = socket.socketpair()
        theirs.close()
        asked = Deciders(home, Template(_NOBODY, ours))
        try:
            await script(asked)
        finally:
            await asked.close()

    asyncio.run(run())


def test_one_that_will_not_end_is_replaced_and_the_calls_behind_it_are_judged(
    store: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciders, "_PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(deciders, "_OVERRUN_SECONDS", 60.0)
    said: list[Decision] = []

    async def script(ours: Deciders) -> None:
        ours.decide(call(HARMFUL), said.append)
        await until(lambda: len(said) == 1 and ours.pid is not None)
        await asyncio.sleep(0.5)  # the record is read
        pid = ours.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        with monkeypatch.context() as impatient:
            impatient.setattr(deciders, "_PATIENCE_SECONDS", 0.2)
            ours.decide(call(HARMFUL), said.append)
        monkeypatch.setattr(deciders, "_OVERRUN_SECONDS", 0.6)
        await until(lambda: len(said) == 2 and ours.pid not in (None, pid))
        monkeypatch.setattr(deciders, "_OVERRUN_SECONDS", 60.0)
        ours.decide(call(HARMFUL), said.append)
        await until(lambda: len(said) == 3)
        assert not is_alive(pid)
        assert ours.replaced == 1
        assert [decision.rules == (UNDECIDED,) for decision in said] == [False, True, False]

    play(store, script)
    assert [one.effect for one in said] == [Effect.DENY, Effect.ASK, Effect.DENY]


def test_what_was_given_up_while_it_waited_costs_a_decider_no_time(
    store: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a burst that no decider could bear, the next call is judged at once, not after all that no one waits for."""
    monkeypatch.setattr(deciders, "_PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(deciders, "_OVERRUN_SECONDS", 60.0)
    said: list[Decision] = []
    sent: list[int] = []

    def written(question: Question) -> bytes:
        sent.append(question.number)
        return written_question(question)

    monkeypatch.setattr(deciders, "written_question", written)

    async def script(ours: Deciders) -> None:
        ours.decide(call(HARMFUL), said.append)
        await until(lambda: len(said) == 1 and ours.pid is not None)
        assert ours.pid is not None
        os.kill(ours.pid, signal.SIGSTOP)
        with monkeypatch.context() as impatient:
            impatient.setattr(deciders, "_PATIENCE_SECONDS", 0.2)
            for _ in range(100):
                ours.decide(call(HARMFUL), said.append)
        await until(lambda: len(said) == 101)
        os.kill(ours.pid, signal.SIGCONT)
        ours.decide(call(HARMFUL), said.append)
        await until(lambda: len(said) == 102)

    play(store, script)
    assert [one.effect for one in said] == [Effect.DENY, *[Effect.ASK] * 100, Effect.DENY]
    assert len(sent) <= 2 + deciders._MOST_AT_DECIDER


def test_what_is_left_at_the_end_is_answered(store: Home) -> None:
    said: list[Decision] = []

    async def script(ours: Deciders) -> None:
        ours.decide(call(HARMFUL), said.append)
        ours.decide(call("ls", tool="Read", file_path="/w/a"), said.append)
        ours.look_after(call("x"), said.append)

    play(store, script)
    assert [one.effect for one in said] == [Effect.ASK, Effect.ALLOW, Effect.ALLOW]


def call(command: str, *, tool: str = "Bash", **args: Any) -> Call:
    return Call(agent="claude-code", session="s", tool=tool, args=args or {"command": command}, cwd="/w")


async def until(true: Callable[[], bool]) -> None:
    for _ in range(6000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not become true in time")


# Decisions that are made again ----------------------------------------------------------------------------------------


class OldWork(Work):
    """Sessions that worked long ago."""

    def _step(self, session: str, kind: str, name: str, meta: Mapping[str, Json], values: Mapping[str, Json]) -> Step:
        return replace(super()._step(session, kind, name, meta, values), ts="2026-01-01T00:00:00Z")


def test_an_answer_that_was_given_without_the_index_becomes_an_alert_with_both_answers(tmp_path: Path) -> None:
    with OldWork(tmp_path) as work:
        work.wrote("theirs.sh", "#!/bin/sh\necho hello\n", session="earlier")
    for _, path in work.home.sessions():
        os.utime(path, (0, 0))
    for number in range(5):  # so many that a recorder does not read the first one before it is asked
        with OldWork(tmp_path / str(number), work.home) as other:
            other.begin(f"other-{number}")
    for place in work.home.folder.glob("graph.db*"):
        place.unlink()
    recorders.start(work.home.folder)
    try:
        asks = {**before("claude-code", 1, command="sh theirs.sh"), "cwd": str(work.project)}
        assert b"deny" not in (said := send(work.home, asks))
        assert b"ask" not in said
        send(work.home, {**before("claude-code", 2, command="git status"), "cwd": str(work.project)})
        wait_for(lambda: [step for step in steps(work.home) if step.meta.get("rule") == DISAGREEMENT])
        (alert,) = [step for step in steps(work.home) if step.type == "alert"]
        text = str(alert.values["content.evidence"])
        assert [part in text for part in ('"then":{"effect":"allow"', '"now":{"effect":"ask"')] == [True, True]
        told = recorder.status(work.home.folder)
        assert told is not None
        assert told["agreement"]["different"] == 1
    finally:
        recorder.stop(work.home.folder)
