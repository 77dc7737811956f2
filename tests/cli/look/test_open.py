"""`tally open`: any question about records from elsewhere, and none of them changed."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import DISCOUNT, Tally, TallyJson
from tests.ingest.test_opened import state_of

PROGRAM = [sys.executable, "-m", "tallystick"]


@pytest.fixture
def elsewhere(imported_samples: Path) -> Path:
    """A store that is not this user's."""
    return imported_samples / ".tally"


def test_any_question_is_answered_as_by_the_store_itself(tally: Tally, elsewhere: Path) -> None:
    before = state_of(elsewhere)
    for question in ("session list", f"replay {DISCOUNT}", "cost", "verify", "alerts", "coverage", "log --limit 3"):
        opened, own = tally("open", elsewhere, "--", *question.split()), tally("--home", elsewhere, *question.split())
        assert (opened.stdout, opened.exit_code) == (own.stdout, own.exit_code)
        assert opened.stdout
    after = state_of(elsewhere)
    assert {name: after[name] for name in before if "graph.db" not in name and name in after} == {
        name: kept for name, kept in before.items() if "graph.db" not in name
    }


def test_a_transcript_is_opened_without_a_store_of_ones_own(
    tally_json: TallyJson, imported_samples: Path, user: Path
) -> None:
    transcript = next((imported_samples / ".claude").rglob(f"{DISCOUNT}.jsonl"))
    (row,) = [row for row in tally_json("open", transcript)["sessions"] if row["source_session"] == DISCOUNT]
    assert row["steps"]
    assert not (user / ".tally").exists()


@pytest.mark.parametrize("command", ["erase x", "import", "policy allow x", "rebuild", "config set a b", "up"])
def test_a_command_that_changes_a_store_is_refused(tally: Tally, elsewhere: Path, command: str) -> None:
    result = tally("open", elsewhere, "--", *command.split())
    assert result.exit_code == 64
    assert "only read" in result.stderr


def test_another_store_cannot_be_named(tally: Tally, elsewhere: Path, tmp_path: Path) -> None:
    for words in (("--home", tmp_path, "cost"), ("cost", f"--home={tmp_path}")):
        result = tally("open", elsewhere, "--", *words)
        assert result.exit_code == 64
        assert "--home" in result.stderr


def test_a_wrong_command_gets_the_usual_suggestion(tally: Tally, elsewhere: Path) -> None:
    result = tally("open", elsewhere, "--", "coverag")
    assert result.exit_code == 64
    assert "did you mean" in result.stderr


def test_json_may_stand_before_or_after_the_marks(tally: Tally, elsewhere: Path) -> None:
    first = tally("open", elsewhere, "--json", "--", "cost")
    second = tally("open", elsewhere, "--", "cost", "--json")
    assert json.loads(first.stdout) == json.loads(second.stdout)


def test_a_damaged_transcript_is_shown_as_far_as_it_goes(tally: Tally, imported_samples: Path, tmp_path: Path) -> None:
    transcript = next((imported_samples / ".claude").rglob(f"{DISCOUNT}.jsonl"))
    lines = transcript.read_text().splitlines()
    (tmp_path / transcript.name).write_text("\n".join([*lines[:10], "{broken", *lines[10:]]))
    result = tally("open", tmp_path / transcript.name)
    assert result.exit_code == 0
    assert "1 file could not be read whole" in result.stderr


def test_on_a_terminal_the_browser_is_shown_and_a_signal_leaves_nothing(elsewhere: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [*PROGRAM, "open", str(elsewhere)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    said, until = b"", time.monotonic() + 100
    while b"claude" not in said and time.monotonic() < until:
        if select.select([ours], [], [], 0.2)[0]:
            said += os.read(ours, 65536)
    assert list(tmp_path.glob("tally-open-*"))
    process.send_signal(signal.SIGTERM)
    while process.poll() is None and time.monotonic() < until:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                os.read(ours, 65536)
            except OSError:
                break
    process.wait(60)
    os.close(ours)
    assert not list(tmp_path.glob("tally-open-*"))
