"""The tap: the traffic of seven real agents through it, and a small agent that really does things."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.capture.relay import Streams
from tallystick.ingest.acp import Adding, Tapped, policy, tap
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.provenance import KEY
from tests.support.shown import shown

TRAFFIC = sorted((Path(__file__).parents[1] / "recordings" / "acp").glob("*.jsonl"))
PLAYER = Path(__file__).parents[1] / "support" / "acp_player.py"
AGENT = Path(__file__).parents[1] / "support" / "acp_agent.py"


def python(script: Path, *words: object) -> list[str]:
    return [sys.executable, "-I", "-S", str(script), *map(str, words)]


class Editor:
    """An agent behind the tap, and the pipes to it."""

    def __init__(self, home: Home, command: list[str], **options: Any) -> None:
        stdin, self.stdin = os.pipe()
        stdout_read, stdout = os.pipe()
        self.stdout = os.fdopen(stdout_read, "rb")
        self._tapped: list[Tapped] = []
        self._ids = 0

        def run() -> None:
            self._tapped.append(tap(home, command, Adding(environment={}, **options), streams=Streams(stdin, stdout)))
            os.close(stdin)
            os.close(stdout)

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def ask(self, method: str, answer: str = "yes", **params: Any) -> dict[str, Any]:
        """Send a request; questions on the way are answered."""
        self._ids += 1
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        while True:
            message = json.loads(self.stdout.readline())
            if message.get("method") == "session/request_permission":
                outcome = {"outcome": "selected", "optionId": answer}
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})
            elif message.get("id") == self._ids and "method" not in message:
                return dict(message["result"])

    def prompt(self, text: str, answer: str = "yes") -> None:
        self.ask("session/prompt", answer, sessionId="s-1", prompt=[{"type": "text", "text": text}])

    def send(self, message: dict[str, Any]) -> None:
        os.write(self.stdin, json.dumps(message).encode() + b"\n")

    def end(self) -> Tapped:
        os.close(self.stdin)
        self.stdout.read()
        self.stdout.close()
        self._thread.join(30)
        return self._tapped[0]


def begun(home: Home, **options: Any) -> Editor:
    editor = Editor(home, python(AGENT), **options)
    editor.ask("initialize", protocolVersion=1, clientInfo={"name": "test-editor", "version": "1"})
    return editor


def recorded(home: Home) -> list[Recorded]:
    """All steps of all sessions."""
    return [step for sid, _ in home.sessions() for step in read_session(home, sid)]


def through(home: Home, traffic: Path, heard: Path, *words: object, **options: Any) -> tuple[bytes, Tapped]:
    """Play recorded traffic through the tap: what the editor got."""
    editor = Editor(home, python(PLAYER, traffic, heard, *words), **options)
    got = b""
    for text in traffic.read_text("utf-8").splitlines():
        item = json.loads(text)
        if item["from"] == "editor":
            os.write(editor.stdin, json.dumps(item["line"]).encode() + b"\n")
        else:
            line = editor.stdout.readline()
            if not line:
                break
            got += line
    return got, editor.end()


def lines(traffic: Path, side: str, *, ascii_only: bool) -> bytes:
    items = map(json.loads, traffic.read_text("utf-8").splitlines())
    found = [json.dumps(item["line"], ensure_ascii=ascii_only) for item in items if item["from"] == side]
    return "".join(f"{line}\n" for line in found).encode()


# Real traffic -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("traffic", TRAFFIC, ids=lambda path: path.stem)
def test_untouched_every_byte_goes_through_both_ways(home: Home, tmp_path: Path, traffic: Path) -> None:
    got, tapped = through(home, traffic, tmp_path / "heard", inject=False)
    assert got == lines(traffic, "agent", ascii_only=False)
    assert (tmp_path / "heard").read_bytes() == lines(traffic, "editor", ascii_only=True)
    assert (tapped.faults, tapped.ended.missed) == ((), 0)


@pytest.mark.parametrize("traffic", TRAFFIC, ids=lambda path: path.stem)
def test_nothing_but_our_member_is_added_and_it_stands_where_sessions_begin(
    home: Home, tmp_path: Path, traffic: Path
) -> None:
    got, tapped = through(home, traffic, tmp_path / "heard")
    sent = lines(traffic, "agent", ascii_only=False).splitlines()
    added = [
        (json.loads(theirs), json.loads(ours))
        for theirs, ours in zip(sent, got.splitlines(), strict=True)
        if theirs != ours
    ]
    for before, after in added:
        account = after["result"]["_meta"].pop(KEY)
        if "_meta" not in before["result"]:
            del after["result"]["_meta"]
        assert after == before
        assert account["sealed"]["session"] in {step.session for step in recorded(home)}
    assert 1 <= len(added) <= 3
    assert (tmp_path / "heard").read_bytes() == lines(traffic, "editor", ascii_only=True)
    assert tapped.faults == ()


@pytest.mark.parametrize("traffic", TRAFFIC, ids=lambda path: path.stem)
def test_an_agent_that_dies_leaves_a_sound_record(home: Home, tmp_path: Path, traffic: Path) -> None:
    _, tapped = through(home, traffic, tmp_path / "heard", "--stop", 9)
    assert tapped.ended.returncode == -9
    ends = [step for step in recorded(home) if step.type == "session_end"]
    assert [step.meta["signal"] for step in ends] == [9]


def test_the_same_traffic_once_more_is_a_session_that_goes_on(home: Home, tmp_path: Path) -> None:
    through(home, TRAFFIC[0], tmp_path / "heard")
    sessions = len(list(home.sessions()))
    through(home, TRAFFIC[0], tmp_path / "heard")
    assert len(list(home.sessions())) == sessions
    assert sum(step.type == "session_start" for step in recorded(home)) == 2 * sessions  # resumed


# An agent that does things -------------------------------------------------------------------------------------------------


def test_what_the_editor_is_told_of_a_new_session_names_its_journal(home: Home) -> None:
    editor = begun(home)
    account = editor.ask("session/new", cwd="/home/dev", mcpServers=[])["_meta"][KEY]
    editor.end()
    (first, *_) = recorded(home)
    assert account["sealed"] == {"session": first.session, "size": 1, "head": first.hash}
    assert (account["agent"], account["kind"], account["currentSessionId"]) == ("small-agent", "root", "s-1")


def test_a_session_that_is_loaded_again_is_told_from_its_record(home: Home) -> None:
    editor = begun(home)
    editor.ask("session/new", cwd="/home/dev", mcpServers=[])
    editor.prompt("hello")
    editor.end()
    size = len(recorded(home))
    editor = begun(home)
    account = editor.ask("session/load", sessionId="s-1", cwd="/home/dev", mcpServers=[])["_meta"][KEY]
    editor.end()
    assert account["sealed"]["size"] == size
    assert {step.session for step in recorded(home)} == {account["sealed"]["session"]}


def test_under_a_run_its_sessions_hang_on_that_of_the_run_and_are_roots_to_the_editor(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        session_writer.open(Opening(session="r", agent="run"))
    editor = begun(home, within="r")
    account = editor.ask("session/new", cwd="/", mcpServers=[])["_meta"][KEY]
    editor.end()
    assert (account["kind"], account["parentSessionId"]) == ("root", None)
    (child,) = (step for step in recorded(home) if step.type == "session_start" and step.meta["agent"] != "run")
    assert child.meta["kind"] == "child"
    assert len(child.parents) == 1


def test_the_user_answers_and_the_answer_is_recorded(home: Home, tmp_path: Path) -> None:
    editor = begun(home)
    editor.ask("session/new", cwd="/home/dev", mcpServers=[])
    editor.prompt(f"write {tmp_path / 'yes.txt'} hi", "yes")
    editor.prompt(f"write {tmp_path / 'no.txt'} hi", "no")
    tapped = editor.end()
    assert (tmp_path / "yes.txt").exists()
    assert not (tmp_path / "no.txt").exists()
    asked = [step for step in recorded(home) if step.type == "permission"]
    assert [(step.meta["decision"], step.meta["decided_by"]) for step in asked] == [("allow", "user"), ("deny", "user")]
    assert tapped.sessions == ("s-1",)


def deny_runs(call: Call) -> Decision:
    if shown(call.args).get("command", "").startswith("touch"):
        return Decision(effect=Effect.DENY, rules=("no.touch",), reason="Not that.")
    return Decision(effect=Effect.ASK)


def test_what_policy_denies_never_reaches_the_user_nor_runs(home: Home, tmp_path: Path) -> None:
    editor = begun(home, decide=deny_runs)
    editor.ask("session/new", cwd="/home/dev", mcpServers=[])
    editor.prompt(f"run touch {tmp_path / 'never'}", "yes")
    editor.prompt(f"run echo fine > {tmp_path / 'fine'}", "yes")
    editor.end()
    assert not (tmp_path / "never").exists()
    assert (tmp_path / "fine").exists()
    asked = [step for step in recorded(home) if step.type == "permission"]
    found = [(step.meta["decision"], step.meta["decided_by"], step.meta.get("rules")) for step in asked]
    assert found == [("deny", "policy", ["no.touch"]), ("allow", "user", None)]
    assert asked[0].values["content.reason"] == "Not that."


def test_a_policy_that_fails_leaves_the_question_to_the_user(home: Home, tmp_path: Path) -> None:
    def fails(call: Call) -> Decision:
        raise RuntimeError("broken")

    editor = begun(home, decide=fails)
    editor.ask("session/new", cwd="/home/dev", mcpServers=[])
    editor.prompt(f"run touch {tmp_path / 'done'}", "yes")
    tapped = editor.end()
    assert (tmp_path / "done").exists()
    assert tapped.faults == ("RuntimeError: broken",)


def test_the_shipped_policy_keeps_an_agent_from_the_store(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallystick.ingest.acp_inline._SECONDS", 30.0)  # beside busy processes policies load for longer
    editor = begun(home, decide=policy(home, tmp_path, {}))
    editor.ask("session/new", cwd=str(tmp_path), mcpServers=[])
    editor.prompt(f"run rm -rf {home.folder}", "yes")
    editor.end()
    assert home.ledger.exists()
    (asked,) = [step for step in recorded(home) if step.type == "permission"]
    assert (asked.meta["decision"], asked.meta["decided_by"]) == ("deny", "policy")


def test_a_store_that_cannot_be_opened_leaves_the_agent_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    editor = Editor(Home(tmp_path / "file" / "store"), python(AGENT))
    assert editor.ask("session/new", cwd="/", mcpServers=[]) == {"sessionId": "s-1"}
    tapped = editor.end()
    assert tapped.ended.returncode == 0
    assert "nothing is recorded" in tapped.faults[0]


def test_a_step_that_cannot_be_sealed_does_not_take_others_with_it(home: Home) -> None:
    editor = begun(home)
    editor.ask("session/new", cwd="/", mcpServers=[])
    editor.prompt("deep " + "\\ud800")
    editor.prompt("fine")
    editor.end()
    assert "fine" in [step.values.get("content.text") for step in recorded(home) if step.type == "user"]


def test_secrets_of_the_environment_are_not_in_the_store(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "planted-in-the-environment")
    editor = begun(home)
    servers = [{"name": "m", "command": "x", "args": [], "env": [{"name": "K", "value": "planted-in-a-server"}]}]
    editor.ask("session/new", cwd="/", mcpServers=servers)
    editor.prompt("hello")
    editor.end()
    held = b"".join(path.read_bytes() for path in home.folder.rglob("*") if path.is_file())
    assert b"hello" in held
    assert b"planted" not in held


def test_the_record_verifies(home: Home, tally_verify: Callable[[Home], int]) -> None:
    editor = begun(home)
    editor.ask("session/new", cwd="/", mcpServers=[])
    editor.prompt("hello")
    editor.end()
    assert tally_verify(home) == 0


def test_what_the_agent_runs_under_is_recorded_before_it_ends(home: Home) -> None:
    editor = begun(home)
    editor.ask("session/new", cwd="/", mcpServers=[])
    editor.end()
    mark = next(step for step in recorded(home) if step.type == "checkpoint")
    assert mark.meta["trigger"] == "session_start"
    assert {"agent", "environment"} <= set(mark.meta["config_sections"])


@pytest.fixture
def tally_verify() -> Callable[[Home], int]:
    def run(home: Home) -> int:
        command = [sys.executable, "-m", "tallystick", "--home", str(home.folder), "verify"]
        return subprocess.run(command, capture_output=True, check=False).returncode

    return run
