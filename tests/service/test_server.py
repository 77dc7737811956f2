"""The recorder as a process: what reaches it is recorded, whatever happens to it."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from tallystick.agents.hooks import Reply
from tallystick.ask.coverage import coverage_of
from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.errors import TallystickError
from tallystick.hook import VERSION
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.delivery import Delivery
from tallystick.live.hook_pipeline import Done, HookPipeline, Then
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Ref, SessionKind
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tallystick.service.server import Chores, Server
from tallystick.service.spool import read_unfinished
from tallystick.service.start import run
from tallystick.service.wire import read_header
from tallystick.trust.verify import verify_store
from tallystick.workspace.index_live import index_sessions
from tests.service.conftest import Deliver, pre_tool_use
from tests.support import hooks, recorders
from tests.support.shown import shown


def steps(home: Home, agent: str = "claude-code") -> list[Recorded]:
    """All steps of the sessions of an agent, as they stand on disk."""
    found = []
    for sid, _ in home.sessions():
        session = list(read_session(home, sid))
        if session and session[0].meta.get("agent") == agent:
            found += session
    return found


def calls(home: Home) -> list[str]:
    return [str(step.meta["corr"]) for step in steps(home) if step.type == "tool_call"]


def test_the_first_hook_starts_the_recorder_and_is_recorded(home: Home, deliver: Deliver) -> None:
    done = deliver(pre_tool_use(1))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    wait_for(lambda: recorder.status(home.folder) is not None)
    wait_for(lambda: calls(home) == ["toolu_0001"])  # on a busy machine it waits in the spool for a moment


def test_the_recorder_tells_which_sessions_are_live(home: Home, deliver: Deliver) -> None:
    assert recorder.working(home.folder) == []
    recorders.start(home.folder)
    numbers = itertools.count()

    def live() -> list[dict[str, str]]:
        deliver(pre_tool_use(next(numbers)))  # on a busy machine the first ones wait in the spool
        return recorder.working(home.folder)

    wait_for(live, 30.0)
    session = pre_tool_use()["session_id"]
    assert live() == [{"agent": "claude-code", "session": session, "folder": "/home/dev/project"}]


class Slow:
    """Live, as far as a server needs it for one delivery; its disk takes a while."""

    def __init__(self, seconds: float) -> None:
        self.events: list[str] = []
        self.changes = 0
        self._seconds = seconds

    def begin(self, delivery: Delivery, then: Then) -> None:
        self.events.append("recorded")
        then(Done(Reply(stdout=b"{}"), partial(time.sleep, self._seconds)))

    def settled(self, settle: Callable[[], None]) -> None:
        settle()
        self.events.append("on disk")


@pytest.mark.parametrize("seconds", [0.0, 0.01], ids=["quick disk", "slow disk"])
def test_no_answer_is_given_before_what_it_waits_for_is_on_disk(home: Home, seconds: float) -> None:
    """However the disk is waited for: by the thread that answers where it is quick, by another where it is not."""
    live = Slow(seconds)
    none = cast("Any", None)
    nothing = Chores(none, none, none, warm=lambda: None, http=False)
    server = Server(Place(home.folder), cast("HookPipeline", live), nothing, idle_seconds=60)
    header = read_header(b"TALLY1 2 claude-code - %s 1 1.1 -\n" % VERSION.encode())

    async def delivered() -> bytes | None:
        answered: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()

        def answer(said: bytes | None) -> None:
            live.events.append("answered")
            answered.set_result(said)

        server.deliver(header, b"{}", answer)
        return await answered

    async def test() -> None:
        for _ in range(40):
            assert await delivered() == b"0 2 0\n{}"
            assert await server.take(header.delivery(b"{}")) == Reply(stdout=b"{}")
            live.events.append("answered")

    asyncio.run(test())
    assert live.events == ["recorded", "on disk", "answered"] * 80


_FAULTY = """
import sys
from tallystick.service import parts, start
from tallystick.service.server import Server

def fail(*_):
    raise RuntimeError("dictionary changed size during iteration")

parts._warm = fail
Server._take_spooled = fail
sys.exit(start.run(sys.argv[1]))
"""


def test_a_fault_before_the_first_call_does_not_end_the_recorder(home: Home, deliver: Deliver) -> None:
    """Whatever is loaded in advance or waits in the spool: hooks are answered, and `status` names the fault."""
    with subprocess.Popen([sys.executable, "-P", "-c", _FAULTY, str(home.folder)]) as process:
        try:
            wait_for(
                lambda: "loading before the first call" in str((recorder.status(home.folder) or {}).get("last_error"))
            )
            done = deliver(pre_tool_use(1, command="git status"))
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
            wait_for(lambda: calls(home) == ["toolu_0001"])
            assert process.poll() is None
        finally:
            process.terminate()


def test_a_family_of_continuations_does_not_end_the_recorder(home: Home, deliver: Deliver) -> None:
    """Twenty sessions, each the continuation of the one before; most of their journals are of a month that is long over."""
    init_store(home)
    writer = SessionWriter(home)
    old = home.journals / "2001" / "01"
    old.mkdir(parents=True)
    (home.journals / "2002").mkdir()
    for number in range(20):
        kind, above = (
            (SessionKind.CONTINUATION, Ref(session=f"own-id-{number - 1}")) if number else (SessionKind.ROOT, None)
        )
        writer.open(Opening(session=f"own-id-{number}", agent="claude-code", kind=kind, parent=above))
    writer.close()
    index_sessions(home, sorted(home.session_ids()))
    for _, path in home.sessions():
        name = str(next(read_session(home, path.stem)).member("source_session"))
        if name in ("own-id-18", "own-id-19"):
            os.utime(path, (100 - int(name[-2:]),) * 2)  # the last is read before the one that it goes on from
        else:
            path.rename(old / path.name)
    pid = recorders.start(home.folder)
    wait_for(lambda: (recorder.status(home.folder) or {}).get("port"))
    done = deliver({**pre_tool_use(1, command="git status"), "session_id": "own-id-19"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (recorder.status(home.folder) or {})["pid"] == pid


def test_there_is_one_recorder_however_many_hooks_start_one_at_once(home: Home, deliver: Deliver) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as threads:
        done = list(threads.map(lambda number: deliver(pre_tool_use(number)), range(3)))
    assert [item.returncode for item in done] == [0] * 3
    recorders.start(home.folder)
    wait_for(lambda: len(calls(home)) == 3)
    assert sorted(calls(home)) == [f"toolu_{number:04}" for number in range(3)]
    assert verify_store(home).exit_code in (0, 3)


def wait_for(true: object, seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():  # type: ignore[operator]
            return
        time.sleep(0.02)
    raise AssertionError("it did not become true in time")


def test_a_killed_recorder_loses_nothing_that_it_acknowledged(home: Home, deliver: Deliver) -> None:
    for number in range(12):
        running = recorders.start(home.folder)
        assert deliver(pre_tool_use(number)).returncode == 0
        if number % 4 == 3:
            os.kill(running, signal.SIGKILL)
    recorders.start(home.folder)
    wait_for(lambda: len(calls(home)) == 12)
    assert sorted(calls(home)) == [f"toolu_{number:04}" for number in range(12)]
    recorder.stop(home.folder)
    assert verify_store(home).exit_code in (0, 3)


def test_a_hanging_recorder_does_not_make_the_agent_hang(home: Home, deliver: Deliver) -> None:
    running = recorders.start(home.folder)
    os.kill(running, signal.SIGSTOP)
    try:
        done = deliver(pre_tool_use(1), limits=hooks.HASTY)  # it ends while the recorder hangs
    finally:
        os.kill(running, signal.SIGCONT)
    assert done.returncode == 0
    wait_for(lambda: calls(home) == ["toolu_0001"])
    wait_for(lambda: not list(Place(home.folder).spool.iterdir()))


@pytest.mark.soak  # test_survival.py removes it too, and all else that is there
def test_a_removed_socket_is_made_anew_by_the_next_hook(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    deliver(pre_tool_use(1))
    Place(home.folder).socket.unlink()
    for number in (2, 3):
        assert deliver(pre_tool_use(number)).returncode == 0
    recorders.start(home.folder)
    wait_for(lambda: len(calls(home)) == 3)


@pytest.mark.parametrize(
    "payload",
    [
        b"{",
        b"[]",
        b"null",
        b'{"hook_event_name": "PreToolUse"}',
        b"\xff\xfe\x00",
        b'{"session_id": 1}',
        b"[" * 100_000,
    ],
    ids=["half", "list", "null", "no-session", "binary", "wrong-type", "deep"],
)
def test_a_payload_that_is_none_may_be_a_question_and_leaves_a_gap(
    home: Home, deliver: Deliver, payload: bytes
) -> None:
    recorders.start(home.folder)
    done = deliver(payload)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "ask"
    gaps = [step for step in steps(home, "tallystick") if step.type == "gap"]
    assert [step.meta["reason"] for step in gaps] == ["bad-payload"]


def test_a_hook_that_is_told_nothing_says_and_leaves_nothing(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    done = deliver(b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert steps(home, "tallystick") == []


@pytest.mark.parametrize("megabytes", [5, pytest.param(50, marks=pytest.mark.soak)])
def test_a_payload_of_many_megabytes_is_recorded_whole(home: Home, deliver: Deliver, megabytes: int) -> None:
    text = "x" * (megabytes << 20)
    recorders.start(home.folder)
    done = deliver(pre_tool_use(1, tool="Write", file_path="/p/big", content=text))
    assert done.returncode == 0
    wait_for(lambda: calls(home) == ["toolu_0001"], 30)
    call = next(step for step in steps(home) if step.type == "tool_call")
    assert "content.args" in call.unloaded or len(shown(call.values["content.args"])["content"]) == megabytes << 20


def test_one_delivery_that_comes_twice_is_recorded_once(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    for _ in range(2):
        deliver(pre_tool_use(1))
    assert calls(home) == ["toolu_0001"]


def test_nonsense_on_the_socket_harms_nobody(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    for words in (
        b"\0" * 10_000,
        b"GET / HTTP/1.1\r\n\r\n",
        b"TALLY1 99999999999 a b c 1 d e\n",
        b"TALLY1 5 a - v 1 i -\nab",
        b"",
    ):
        say(home, words)
    assert deliver(pre_tool_use(1)).returncode == 0
    assert calls(home) == ["toolu_0001"]


def say(home: Home, words: bytes) -> None:
    folder = os.open(Place(home.folder).run, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(f"/proc/self/fd/{folder}/recorder.sock")
            connection.sendall(words)
    finally:
        os.close(folder)


def test_another_version_ends_the_recorder_after_its_answer(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    deliver(pre_tool_use(1))
    data = json.dumps(pre_tool_use(2)).encode()
    say(home, b"TALLY1 %d claude-code - 99.0 %d 1.1 -\n" % (len(data), time.time_ns()) + data)
    wait_for(lambda: Place(home.folder).owner() is None)
    assert calls(home) == ["toolu_0001", "toolu_0002"]
    assert VERSION != "99.0"


def test_a_clock_that_jumps_back_stops_nothing(home: Home, deliver: Deliver) -> None:
    data = json.dumps(pre_tool_use(2)).encode()
    recorders.start(home.folder)
    say(home, b"TALLY1 %d claude-code - %s 1000 1.1 -\n" % (len(data), VERSION.encode()) + data)
    wait_for(lambda: len(calls(home)) == 1)
    assert deliver(pre_tool_use(3)).returncode == 0
    assert calls(home) == ["toolu_0002", "toolu_0003"]


def test_a_store_that_cannot_be_written_leaves_the_agent_alone_and_a_gap_behind(
    home: Home, deliver: Deliver, tmp_path: Path
) -> None:
    running = recorders.start(home.folder)
    deliver(pre_tool_use(1))
    limited = tmp_path / "limit"
    import resource

    resource.prlimit(running, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        done = deliver(pre_tool_use(2))
        assert (done.returncode, done.stdout) == (0, b"")
    finally:
        resource.prlimit(running, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert not limited.exists()
    deliver(pre_tool_use(3))
    wait_for(lambda: "toolu_0003" in calls(home))
    assert [step.meta["reason"] for step in steps(home, "tallystick") if step.type == "gap"] == ["not-writable"]


def test_a_recorder_says_what_it_did(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    deliver(pre_tool_use(1))
    found = recorder.status(home.folder)
    assert found is not None
    assert found["deliveries"] == 1
    assert found["decisions"] == {"allow": 1}
    assert found["version"] == VERSION


def test_a_call_that_was_refused_is_marked(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    done = deliver(pre_tool_use(1, command="rm -rf / --no-preserve-root"))
    assert b'"permissionDecision"' in done.stdout  # denied, or asked about where the machine is slow
    wait_for(lambda: any(step.meta.get("trigger") == "policy_applied" for step in steps(home, "claude-code")))
    decided = next(step for step in steps(home, "claude-code") if step.type == "decision")
    mark = next(step for step in steps(home, "claude-code") if step.meta.get("trigger") == "policy_applied")
    assert (mark.meta["position"], mark.meta["position_hash"]) == (decided.n, decided.hash)
    found = recorder.status(home.folder)
    assert found is not None
    assert found["checkpoints"] == {"made": 1, "refused": 0, "failed": 0}


def test_a_recorder_waits_for_one_that_is_ending(home: Home) -> None:
    """A hook that comes in between would otherwise start one that ends at once, and wait in the spool for the next."""
    import threading

    place = Place(home.folder)
    claim = place.claim()
    assert claim is not None
    threading.Timer(0.5, place.leave, [claim]).start()
    recorder.start(home.folder)
    assert place.owner() is not None


def test_an_idle_recorder_ends_by_itself(home: Home, tmp_path: Path) -> None:
    assert run(home.folder, idle_seconds=0.0) == 0
    assert recorder.status(home.folder) is None


def test_stopping_closes_the_sessions_that_the_agent_has_ended(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    deliver(pre_tool_use(1))
    deliver({"session_id": pre_tool_use()["session_id"], "hook_event_name": "SessionEnd", "reason": "other"})
    assert recorder.stop(home.folder)
    assert [step.type for step in steps(home)][-1] == "session_end"
    assert not recorder.stop(home.folder)


@pytest.mark.skipif(sys.platform != "linux", reason="only there the process at the other end is known")
def test_a_session_whose_agent_is_killed_has_failed(home: Home) -> None:
    recorders.start(home.folder)
    words = [sys.executable, "-I", "-S", str(hooks.hook()), "--home", str(home.folder), "claude-code"]
    payload = json.dumps(pre_tool_use(1))
    agent = f"import subprocess, time; subprocess.run({words!r}, input={payload!r}.encode()); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", agent], env={"HOME": str(home.folder.parent)}) as process:
        wait_for(lambda: calls(home) == ["toolu_0001"])
        process.kill()
    wait_for(lambda: steps(home)[-1].type == "session_end")
    assert (steps(home)[-1].meta["status"], steps(home)[-1].meta["reason"]) == ("failed", "agent-gone")
    wait_for(
        lambda: read_unfinished(Place(home.folder).unfinished) == []
    )  # none, if all was over before the first writing


def test_a_session_that_has_ended_is_compared_with_its_transcript(home: Home, deliver: Deliver, tmp_path: Path) -> None:
    file = tmp_path / "project" / "61cacf39-0bfe-4715-9688-4dec476ed256.jsonl"
    file.parent.mkdir()
    told = {"type": "user", "uuid": "u", "sessionId": file.stem, "message": {"role": "user", "content": "go on"}}
    file.write_text(json.dumps(told) + "\n")
    recorders.start(home.folder)
    said = {**pre_tool_use(1), "transcript_path": str(file)}
    deliver(said)
    deliver({**said, "hook_event_name": "SessionEnd", "reason": "other"})
    wait_for(lambda: any(step.meta.get("about") == "shadow" for step in steps(home)))
    wait_for(lambda: (recorder.status(home.folder) or {})["shadower"] == {"pid": None, "waiting": 0, "problem": None})
    [row] = coverage_of(home, steps(home)[0].session).differences
    assert (row.difference.aspect, row.difference.step, row.difference.transcript) == ("call", "toolu_0001", None)
    assert steps(home)[-1].type == "session_end"


def test_a_recorder_that_cannot_start_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(TallystickError):
        run(tmp_path / "store")


def configured(home: Home) -> list[Recorded]:
    """What sessions tell of their configuration."""
    return [step for step in steps(home) if "config_fingerprint" in step.meta]


def test_what_a_session_runs_under_is_recorded_and_so_is_a_change(
    home: Home, deliver: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = home.folder.parent
    monkeypatch.setenv("HOME", str(user))
    recorders.start(home.folder)
    project = user / "project"
    (project / ".git").mkdir(parents=True)
    (project / "CLAUDE.md").write_text("be brief")
    other = home.folder.parent / "other"
    assert deliver({**pre_tool_use(1), "cwd": str(project)}, CODEX_HOME="/x", HOME=str(other)).returncode == 0
    deliver({**pre_tool_use(2), "cwd": str(project)}, CODEX_HOME="/x", HOME=str(other))
    wait_for(lambda: configured(home))
    mark = configured(home)[0]
    assert mark.values["personal.home"] == str(other), "of the process of the hook, which is not the recorder's"
    assert (mark.type, mark.meta["trigger"]) == ("checkpoint", "session_start")
    inputs = shown(mark.values["content.configuration"])
    assert "project:CLAUDE.md" in [item["name"] for item in inputs["instructions"]]
    assert [item["name"] for item in inputs["permissions"]] == ["mode"]
    assert {"CODEX_HOME"} <= {item["name"] for item in inputs.get("environment", [{"name": "CODEX_HOME"}])}
    (project / "CLAUDE.md").write_text("be very brief")
    wait_for(lambda: [step for step in configured(home) if step.type == "config_change"])
    change = next(step for step in configured(home) if step.type == "config_change")
    assert change.values["content.text"] == "instructions: project:CLAUDE.md changed"
    assert change.meta["config_before"] == mark.meta["config_fingerprint"]
    recorder.stop(home.folder)
    assert verify_store(home).exit_code in (0, 3)


def test_an_output_in_which_secrets_cannot_be_looked_for_is_not_recorded_and_says_so(
    home: Home, deliver: Deliver
) -> None:
    """Five megabytes of `cookie: ` took the recorder more than a hundred seconds, and no other session had an answer.

    One word again and again is no trouble any more; here no two places are alike.
    """
    recorders.start(home.folder)
    text = "".join(f"cookie: token: {number} " for number in range(250_000))
    flood = {**pre_tool_use(1), "hook_event_name": "PostToolUse", "tool_response": {"stdout": text}}
    assert deliver(pre_tool_use(1)).returncode == 0
    assert deliver(flood).returncode == 0
    assert deliver({**pre_tool_use(2), "session_id": "another"}).returncode == 0
    wait_for(lambda: [step for step in steps(home) if step.type == "tool_result"] and len(calls(home)) == 2)
    result = next(step for step in steps(home) if step.type == "tool_result")
    assert result.meta["unsearched"] == 1
    assert [value for value in result.values.values() if str(value).startswith("\x10tally:unsearched:")]
