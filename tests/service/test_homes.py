"""The home folder that calls are judged by: the one that the process of the hook has, whosever recorder answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.capture import recorder
from tallystick.guard.explain import explain_step
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.workspace.indexing import open_index
from tests.service.conftest import Deliver, pre_tool_use
from tests.service.test_server import steps, wait_for
from tests.support import recorders

AGENTS_HOMES = ("/home/dev", "/var/agent", "/srv/agent")


def answered(done: Any) -> str | None:
    """What a hook told the agent to do with its call."""
    assert (done.returncode, done.stderr) == (0, b"")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"]) if done.stdout else None


@pytest.fixture
def recorder_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of the recorder, which runs."""
    folder = home.folder.parent / "recorders"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    recorders.start(home.folder)
    return folder


@pytest.mark.parametrize("folder", AGENTS_HOMES)
def test_a_call_is_judged_by_the_home_that_the_hook_has(folder: str, recorder_home: Path, deliver: Deliver) -> None:
    """A user of another name, or in a container: the same call is another one for each home folder."""
    other = next(one for one in AGENTS_HOMES if one != folder)

    def told(number: int, command: str) -> str | None:
        return answered(deliver({**pre_tool_use(number, command=command), "cwd": "/srv/project"}, HOME=folder))

    assert told(1, f"echo '{{}}' > {folder}/.claude/settings.json") == "deny"
    assert told(2, "echo '{}' > ~/.claude/settings.json") == "deny"
    assert told(3, f"cat {folder}/.npmrc") == "deny"
    assert told(4, f"echo '{{}}' > {other}/.claude/settings.json") == "ask", "that is no home of ours"
    assert told(5, f"echo '{{}}' > {recorder_home}/.claude/settings.json") == "deny", "the recorder's own is protected"
    assert told(6, f"cat {folder}/notes.txt") is None


def test_a_sub_agent_is_judged_by_the_home_of_its_session(recorder_home: Path, deliver: Deliver) -> None:
    said = {**pre_tool_use(1, command="cat /srv/agent/.npmrc"), "cwd": "/srv/project"}
    part = {**said, "agent_id": "a1", "agent_type": "Explore"}
    assert answered(deliver({**part, "tool_use_id": "toolu_1"}, HOME="/srv/agent")) == "deny"
    assert answered(deliver({**part, "tool_use_id": "toolu_2"}, HOME=str(recorder_home))) == "ask"


@pytest.mark.parametrize("folder", ["relative", "/", ""])
def test_what_is_no_home_folder_is_not_judged_by(folder: str, recorder_home: Path, deliver: Deliver) -> None:
    said = {**pre_tool_use(1, command=f"echo alias >> {recorder_home}/.profile"), "cwd": "/srv/project"}
    assert answered(deliver(said, HOME=folder)) == "ask"


def test_a_recorded_call_is_explained_by_the_home_on_record(home: Home, recorder_home: Path, deliver: Deliver) -> None:
    del recorder_home
    deliver(pre_tool_use(1), HOME="/srv/agent")
    wait_for(lambda: any("personal.home" in step.values for step in steps(home)))
    told = answered(deliver(pre_tool_use(2, command="cat /srv/agent/.npmrc"), HOME="/srv/agent"))
    assert told == "deny"
    asked = next(step for step in steps(home) if step.member("corr") == "toolu_0002" and step.type == "tool_call")
    assert len(list(read_session(home, asked.session))) > asked.n
    recorder.stop(home.folder)
    with open_index(home) as index:
        explained = explain_step(index, home, f"{asked.session}:{asked.n}")
    assert (explained.decision.effect.value, explained.agreement) == ("deny", "same")
