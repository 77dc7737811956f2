"""Faults at random moments while agents work: processes that are killed or stopped, a slow disk; and histories without end.

The laws are the same for each: a call that only looks is never questioned, every call that a hook has taken is recorded
once, and what is on record in the end is what a rebuild of the index shows.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.errors import TallystickError
from tallystick.hook_looks import LIST
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tallystick.trust.rebuild import rebuild
from tests.service.faults import HOOK, before, call_ids, is_sound, run_hook, send, wait_for
from tests.support import hooks, recorders

_LOOKS = "git status"
_DEADLINE_SECONDS = 2.0
_STARTING_SECONDS = 0.1
"""What an interpreter takes to start and to end: an agent's two seconds begin when the hook runs."""


class Took(NamedTuple):
    """What became of one call."""

    id: str
    seconds: float
    is_questioned: bool


class Agents:
    """Some agents at work in a project, each call with a hook of its own; every other call only looks."""

    def __init__(self, home: Home, project: Path, *, agents: int, hook: Path) -> None:
        self.looked: list[Took] = []
        self.acted: list[Took] = []
        self._home, self._project, self._hook = home, project, hook
        self._numbers = itertools.count(1)
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(f"agent-{number}",)) for number in range(agents)]

    def __enter__(self) -> Agents:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _work(self, session: str) -> None:
        while not self._is_over.is_set():
            number = next(self._numbers)
            command = _LOOKS if number % 2 else f"make test-{number}"
            said = {**before("claude-code", number, command=command), "session_id": session, "cwd": str(self._project)}
            began = time.monotonic()
            done = run_hook(self._home.folder, said, hook=self._hook)
            took = Took(
                f"call_{number:05}", time.monotonic() - began, bool(done.stdout or done.stderr or done.returncode)
            )
            (self.looked if number % 2 else self.acted).append(took)

    def assert_laws(self) -> None:
        """No harmless call questioned; all calls on record, each once, and the index as a rebuild makes it."""
        assert [took.id for took in self.looked if took.is_questioned] == []
        with contextlib.suppress(TallystickError):
            recorders.start(self._home.folder)
        wait_for(lambda: not list(Place(self._home.folder).spool.glob("*.spool")))
        recorder.stop(self._home.folder)
        wanted = sorted(took.id for took in (*self.looked, *self.acted))
        assert sorted(call_ids(self._home)) == wanted
        assert is_sound(self._home)
        done = rebuild(self._home)
        assert (done.differing, done.tables) == ((), ())

    def assert_in_time(self) -> None:
        """No answer later than an agent may have to wait."""
        late = [took for took in (*self.looked, *self.acted) if took.seconds > _DEADLINE_SECONDS + _STARTING_SECONDS]
        assert late == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def started(home: Home) -> None:
    """A recorder that has said which calls only look."""
    recorders.start(home.folder)
    wait_for((home.folder / LIST).exists)


# Killed and stopped ---------------------------------------------------------------------------------------------------


def processes(home: Home) -> list[psutil.Process]:
    """The front, its template and deciders, the indexer, the shadower: those that there are."""
    with contextlib.suppress(psutil.Error):
        owner = Place(home.folder).owner()
        if owner is not None:
            front = psutil.Process(owner)
            return [front, *front.children(recursive=True)]
    return []


def strike(home: Home, chance: random.Random, stopped: list[psutil.Process]) -> None:
    """Kill one of the processes, or stop it for a while."""
    found = processes(home)
    if not found:
        return
    victim = chance.choice(found)
    with contextlib.suppress(psutil.Error):
        if chance.random() < 0.5:
            victim.kill()
            return
        victim.suspend()
        stopped.append(victim)
    if len(stopped) > 2:
        resume(stopped.pop(0))


def resume(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.Error):
        process.resume()


def struck(home: Home, agents: Agents, chance: random.Random, rounds: int) -> None:
    """Strike at random moments while agents work, and let in the end go on what still can."""
    stopped: list[psutil.Process] = []
    with agents:
        for _ in range(rounds):
            time.sleep(chance.uniform(0.05, 1.0))
            strike(home, chance, stopped)
        for process in stopped:
            resume(process)


def test_whatever_is_killed_or_stopped_no_harmless_call_is_questioned_and_nothing_is_lost(
    home: Home, project: Path
) -> None:
    started(home)
    agents = Agents(home, project, agents=2, hook=hooks.hook(**hooks.HASTY))
    struck(home, agents, random.Random(1), rounds=6)
    agents.assert_laws()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_the_same_a_hundred_times_with_the_limits_of_agents(home: Home, project: Path, seed: int) -> None:
    started(home)
    agents = Agents(home, project, agents=3, hook=HOOK)
    struck(home, agents, random.Random(seed), rounds=100)
    agents.assert_laws()
    agents.assert_in_time()


# A slow disk ----------------------------------------------------------------------------------------------------------

_SLOW = """
import os, sys, time

def slow(name):
    real = getattr(os, name)
    def write(*words, **options):
        time.sleep(0.2)
        return real(*words, **options)
    setattr(os, name, write)

for name in ("write", "writev", "fsync", "fdatasync"):
    slow(name)
from tallystick.service import start
sys.exit(start.run(sys.argv[1]))
"""


@pytest.fixture
def on_a_slow_disk(home: Home) -> Iterator[Home]:
    """A store whose recorder takes 200 ms for each write, whatever it writes."""
    started(home)
    recorder.stop(home.folder)
    with subprocess.Popen([sys.executable, "-P", "-c", _SLOW, str(home.folder)]) as process:
        try:
            wait_for(lambda: recorder.status(home.folder) is not None)
            yield home
        finally:
            recorder.stop(home.folder)
            process.wait(60)


def test_on_a_disk_that_is_slow_no_harmless_call_is_questioned_and_nothing_is_lost(
    on_a_slow_disk: Home, project: Path
) -> None:
    agents = Agents(on_a_slow_disk, project, agents=2, hook=hooks.hook(**hooks.HASTY))
    with agents:
        wait_for(lambda: len(agents.looked) + len(agents.acted) >= 12)
    agents.assert_laws()


@pytest.mark.soak
def test_on_a_disk_that_is_slow_every_agent_is_answered_in_time(on_a_slow_disk: Home, project: Path) -> None:
    agents = Agents(on_a_slow_disk, project, agents=8, hook=HOOK)
    with agents:
        wait_for(lambda: len(agents.looked) + len(agents.acted) >= 100)
    agents.assert_laws()
    agents.assert_in_time()


# Histories without measure --------------------------------------------------------------------------------------------


def opened(home: Home, kind: SessionKind, number: int) -> None:
    """Sessions, each of which hangs on the one before."""
    init_store(home)
    with closing(SessionWriter(home)) as writer:
        writer.open(Opening(session="own-0", agent="claude-code", kind=SessionKind.ROOT))
        for one in range(1, number):
            above = Ref(session=f"own-{one - 1}")
            writer.open(Opening(session=f"own-{one}", agent="claude-code", kind=kind, parent=above))


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        (SessionKind.CHILD, 50),
        (SessionKind.CONTINUATION, 50),
        pytest.param(SessionKind.CONTINUATION, 1000, marks=pytest.mark.soak),
    ],
)
def test_calls_at_both_ends_of_a_long_family_are_judged(home: Home, kind: SessionKind, number: int) -> None:
    opened(home, kind, number)
    front = recorders.start(home.folder)
    for call, session in enumerate((f"own-{number - 1}", "own-0", f"own-{number // 2}")):
        said = {**before("claude-code", call, command=f"rm -rf {home.folder}"), "session_id": session}
        assert b'"deny"' in send(home, said)
        assert send(home, {**before("claude-code", 10 + call), "session_id": session}) == b"0 0 0\n"
    told = recorder.status(home.folder)
    assert told is not None
    assert (told["pid"], told["decider"]["replaced"]) == (front, 0)
    recorder.stop(home.folder)
    assert len(list(home.session_ids())) == number
    assert is_sound(home)


@pytest.mark.parametrize("number", [500, pytest.param(100_000, marks=pytest.mark.soak)])
def test_a_session_that_touched_many_files_goes_on(home: Home, number: int) -> None:
    init_store(home)
    with closing(SessionWriter(home)) as writer:
        writer.open(Opening(session="own", agent="claude-code", kind=SessionKind.ROOT))
        for one in range(number):
            args: dict[str, Json] = {"file_path": f"/home/dev/project/{one % 100}/{one}.py", "content": f"x = {one}\n"}
            step = Step(
                session="own", type="tool_call", source=Source.HOOK, source_id=f"t{one}", values={"content.args": args},
                meta={"tool": "Write", "corr": f"t{one}", "folder": "/home/dev/project"},
            )  # fmt: skip
            writer.add("claude-code", step)
    recorders.start(home.folder)
    for call in range(5):
        said = {**before("claude-code", call, command=f"python3 {call}/{call}.py"), "session_id": "own"}
        assert send(home, said).startswith(b"0 0 0\n")
    assert b'"deny"' in send(home, {**before("claude-code", 9, command=f"rm -rf {home.folder}"), "session_id": "own"})
    recorder.stop(home.folder)
    assert set(call_ids(home)) >= {f"call_{call:05}" for call in range(5)}
    assert is_sound(home)


# Journals of a newer version ------------------------------------------------------------------------------------------


def test_journals_that_a_newer_version_wrote_hold_up_nobody(home: Home) -> None:
    """They are left as they are; sessions of this version are recorded and indexed beside them."""
    recorders.start(home.folder)
    for number in range(1, 4):
        assert send(home, {**before("claude-code", number), "session_id": f"s{number}"}) == b"0 0 0\n"
    recorder.stop(home.folder)
    newer = sorted(path for _, path in home.sessions())[0]
    data = newer.read_bytes().replace(b'"v":1', b'"v":2')
    newer.write_bytes(data)
    for graph in home.folder.glob("graph.db*"):
        graph.unlink()
    recorders.start(home.folder)
    for number in range(4, 10):
        assert send(home, {**before("claude-code", number), "session_id": f"s{number % 3 + 1}"}) == b"0 0 0\n"
    assert newer.stat().st_size == len(data)
    wait_for(lambda: (recorder.status(home.folder) or {"indexer": {"waiting": 1}})["indexer"]["waiting"] == 0)
    assert newer.read_bytes() == data
