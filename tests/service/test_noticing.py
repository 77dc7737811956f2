"""What nobody told of is noticed: processes in the recorder's place, deliveries that they took, and what was removed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.capture.receipts import Deliveries
from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.model.recorded import Recorded
from tallystick.setup.doctor import examine
from tallystick.setup.install import install
from tallystick.setup.status import store_status
from tests.service.faults import before, gaps, prompt, run_hook, steps, wait_for, wait_for_calls
from tests.support import hooks, recorders

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell who listens")

_SQUATTER = """
import fcntl, os, socket, sys
if sys.argv[1] == "as-recorder":
    lock = open("recorder.lock", "ab")
    fcntl.flock(lock, fcntl.LOCK_EX)
    open("recorder.pid", "w").write(f"{os.getpid()}\\n")
if os.path.exists("recorder.sock"):
    os.unlink("recorder.sock")
server = socket.socket(socket.AF_UNIX)
server.bind("recorder.sock")
server.listen(64)
print(flush=True)
while True:
    connection, _ = server.accept()
    said = connection.recv(1 << 20)
    if b"TALLY1 status" not in said and said:
        print(len(said), flush=True)
        connection.sendall(b"0 0 0 " + b"f" * 32 + b"\\n" if sys.argv[2] == "lies" else b"0 0 0\\n")
    connection.close()
"""


@contextlib.contextmanager
def squatter(home: Home, place: str = "beside", answer: str = "plain") -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens on the recorder's socket, says "allow" to all, and prints a line for each that spoke to it."""
    run = Place(home.folder).run
    words = [sys.executable, "-I", "-S", "-c", _SQUATTER, place, answer]
    process = subprocess.Popen(words, cwd=run, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def heard_by(process: subprocess.Popen[bytes]) -> int:
    """How many spoke to a squatter, which is ended."""
    process.kill()
    assert process.stdout is not None
    return len(process.stdout.read().splitlines())


def alerts(home: Home, rule: str) -> list[Recorded]:
    return [step for step in steps(home, "tallystick") if step.meta.get("rule") == rule]


def harmful(home: Home, number: int = 1) -> dict[str, object]:
    return before("claude-code", number, command=f"rm -rf {home.folder}")


def ended(home: Home) -> Home:
    """A store whose recorder was there and is not any more."""
    recorders.start(home.folder)
    recorder.stop(home.folder)
    return home


def killed(home: Home, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not Place(home.folder).is_claimed)


# Who listens in the recorder's place ----------------------------------------------------------------------------------


def test_a_stranger_on_the_socket_is_told_nothing_and_the_recorder_that_is_started_says_who_it_was(home: Home) -> None:
    with squatter(ended(home)) as stranger:
        told = run_hook(home.folder, harmful(home))
        assert told.returncode == 2 or b'"permissionDecision"' in told.stdout, told
        wait_for_calls(home, 1)
        wait_for(lambda: alerts(home, "tally.tampering"))
        assert heard_by(stranger) == 0
    said = {alert.text("content.text") for alert in alerts(home, "tally.tampering")}
    assert said == {f"process {stranger.pid} listened on the recorder's socket and is not the recorder"}


def test_a_stranger_that_takes_the_socket_of_a_recorder_at_work_is_told_nothing(home: Home) -> None:
    running = recorders.start(home.folder)
    with squatter(home) as stranger:
        told = run_hook(home.folder, harmful(home))
        assert told.returncode == 2 or b'"permissionDecision"' in told.stdout, told
        wait_for(lambda: not Path(f"/proc/{running}").exists() or Place(home.folder).owner() != running)
        recorders.start(home.folder)
        wait_for_calls(home, 1)
        wait_for(lambda: alerts(home, "tally.tampering"))
        assert heard_by(stranger) == 0


def test_a_recorder_that_had_no_room_for_its_pid_is_known_by_its_lock(home: Home) -> None:
    recorders.start(home.folder)
    Place(home.folder).pid.write_bytes(b"")
    assert run_hook(home.folder, harmful(home)).stdout
    wait_for_calls(home, 1)
    assert alerts(home, "tally.tampering") == []
    assert list(Place(home.folder).spool.iterdir()) == []


def test_nonsense_in_the_file_of_the_pid_or_in_an_answer_is_no_leave(home: Home) -> None:
    with squatter(ended(home)) as stranger:
        Place(home.folder).pid.write_bytes(b"\xff not a number")
        told = run_hook(home.folder, harmful(home), hook=hooks.hook(**hooks.HASTY))
        assert told.returncode == 2 or told.stdout, told
        assert heard_by(stranger) == 0


# What hooks delivered and no one recorded -----------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["plain", "lies"])
def test_what_a_stranger_took_is_told_by_the_next_recorder(home: Home, answer: str) -> None:
    """It has the lock and says that it is the recorder, so hooks believe it."""
    with squatter(ended(home), "as-recorder", answer) as stranger, ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda number: run_hook(home.folder, harmful(home, number)), range(5)))
        assert [each.returncode for each in told] == [0] * 5
        assert heard_by(stranger) == 5
    recorders.start(home.folder)
    wait_for(lambda: alerts(home, "tally.unrecorded"))
    [alert], [gap] = (
        alerts(home, "tally.unrecorded"),
        [step for step in steps(home, "tallystick") if step.type == "gap"],
    )
    assert json.loads(str(alert.text("content.evidence"))) == {"agents": ["claude-code"], "events": 5}
    assert str(alert.text("content.text")).startswith("5 deliveries that no one recorded")
    assert (gap.meta["reason"], gap.meta["events"]) == ("unrecorded", 5)
    assert str(gap.meta["since"]) <= str(gap.meta["until"])


def test_it_is_told_once(home: Home) -> None:
    with squatter(ended(home), "as-recorder"):
        run_hook(home.folder, prompt("claude-code", 1))
    for _ in range(2):
        recorders.start(home.folder)
        wait_for(lambda: gaps(home) == ["unrecorded"])
        recorder.stop(home.folder)
    look = Deliveries(Place(home.folder).run, Place(home.folder).spool, bytes.fromhex(home.spool_key.read_text()))
    look.begin()
    assert look.look() is None


def test_what_a_killed_recorder_answered_is_recorded_and_not_missed(home: Home) -> None:
    running = recorders.start(home.folder)
    for number in range(3):
        run_hook(home.folder, before("claude-code", number))
    killed(home, running)
    run_hook(home.folder, before("claude-code", 3))
    recorders.start(home.folder)
    wait_for(lambda: alerts(home, "tally.killed"))
    wait_for_calls(home, 0, 1, 2, 3)
    recorder.stop(home.folder)
    assert len(Place(home.folder).deliveries.read_bytes().splitlines()) >= 4
    assert gaps(home) == []


def test_what_was_kept_and_taken_away_is_missed_and_what_was_read_is_not(home: Home) -> None:
    place = Place(ended(home).folder)
    hasty = hooks.hook(answer=0.1, start=0.0, deadline=0.0)
    place.socket.mkdir()  # so that no recorder starts
    for number in (1, 2):
        run_hook(home.folder, before("claude-code", number), hook=hasty)
    removed, kept = sorted(place.spool.glob("*.spool"))
    removed.unlink()
    wait_for(lambda: not place.is_claimed)
    place.socket.rmdir()
    recorders.start(home.folder)
    wait_for(lambda: not kept.exists())
    wait_for(lambda: alerts(home, "tally.unrecorded"))
    [gap] = [step for step in steps(home, "tallystick") if step.type == "gap"]
    assert (gap.meta["reason"], gap.meta["events"]) == ("unrecorded", 1)


def test_hooks_of_a_store_without_the_file_note_nothing(home: Home) -> None:
    recorders.start(home.folder)
    Place(home.folder).deliveries.unlink()
    assert run_hook(home.folder, before("claude-code", 1)).returncode == 0
    wait_for(lambda: alerts(home, "tally.tampering"))  # that it was removed
    assert Place(home.folder).deliveries.exists()
    assert gaps(home) == []


# Agents that are not heard --------------------------------------------------------------------------------------------


@pytest.fixture
def user(tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user with Claude Code, which calls our hook; the recorder is of this user."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "user" / ".claude" / "projects" / "-home-dev").mkdir(parents=True)
    install(home, "claude-code", Surroundings(user=tmp_path / "user"))
    return tmp_path / "user"


def session_start(session: str) -> dict[str, object]:
    return {"session_id": session, "cwd": "/home/dev/project", "hook_event_name": "SessionStart", "source": "startup"}


def shown(home: Home, session: str) -> str:
    """What Claude Code shows its user at the start of a session."""
    out = run_hook(home.folder, session_start(session)).stdout
    return str(json.loads(out)["systemMessage"]) if out else ""


def transcript(user: Path, session: str) -> Path:
    return user / ".claude" / "projects" / "-home-dev" / f"{session}.jsonl"


def write(path: Path, session: str, text: str = "hi") -> None:
    """Append a line as Claude Code does."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    said = {
        "type": "user",
        "sessionId": session,
        "timestamp": at,
        "uuid": text,
        "message": {"role": "user", "content": text},
    }
    with path.open("a") as file:
        file.write(json.dumps(said) + "\n")


def test_hooks_that_are_taken_out_of_the_settings_are_noticed_and_told_everywhere(home: Home, user: Path) -> None:
    settings, where = user / ".claude" / "settings.json", Surroundings(user=user)
    recorders.start(home.folder)
    run_hook(home.folder, session_start("before"))
    said = json.loads(settings.read_bytes())
    settings.write_text(json.dumps({**said, "hooks": {}}))
    wait_for(lambda: alerts(home, "tally.unhooked"))
    text = f"the hooks of claude-code are gone from {settings}"
    assert [alert.text("content.text") for alert in alerts(home, "tally.unhooked")] == [text]
    assert store_status(home).silences == (text,)
    assert text in [check.found for check in examine(home, where) if check.name == "noticed"]
    assert text in shown(home, "after")
    assert shown(home, "later") == "", "once"
    settings.write_text(json.dumps(said))
    wait_for(lambda: store_status(home).silences == ())
    assert len(alerts(home, "tally.unhooked")) == 1


def test_a_session_that_grows_without_a_word_of_a_hook_is_noticed_and_one_that_is_heard_is_not(
    home: Home, user: Path
) -> None:
    heard, unheard = (f"{number}1cacf39-0bfe-4715-9688-4dec476ed256" for number in (1, 2))
    recorders.start(home.folder)
    run_hook(home.folder, {**session_start(heard), "transcript_path": str(transcript(user, heard))})
    for session in (heard, unheard):
        write(transcript(user, session), session)
    below = transcript(user, heard).with_suffix("") / "subagents"
    below.mkdir(parents=True)
    write(below / "agent-a1.jsonl", heard)
    write(transcript(user, "agent-a2"), heard)  # as versions of before named the files of sub-agents
    wait_for(lambda: alerts(home, "tally.unheard"))
    [alert] = alerts(home, "tally.unheard")
    text = f"claude-code works in a session of which no hook speaks: {transcript(user, unheard)}"
    assert alert.text("content.text") == text
    assert store_status(home).silences == (text,)
    assert text in shown(home, heard)


def test_what_a_killed_recorder_missed_is_shown_at_the_start_of_the_next_session(home: Home, user: Path) -> None:
    killed(home, recorders.start(home.folder))
    with squatter(home, "as-recorder"):
        run_hook(home.folder, prompt("claude-code", 1))
    recorders.start(home.folder)
    wait_for(lambda: alerts(home, "tally.unrecorded"))
    text = shown(home, "next")
    assert "was killed, or failed" in text
    assert "1 deliveries" not in text
    assert "1 delivery of hooks is in no record" in text
    assert user.exists()
