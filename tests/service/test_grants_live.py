"""What a person allows, through a hook that is installed: real payloads, the recorder, and commands as people run them."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.capture import recorder
from tallystick.journal.home import Home
from tallystick.recording.store import init_store
from tests.service.test_server import wait_for
from tests.support import recorders

SETTINGS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
SESSION = "61cacf39-0bfe-4715-9688-4dec476ed256"
REFUSED = "Nobody can be asked here, so it is refused."


class Agent:
    """An agent whose settings have our hook, a project without a commit, and the person who uses both."""

    def __init__(self, folder: Path, name: str = "claude-code") -> None:
        self.name, self.user, self.project = name, folder, folder / "project"
        self.home = Home(folder / "store")
        self.made = 0
        for path in ("data/a.txt", "data/b.txt", "notes/a.txt", "src/main.py"):
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(f"what {path} holds\n")
        subprocess.run(["git", "init", "-q", self.project], check=True)
        init_store(self.home)

    def tally(self, *words: str, typed: bytes = b"") -> tuple[int, str]:
        """What a command says at a terminal, with what was typed there."""
        ours, theirs = pty.openpty()
        os.write(ours, typed)
        done = subprocess.run(
            [sys.executable, "-I", "-m", "tallystick", "--home", str(self.home.folder), *words],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={"HOME": str(self.user), "PATH": os.environ["PATH"], "TERM": "dumb", "COLUMNS": "200"},
            cwd=self.project,
            timeout=120,
            check=False,
        )
        os.close(theirs)
        os.close(ours)
        return done.returncode, done.stdout.decode()

    def hook(self, event: str, **more: Any) -> dict[str, Any]:
        """Start the command that the settings have for an event, as the agent does, and take its answer."""
        settings = json.loads((self.user / SETTINGS[self.name]).read_text())
        (command,) = (hook["command"] for entry in settings["hooks"][event] for hook in entry["hooks"])
        said = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": event, "permission_mode": "default"}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps({**said, **more}).encode(),
            capture_output=True,
            env={"HOME": str(self.user), "PATH": os.environ["PATH"]},
            cwd=self.project,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        found: dict[str, Any] = json.loads(done.stdout or b"{}").get("hookSpecificOutput", {})
        return found

    def asks(self, command: str) -> dict[str, Any]:
        """Ask for leave to run a command."""
        self.made += 1
        return self.hook("PreToolUse", **self._call(command))

    def runs(self, command: str) -> None:
        """Run what a person let it run, and say how it ended."""
        subprocess.run(["/bin/sh", "-c", command], cwd=self.project, check=True, capture_output=True)
        self.hook(
            "PostToolUse", **self._call(command), tool_response={"stdout": "", "stderr": "", "interrupted": False}
        )

    def _call(self, command: str) -> dict[str, Any]:
        return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{self.made:04}"}

    def puts(self, path: str, text: str = "kept by no one\n") -> Path:
        """A file of the project, written by its user."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


def installed(folder: Path, name: str = "claude-code", **settings: str) -> Agent:
    """An agent with our hook and a recorder that runs."""
    agent = Agent(folder, name)
    assert agent.tally("install", name)[0] == 0
    for key, value in settings.items():
        assert agent.tally("config", "set", f"policy.{key}", value)[0] == 0
    recorders.start(agent.home.folder)
    return agent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    yield tmp_path
    recorder.stop(tmp_path / "store")


def decision(answer: dict[str, Any]) -> str | None:
    found = answer.get("permissionDecision")
    return None if found is None else str(found)


def test_what_a_person_allowed_is_not_asked_again_until_it_is_taken_back(folder: Path) -> None:
    agent = installed(folder)
    assert decision(agent.asks("rm -rf data")) == "ask"
    assert decision(agent.asks("rm -rf data")) == "ask", "no result came"
    agent.runs("rm -rf data")
    agent.puts("data/a.txt")
    assert decision(agent.asks("rm -rf data")) is None
    assert decision(agent.asks("rm -rf notes")) == "ask"
    code, said = agent.tally("policy", "grants", "list")
    assert code == 0
    (grant,) = re.findall(r"^(\w+:\d+) .*in force", said, re.MULTILINE)
    assert agent.tally("policy", "grants", "revoke", grant, typed=b"y\n")[0] == 0
    assert decision(agent.asks("rm -rf data")) == "ask"


def test_a_denied_call_is_released_once_by_a_person_at_a_terminal(folder: Path) -> None:
    agent = installed(folder)
    denied = "cat ~/.aws/credentials"
    (agent.user / ".aws").mkdir()
    (agent.user / ".aws/credentials").write_text("[default]\n")
    assert decision(agent.asks(denied)) == "deny"
    wait_for(lambda: "\n" in agent.tally("alerts")[1] and agent.tally("alerts")[0] == 0)
    assert agent.tally("policy", "release", "1", typed=b"n\n")[0] != 0
    assert decision(agent.asks(denied)) == "deny"
    assert agent.tally("policy", "release", "1", typed=b"y\n")[0] == 0
    assert decision(agent.asks(f"{denied} | cat")) == "deny", "that is another call"
    assert decision(agent.asks(denied)) is None
    assert decision(agent.asks(denied)) == "deny"


def test_what_was_removed_after_a_question_is_brought_back(folder: Path) -> None:
    agent = installed(folder)
    assert agent.tally("policy", "restore") == (0, "nothing is kept\n")
    answer = agent.asks("rm -rf data")
    assert "It would lose 2 unsaved files, 2 lines" in answer["permissionDecisionReason"]
    (name,) = re.findall(r"tally policy restore ([\w-]+)", answer["permissionDecisionReason"])
    wait_for(lambda: "2 files" in agent.tally("policy", "restore")[1])
    agent.runs("rm -rf data")
    assert agent.tally("policy", "restore", name) == (0, "2 files brought back\n")
    assert (agent.project / "data/b.txt").read_text() == "what data/b.txt holds\n"
    agent.puts("data/a.txt", "something else\n")
    assert agent.tally("policy", "restore", name)[0] != 0
    assert (agent.project / "data/a.txt").read_text() == "something else\n"
    assert agent.tally("policy", "restore", name, "--force")[0] == 0
    assert (agent.project / "data/a.txt").read_text() == "what data/a.txt holds\n"
    assert agent.tally("policy", "restore", "no-such-name")[0] == 1


def test_harmless_calls_are_answered_with_allow_where_the_user_wants_that(folder: Path) -> None:
    agent = installed(folder, answer_allow="on")
    assert decision(agent.asks("git status")) == "allow"
    assert decision(agent.asks("rm -rf data")) == "ask"
    for command in ("git status && make", "make", "cat ~/.netrc", "cat $X", "git -c core.pager=x log"):
        assert decision(agent.asks(command)) != "allow", command


def test_by_default_no_call_is_answered_with_allow(folder: Path) -> None:
    assert decision(installed(folder).asks("git status")) is None


def test_a_question_that_no_one_can_be_asked_names_the_command_that_grants_it(folder: Path) -> None:
    agent = installed(folder, interactive="no")
    answer = agent.asks("rm -rf data")
    assert decision(answer) == "deny"
    reason = answer["permissionDecisionReason"]
    (words,) = re.findall(r"tally (policy grants add \w+:\d+)", reason)
    assert reason.endswith(f"name this command to the user, who runs it in a terminal: tally {words}")
    assert agent.tally(*words.split(), typed=b"y\n")[0] == 0
    assert decision(agent.asks("rm -rf data")) is None
    assert "grants add" not in agent.asks("cat ~/.ssh/id_rsa")["permissionDecisionReason"], "no grant lifts that"


def test_an_agent_that_cannot_ask_is_told_why_and_what_to_do(folder: Path) -> None:
    agent = installed(folder, "codex")
    answer = agent.asks("rm -rf data")
    assert decision(answer) == "deny"
    assert REFUSED in answer["permissionDecisionReason"]
    assert re.search(r"tally policy grants add \w+:\d+$", answer["permissionDecisionReason"])
