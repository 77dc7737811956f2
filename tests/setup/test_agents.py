from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tallystick.agents.hooks import hook_adapters
from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.setup.agents import TRACES, agents, find_agent, find_agents
from tallystick.setup.install import hook_command, install

_CODEX = """#!{python} -IS
import json, sys
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.169.0")
    sys.exit()
lines = [json.loads(sys.stdin.readline()) for _ in range(3)]
hooks = [dict(command=COMMAND, trustStatus=STATUS, enabled=True), dict(command="theirs", trustStatus="untrusted")]
print(json.dumps(dict(id=2, result=dict(data=[dict(hooks=hooks)]))), flush=True)
"""


@pytest.fixture
def where(tmp_path: Path) -> Surroundings:
    (tmp_path / "user").mkdir()
    (tmp_path / "bin").mkdir()
    return Surroundings(user=tmp_path / "user", environment={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


def _program(where: Surroundings, name: str, text: str) -> None:
    path = where.user.parent / "bin" / name
    path.write_text(text)
    path.chmod(0o700)


def test_every_agent_that_can_be_hooked_can_be_found() -> None:
    assert set(hook_adapters()) <= set(TRACES)


def test_an_agent_is_found_by_its_program_or_by_its_folder(where: Surroundings) -> None:
    _program(where, "gemini", "#!/bin/sh\necho 0.61.0\n")
    (where.user / ".claude").mkdir()
    found = {agent.agent: agent for agent in find_agents(where) if agent.is_found}
    assert set(found) == {"gemini", "claude-code"}
    assert (found["claude-code"].program, found["claude-code"].folder) == (None, where.user / ".claude")
    assert found["gemini"].unseen


def test_a_found_agent_is_described(where: Surroundings, home: Home) -> None:
    _program(where, "gemini", "#!/bin/sh\necho 0.61.0\n")
    install(home, "gemini", where)
    agent = next(agent for agent in agents(home, where) if agent.agent == "gemini")
    assert (agent.version, agent.hooked, agent.unhooked) == ("0.61.0", hook_adapters()["gemini"].EVENTS, ())
    assert (agent.trusted, agent.last_event, agent.problem) == (None, None, None)


def test_settings_that_cannot_be_read_are_a_problem_and_no_failure(where: Surroundings, home: Home) -> None:
    (where.user / ".claude").mkdir()
    (where.user / ".claude" / "settings.json").write_text("{")
    agent = next(agent for agent in agents(home, where) if agent.agent == "claude-code")
    assert agent.hooked == ()
    assert "settings.json: line 1" in str(agent.problem)


def test_hooks_that_the_user_has_switched_off_are_a_problem(where: Surroundings, home: Home) -> None:
    settings = where.user / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooksConfig": {"enabled": false}}')
    install(home, "gemini", where)
    agent = next(agent for agent in agents(home, where) if agent.agent == "gemini")
    assert agent.hooked
    assert agent.problem == f"hooks are disabled: hooksConfig.enabled = false in {settings}"


@pytest.mark.parametrize(("status", "trusted"), [("untrusted", False), ("trusted", True), ("modified", False)])
def test_codex_says_whether_its_user_trusts_our_hook(
    where: Surroundings, home: Home, status: str, trusted: bool
) -> None:
    command = hook_command(home).shell("codex")
    text = _CODEX.replace("{python}", sys.executable).replace("COMMAND", json.dumps(command))
    _program(where, "codex", text.replace("STATUS", json.dumps(status)))
    assert find_agent("codex", where).trusted is None
    install(home, "codex", where)
    agent = next(agent for agent in agents(home, where) if agent.agent == "codex")
    assert (agent.version, agent.trusted) == ("0.169.0", trusted)


def test_a_codex_that_does_not_answer_is_not_called_untrusted(where: Surroundings, home: Home) -> None:
    _program(where, "codex", "#!/bin/sh\nexit 1\n")
    install(home, "codex", where)
    agent = next(agent for agent in agents(home, where) if agent.agent == "codex")
    assert agent.trusted is None


def test_the_last_event_is_the_newest_that_a_hook_told(where: Surroundings, home: Home) -> None:
    session_writer = SessionWriter(home)
    try:
        for number, source in enumerate((Source.HOOK, Source.HOOK, Source.TRANSCRIPT)):
            session_writer.open(Opening(session="s", agent="gemini", source=source))
            step = Step(
                session="s", type="system", source=source, source_id=f"e{number}", ts=f"2026-01-0{number + 1}T00:00:00Z"
            )
            session_writer.add("gemini", step)
    finally:
        session_writer.close()
    found = {agent.agent: agent.last_event for agent in agents(home, where)}
    assert found["gemini"] is not None
    assert found["claude-code"] is None
