"""`tally watch`, as people use it: it runs until a signal, and what it recorded stands whatever ended it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import tallystick.hook
from tallystick.capture import recorder
from tests.capture.watching import wait_for
from tests.cli.conftest import Tally, TallyJson
from tests.cli.test_command import environment
from tests.service.conftest import pre_tool_use

TALLY = [sys.executable, "-m", "tallystick"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@contextmanager
def watching(user: Path, work: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A watch with --json that has begun."""
    pipe = subprocess.PIPE
    command = [*TALLY, "watch", "--json", *words]
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have it ignored, as nohup does
    try:
        process = subprocess.Popen(command, cwd=work, env=environment(user), stdout=pipe, stderr=pipe, text=True)
    finally:
        signal.signal(signal.SIGHUP, before)
    with process:
        try:
            assert said(process)["schema"] == "tally.watch-begin"
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> Any:
    line = lines(process).readline()
    assert line, process.stderr.read() if process.stderr is not None else ""
    return json.loads(line)


def lines(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def ended(process: subprocess.Popen[str], number: int) -> dict[str, Any]:
    """The report of a watch that a signal ends."""
    process.send_signal(number)
    *_, last = lines(process).read().splitlines()
    assert process.wait(timeout=120) == 0
    report: dict[str, Any] = json.loads(last)
    assert report["schema"] == "tally.watch"
    return report["data"]  # type: ignore[no-any-return]


def change(work: Path, script: str) -> None:
    subprocess.run(["/bin/sh", "-c", script], cwd=work, check=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_happens_is_printed_and_recorded_until_a_signal_ends_it(
    user: Path, work: Path, tally: Tally, tally_json: TallyJson, number: int
) -> None:
    with watching(user, work) as process:
        change(work, "echo one > a")
        first = said(process)["data"]
        assert (first["meta"]["effect"], first["values"]["content.path"]) == ("create", str(work / "a"))
        change(work, "mv a b")
        moved = said(process)["data"]
        if moved["meta"]["effect"] == "modify":  # on a busy machine the file was seen before there was anything in it
            moved = said(process)["data"]
        assert moved["values"]["content.paths"] == [str(work / "a"), str(work / "b")]
        report = ended(process, number)
    effects = {effect: count for effect, count in report["effects"].items() if effect != "modify"}
    assert effects == {"create": 1, "rename": 1}
    (session,) = tally_json("session", "list")["sessions"]
    assert (session["agent"], session["status"], session["cwd"]) == ("tallystick.watch", "completed", str(work))
    steps = [json.loads(line) for line in tally("export", report["session"], "--format", "jsonl").stdout.splitlines()]
    assert len([step for step in steps if step.get("type") == "file_effect"]) == sum(report["effects"].values())
    assert tally("verify").exit_code in (0, 3)


def test_a_watch_that_is_killed_leaves_a_sound_open_session(
    user: Path, work: Path, tally: Tally, tally_json: TallyJson
) -> None:
    with watching(user, work) as process:
        change(work, "echo one > a")
        said(process)
        process.kill()
        process.wait()
    (session,) = tally_json("session", "list")["sessions"]
    assert (session["status"], session["steps"]) == ("active", 2)
    assert tally("verify").exit_code in (0, 3)


@pytest.fixture
def recorder_of(user: Path) -> Iterator[Path]:
    """The store of a user; whatever recorder a test leaves there is ended."""
    store = user / ".tally"
    yield store
    recorder.stop(store)


def test_while_one_agent_works_there_effects_are_recorded_in_its_session(
    user: Path, work: Path, recorder_of: Path, tally: Tally, tally_json: TallyJson
) -> None:
    command = [sys.executable, "-I", "-S", tallystick.hook.__file__, "--home", str(recorder_of), "claude-code"]
    numbers = itertools.count()

    def is_live() -> bool:
        said_by_agent = json.dumps({**pre_tool_use(next(numbers)), "cwd": str(work)})
        subprocess.run(command, input=said_by_agent.encode(), env=environment(user), check=True)
        return bool(recorder.working(recorder_of))  # on a busy machine the first ones wait in the spool

    wait_for(is_live, "the session")
    with watching(user, work) as process:
        change(work, "echo one > a")
        said(process)
        report = ended(process, signal.SIGTERM)
    assert report["in_sessions"] == 1
    steps = {session["agent"]: session["steps"] for session in tally_json("session", "list")["sessions"]}
    assert steps["tallystick.watch"] == 2
    (effect,) = [step for step in tally_json("log", "--agent", "claude-code")["steps"] if step["type"] == "file_effect"]
    assert effect["n"] > 0
    assert tally("verify").exit_code in (0, 3)


def test_sensitive_folders_are_watched_unless_told_otherwise(user: Path, work: Path) -> None:
    (user / ".ssh").mkdir()
    with watching(user, work) as process:
        (user / ".ssh" / "authorized_keys").write_text("key")
        effect = said(process)["data"]
        assert (effect["meta"]["sensitive"], effect["values"]) == (
            True,
            {"content.path": str(user / ".ssh" / "authorized_keys")},
        )
    with watching(user, work, "--no-sensitive-roots") as process:
        (user / ".ssh" / "config").touch()
        (work / "a").touch()
        assert said(process)["data"]["values"]["content.path"] == str(work / "a")


def test_names_are_shown_and_not_obeyed(user: Path, work: Path) -> None:
    command = [*TALLY, "watch", str(work)]
    with subprocess.Popen(
        command, env=environment(user), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"watching" in process.stderr.readline()
        Path(os.fsdecode(os.fsencode(work) + b"/\x1b]0;title\x07")).touch()
        shown = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(timeout=120) == 0
    assert b"create" in shown
    assert b"\x1b" not in shown
    assert rest.decode().splitlines() == [
        "recorded 1 effect (1 create), 0 of them in the session of an agent",
        "the process is known for 0 of 1 write",
    ]


def test_what_is_no_folder_is_a_mistake(tally: Tally, work: Path) -> None:
    (work / "file").touch()
    for path in (work / "nothing", work / "file"):
        result = tally("watch", path)
        assert result.exit_code == 64
        assert "is not a folder" in result.stderr
