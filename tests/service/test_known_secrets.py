"""A secret that one session shows is known in the next, with the recorder, hooks and an import as processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tallystick.capture import recorder
from tallystick.journal.home import Home
from tallystick.workspace.settings import set_setting
from tests.service.conftest import Deliver, pre_tool_use
from tests.service.test_server import steps, wait_for
from tests.support import recorders

SECRET = "Tr0ub4dor&3-x"
SPELLINGS = (SECRET, "VHIwdWI0ZG9yJjMteA", "547230756234646f7226332d78", "Tr0ub4dor%263-x", "Tr0ub4dor\\u00263-x")


def tally(home: Home, *words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", "--home", str(home.folder), *words, "--json"],
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def prompt(session: str, text: str) -> dict[str, Any]:
    return {**pre_tool_use(), "session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": text}


def shows(session: str) -> dict[str, Any]:
    return {**pre_tool_use(), "session_id": session, "tool_input": {"command": f"export DB_PASSWORD='{SECRET}'"}}


def is_anywhere(home: Home) -> list[str]:
    """The files of the store in which the secret is."""
    recorder.stop(home.folder)
    assert tally(home, "search", "password")[0] == 0
    files = [path for path in home.folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(form.encode() in path.read_bytes() for form in SPELLINGS)]


def test_a_value_seen_in_one_session_is_in_no_other(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    assert deliver(shows("one")).returncode == 0
    wait_for(lambda: "DB_PASSWORD" in str(steps(home)))
    recorders.start(home.folder)  # another one, which knows only what is kept
    for number, form in enumerate(SPELLINGS):
        assert deliver(prompt("two", f"Request {number}: the password is still {form}, use it.")).returncode == 0
    wait_for(lambda: str(steps(home)).count("Request ") == len(SPELLINGS))
    assert is_anywhere(home) == []
    assert SECRET not in tally(home, "search", "Request")[1]


def test_an_import_knows_what_the_recorder_found(home: Home, deliver: Deliver, tmp_path: Path) -> None:
    recorders.start(home.folder)
    assert deliver(shows("one")).returncode == 0
    wait_for(lambda: "DB_PASSWORD" in str(steps(home)))
    line = {
        "type": "user",
        "uuid": "5f1d3a52-3b1c-4c53-9d58-0a0d3c8b7e11",
        "sessionId": "0b1e6f0a-7f3e-4a2b-8f0e-2f6f3a1f9c55",
        "timestamp": "2026-11-01T10:00:00Z",
        "cwd": "/home/dev/project",
        "message": {"role": "user", "content": f"log in with {SECRET} please"},
    }
    transcript = tmp_path / "0b1e6f0a-7f3e-4a2b-8f0e-2f6f3a1f9c55.jsonl"
    transcript.write_text(json.dumps(line) + "\n")
    assert tally(home, "import", str(transcript))[0] == 0
    assert "log in with ‹secret:password› please" in str(steps(home))
    assert is_anywhere(home) == []


def test_a_scan_finds_in_an_old_session_what_a_later_one_shows(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    assert deliver(prompt("one", f"the word is {SECRET}, use it")).returncode == 0
    wait_for(lambda: SECRET in str(steps(home)))
    assert tally(home, "secrets", "scan")[0] == 0
    recorder.stop(home.folder)
    set_setting(home, "secrets.scrub", "off")
    recorders.start(home.folder)
    assert deliver(shows("two")).returncode == 0
    wait_for(lambda: "DB_PASSWORD" in str(steps(home)))
    code, answer = tally(home, "secrets", "scan")
    assert code == 2
    found = {secret["session"] for secret in json.loads(answer)["data"]["secrets"]}
    assert found == {step.session for step in steps(home)}
    assert len(found) == 2
