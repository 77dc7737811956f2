"""A file that grows while no hook speaks of its session is noticed, and each file that grows for another reason is not."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallystick.agents.hooks import hook_adapters
from tallystick.catalog.agents import AGENTS
from tallystick.live.heard import Spoke
from tallystick.setup.unheard import Unheard
from tests.support.cases import each

ID = "61cacf39-0bfe-4715-9688-4dec476ed256"
OTHER = "71cacf39-0bfe-4715-9688-4dec476ed256"
NOW = time.time()
LONG_AGO = NOW - 90_000


class Machine:
    """A user's home folder, hooks that speak, and time that passes; a file is written when it is said to be."""

    def __init__(self, user: Path) -> None:
        self.user = user
        self.now = NOW
        self.spoke: list[Spoke] = []
        self.installed = {"claude-code": LONG_AGO}
        self.recorded: set[Path] = set()
        self._looked = NOW
        self._unheard = Unheard(user, lambda: self.spoke, lambda _, path: path in self.recorded)

    def file(self, name: str = f".claude/projects/-home-dev/{ID}.jsonl") -> Path:
        path = self.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, path: Path, *, session: str = "", began: float | None = None) -> Path:
        at = datetime.fromtimestamp(self.now if began is None else began, UTC).isoformat().replace("+00:00", "Z")
        with path.open("a") as file:
            file.write(json.dumps({"timestamp": at, "sessionId": session}) + "\n")
        os.utime(path, (self.now, self.now))
        return path

    def speaks(self, session: str = ID, transcript: str = "", agent: str = "claude-code") -> None:
        self.spoke.append(Spoke(agent=agent, session=session, transcript=transcript, at=self.now))

    def look(self, *, after: float = 10.0) -> dict[str, Path]:
        self.now += after
        found = self._unheard.look(self.installed, since=self._looked, now=self.now)
        self._looked = self.now
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_session_that_begins_without_a_word_is_noticed_once_a_hook_would_have_spoken(machine: Machine) -> None:
    path = machine.write(machine.file())
    assert machine.look(after=1) == {}
    assert machine.look() == {"claude-code": path}
    assert machine.look() == {}


def test_it_is_noticed_again_while_it_grows(machine: Machine) -> None:
    path = machine.write(machine.file())
    found = []
    for _ in range(6):
        found.append(machine.look())
        machine.write(path)
    assert found.count({"claude-code": path}) >= 2


@each("words", [{}, {"session": "s", "transcript": True}, {"session": f"{ID}/agent"[:36]}], ids=["id", "file", "root"])
def test_a_session_of_which_a_hook_speaks_is_heard_whenever_it_does(machine: Machine, words: dict[str, object]) -> None:
    path = machine.write(machine.file())
    machine.look(after=1)
    said = {**words, "transcript": str(path)} if words.get("transcript") else words
    machine.speaks(**said)  # type: ignore[arg-type]
    for _ in range(4):
        assert machine.look() == {}
        machine.write(path)


def test_a_word_of_another_session_or_agent_is_none_of_its(machine: Machine) -> None:
    path = machine.write(machine.file())
    machine.speaks(OTHER)
    machine.speaks(ID, agent="codex")
    machine.look()
    assert machine.look() == {"claude-code": path}


@each("name", [f"{ID}/subagents/agent-1.jsonl", "agent-a1b2.jsonl"])
def test_a_sub_agents_file_is_its_sessions(machine: Machine, name: str) -> None:
    machine.speaks()
    machine.write(machine.file(f".claude/projects/-home-dev/{name}"), session=ID)
    assert [machine.look() for _ in range(3)] == [{}, {}, {}]


def test_a_session_that_began_before_the_hooks_were_installed_is_left_alone(machine: Machine) -> None:
    machine.installed = {"claude-code": NOW + 1}
    path = machine.file()
    for _ in range(4):
        machine.write(path, began=NOW)
        assert machine.look() == {}


def test_an_old_session_that_is_resumed_without_a_word_is_noticed_once_it_goes_on(machine: Machine) -> None:
    path = machine.write(machine.file(), began=NOW - 80_000)
    assert [machine.look(), machine.look()] == [{}, {}], "one line may be a title that another session gave it"
    machine.write(path)
    assert machine.look() == {"claude-code": path}


def test_a_hook_that_spoke_yesterday_does_not_speak_for_today(machine: Machine) -> None:
    machine.speaks()
    machine.now += 4000
    path = machine.file()
    found = []
    for _ in range(4):
        machine.write(path, began=NOW)
        found.append(machine.look())
    assert {"claude-code": path} in found


@each("began", [NOW - 80_000, None])
def test_a_file_that_is_copied_or_says_no_time_is_no_session_at_work(machine: Machine, began: float | None) -> None:
    if began is None:
        machine.file().write_text("{}\n")
    else:
        machine.write(machine.file(), began=began)
    assert [machine.look() for _ in range(4)] == [{}] * 4


def test_a_session_that_an_editors_protocol_records_is_heard_of(machine: Machine) -> None:
    machine.recorded.add(machine.write(machine.file()))
    assert [machine.look() for _ in range(3)] == [{}, {}, {}]


def test_an_agent_without_our_hooks_is_left_alone(machine: Machine) -> None:
    machine.installed = {}
    machine.write(machine.file())
    assert [machine.look() for _ in range(3)] == [{}, {}, {}]


def test_files_that_no_hook_could_speak_of_are_not_looked_at(machine: Machine) -> None:
    machine.installed = dict.fromkeys(hook_adapters(), LONG_AGO)
    for name in (".claude/history.jsonl", ".config/Code/User/workspaceStorage/a/chatSessions/b.jsonl"):
        machine.write(machine.file(name))
    (machine.file(f".claude/projects/-home-dev/{OTHER}.jsonl")).symlink_to(machine.user / ".claude" / "history.jsonl")
    assert [machine.look() for _ in range(3)] == [{}, {}, {}]


RECORDED = Path(__file__).parents[1] / "recordings" / "hooks"
FILES = {"claude-code": "claude-code-2.1.330", "codex": "codex-0.169.0", "gemini": "gemini-0.61.0", "pi": "pi-0.73.1"}
FILES |= {"qwen": "qwen-0.24.4", "copilot": "copilot-1.0.102"}


@pytest.mark.parametrize(
    "agent", [name for name, facts in AGENTS.items() if facts.hooks and facts.hooks.names_its_history]
)
def test_what_each_agents_hook_says_names_the_file_that_the_agent_writes(machine: Machine, agent: str) -> None:
    """As recorded from the agents, so that a session at work with our hooks is never taken for one without."""
    adapter = hook_adapters()[agent]
    line = json.loads((RECORDED / f"{FILES[agent]}.jsonl").read_bytes().splitlines()[0])
    payload = adapter.parse(json.dumps(line.get("payload", line)).encode(), line.get("event"))
    name = payload.transcript or f"/home/dev/.copilot/session-state/{payload.session}/events.jsonl"
    machine.installed = {agent: LONG_AGO}
    path = machine.write(machine.file(name.removeprefix("/home/dev/")))
    assert [machine.look(), machine.look()] == [{}, {agent: path}]
    transcript = str(path) if payload.transcript else ""
    machine.speaks(payload.session, transcript, agent)
    machine.write(path)
    assert [machine.look(), machine.look()] == [{}, {}]
