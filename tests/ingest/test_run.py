from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tallystick.ask.coverage import coverage_of
from tallystick.capture.watch_notify import Notify
from tallystick.capture.watch_tree import Root
from tallystick.errors import SourceError
from tallystick.ingest import run as run_module
from tallystick.ingest.run import Command, Ran, run_command
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Ref, SessionKind, Source
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store
from tests.support.shown import shown

PATH = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
RunScript = Callable[[str], Ran]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def sh(home: Home, work: Path) -> RunScript:
    return lambda script: run_command(home, Command(["/bin/sh", "-c", script], work, PATH))


def steps_of(home: Home, done: Ran) -> list[Recorded]:
    assert done.session is not None
    return list(read_session(home, done.session))


def test_a_command_is_a_session_with_its_processes_effects_and_end(home: Home, work: Path, sh: RunScript) -> None:
    (work / "old").write_text("old")
    done = sh("sleep 0.6 & echo new > new; rm old; wait; exit 3")
    steps = steps_of(home, done)
    assert steps[0].values == {
        "personal.cwd": str(work),
        "content.args": ["/bin/sh", "-c", "sleep 0.6 & echo new > new; rm old; wait; exit 3"],
    }
    assert (steps[0].meta["agent"], steps[0].meta["kind"], steps[0].meta["source"]) == ("run", "root", "watch")
    processes = [step for step in steps if step.type == "process"]
    assert processes[0].meta["action"] == "start"
    assert ["sleep", "0.6"] in [step.values.get("content.args") for step in processes]
    assert all(step.meta["parent"] == 1 for step in processes[1:-1] if step.meta["ppid"] == processes[0].meta["pid"])
    effects = {step.values["content.path"]: step.meta["effect"] for step in steps if step.type == "file_effect"}
    assert effects == {str(work / "new"): "create", str(work / "old"): "delete"}
    ended = processes[-1]
    assert (ended.meta["action"], ended.meta["exit_code"], ended.meta["success"]) == ("exit", 3, False)
    assert ended.meta["duration_ms"] >= 600
    assert (steps[-1].type, steps[-1].meta["status"]) == ("session_end", "failed")
    assert (done.exit_code, done.signal, done.remarks) == (3, None, ())
    assert done.effects == {"created": 1, "deleted": 1}
    assert verify_store(home).exit_code == 0


def test_the_environment_is_handed_on_and_not_recorded(home: Home, work: Path) -> None:
    environment = {**PATH, "SECRET": "hunter2hunter2"}
    script = 'printf %s "$SECRET" > secret && printf %s "$TALLY_SESSION" > name'
    done = run_command(home, Command(["/bin/sh", "-c", script], work, environment))
    assert (work / "secret").read_text() == "hunter2hunter2"
    assert (work / "name").read_text() == steps_of(home, done)[0].meta["source_session"]
    store = b"".join(path.read_bytes() for path in home.folder.rglob("*") if path.is_file())
    assert b"printf" in store
    assert b"hunter2hunter2" not in store


def test_a_command_that_a_signal_ended_has_the_exit_code_of_a_shell(home: Home, sh: RunScript) -> None:
    done = sh("kill -TERM $$")
    assert (done.exit_code, done.signal) == (128 + signal.SIGTERM, "SIGTERM")
    assert steps_of(home, done)[-2].meta["signal"] == "SIGTERM"


@pytest.mark.parametrize(("name", "code"), [("no-such-command", 127), ("./plain", 126)])
def test_what_cannot_be_started_says_so_as_a_shell_does(home: Home, work: Path, name: str, code: int) -> None:
    (work / "plain").write_text("no program")
    done = run_command(home, Command([name], work, PATH))
    assert done.exit_code == code
    assert done.remarks
    steps = steps_of(home, done)
    assert [step.type for step in steps] == ["session_start", "warning", "process", "session_end"]


def test_a_run_below_a_run_hangs_on_it(home: Home, work: Path) -> None:
    with SessionWriter(home) as session_writer:
        outer = session_writer.open(Opening(session="outer", agent="run", source=Source.WATCH)).sid
    done = run_command(home, Command(["true"], work, {**PATH, "TALLY_SESSION": "outer"}))
    start = steps_of(home, done)[0]
    assert start.meta["kind"] == "child"
    assert start.parents[0].startswith(f"{outer}#")


def test_an_agents_session_below_it_hangs_on_it(home: Home, work: Path, sh: RunScript) -> None:
    done = sh("true")
    name = steps_of(home, done)[0].meta["source_session"]
    with SessionWriter(home) as session_writer:
        parent = Ref(session=name, agent="run")
        record = session_writer.open(Opening(session="c", agent="claude-code", kind=SessionKind.CHILD, parent=parent))
        start = record.read(0)
    assert start is not None
    assert start.parents[0].startswith(f"{done.session}#")


def test_the_command_runs_where_nothing_can_be_recorded(tmp_path: Path, work: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = run_command(Home(blocked / "store"), Command(["/bin/sh", "-c", "echo x > made; exit 5"], work, PATH))
    assert (done.exit_code, done.session) == (5, None)
    assert done.remarks
    assert (work / "made").exists()


def test_a_record_that_fails_on_the_way_is_a_remark(home: Home, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallystick.errors import JournalError

    def refuse(*_: object) -> None:
        raise JournalError("no space left on device")

    monkeypatch.setattr(SessionWriter, "add_to", refuse)
    done = run_command(home, Command(["true"], work, PATH))
    assert done.exit_code == 0
    assert done.remarks == ("no space left on device",)


def test_more_effects_than_are_recorded_leave_a_gap(
    home: Home, work: Path, sh: RunScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_MOST_EFFECTS", 2)
    done = sh("touch a b c")
    assert done.effects == {"created": 3}
    steps = steps_of(home, done)
    assert [step.type for step in steps].count("file_effect") == 2
    (gap,) = [step for step in steps if step.type == "gap"]
    assert gap.meta["files"] == 1
    assert done.session is not None
    assert coverage_of(home, done.session).state == "degraded"


def test_the_store_is_no_file_of_the_folder(tmp_path: Path, work: Path) -> None:
    home = Home(work / ".tally")
    done = run_command(home, Command(["/bin/sh", "-c", "touch a"], work, PATH))
    assert done.effects == {"created": 1}


def effects_of(home: Home, done: Ran) -> list[tuple[object, ...]]:
    """What was recorded of files: effect, how it was seen, the path's last name."""
    return [
        (step.meta["effect"], step.meta["seen"], Path(shown(step.values["content.path"])).name)
        for step in steps_of(home, done)
        if step.type == "file_effect"
    ]


def watched(home: Home, work: Path, script: str) -> Ran:
    command = ["/bin/sh", "-c", script]
    return run_command(home, Command(command, work, PATH), roots=[Root(str(work))])


def test_files_are_watched_meanwhile_and_told_once(home: Home, work: Path) -> None:
    (work / "old").write_text("old")
    done = watched(home, work, "sleep 0.3; echo new > new; rm old; touch brief; rm brief; sleep 0.3")
    assert sorted(effects_of(home, done)) == [
        ("create", "event", "new"),
        ("delete", "event", "brief"),
        ("delete", "event", "old"),
    ]
    assert done.effects == {"created": 1, "deleted": 1}
    gone = next(step for step in steps_of(home, done) if step.values.get("content.path") == str(work / "old"))
    assert gone.values["content.before"] == f"sha256:{sha256(b'old').hexdigest()}"
    assert done.remarks == ()
    assert verify_store(home).exit_code == 0


def test_what_a_watch_does_not_tell_the_two_looks_do(home: Home, work: Path) -> None:
    done = watched(home, work, "echo x > notes.tmp; echo y > plain")
    found = effects_of(home, done)
    assert ("create", "look", "notes.tmp") in found
    assert [name for _, _, name in found].count("plain") == 1


def test_a_process_of_the_command_is_named_while_it_writes(home: Home, work: Path) -> None:
    done = watched(home, work, "sleep 0.2; { echo a; sleep 1; } > held; sleep 0.3")
    (made,) = [step for step in steps_of(home, done) if step.type == "file_effect" and step.meta["effect"] == "create"]
    processes = {step.meta["pid"] for step in steps_of(home, done) if step.meta.get("action") == "start"}
    assert made.meta["process"] in ("sh", "dash", "bash", "sleep", "busybox")
    assert made.meta["pid"] in processes


def test_the_command_runs_where_nothing_can_be_watched(home: Home, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SourceError("the system gives no watch on 1 folders")

    monkeypatch.setattr(Notify, "start", refuse)
    done = watched(home, work, "echo x > a; exit 4")
    assert done.exit_code == 4
    assert done.remarks == ("files are not watched: the system gives no watch on 1 folders",)
    assert effects_of(home, done) == [("create", "look", "a")]


RUN_IN = """
import os, sys
from pathlib import Path
from tallystick.journal.home import Home
from tallystick.ingest.run import Command, run_command
command = ["/bin/sh", "wait.sh"]
done = run_command(Home(Path(sys.argv[1])), Command(command, Path(sys.argv[2]), os.environ))
sys.exit(done.exit_code)
"""


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_signals_reach_the_command(home: Home, work: Path, name: str) -> None:
    (work / "wait.sh").write_text(f"trap 'echo got > got; exit 7' {name}\ntouch ready\nwhile :; do sleep 0.05; done\n")
    words = [sys.executable, "-c", RUN_IN, str(home.folder), str(work)]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until = time.monotonic() + 120
    while not (work / "ready").exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(getattr(signal, f"SIG{name}"))
    _, said = process.communicate(timeout=120)
    assert process.returncode == 7, said
    assert (work / "got").exists()


def test_a_signal_that_comes_as_the_command_starts_reaches_it(home: Home, work: Path) -> None:
    (work / "wait.sh").write_text("trap 'exit 7' USR1\nkill -USR1 $PPID\nwhile :; do sleep 0.05; done\n")
    words = [sys.executable, "-c", RUN_IN, str(home.folder), str(work)]
    assert subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=120).returncode == 7


def test_handlers_and_threads_are_as_they_were(sh: RunScript) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    sh("true")
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
    assert not [thread for thread in threading.enumerate() if thread.name == "tallystick-run"]


@pytest.mark.skipif(sys.platform != "linux", reason="only there do orphans become the monitor's")
def test_orphans_that_have_ended_do_not_stay_as_zombies(sh: RunScript, work: Path) -> None:
    # Only those of this command: from its first run on, what other tests left behind ends as a child of this process too.
    sh("for i in 1 2 3 4 5 6; do (sleep 0.3 &) ; done; sleep 1.5; ps -o stat=,comm= --ppid $PPID > states")
    states = (work / "states").read_text().splitlines()
    assert states
    assert not [state for state in states if state.startswith("Z") and "sleep" in state]
