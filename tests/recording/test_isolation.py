"""Whether a sub-agent's session stands alone: read from its definition, and sealed with the session."""

import json
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Helpers
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.model.decision import NO_OPINION
from tallystick.model.step import Opening, SessionKind
from tallystick.recording.isolation import with_isolation
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_writer import SessionWriter
from tests.support.at_once import at_once, take


def define(folder: Path, name: str, word: str) -> None:
    (folder / "agents" / name).mkdir(parents=True)
    (folder / "agents" / name / "AGENT.md").write_text(f"---\nname: {name}\nsession_isolation: {word}\n---\n")


def child(role: str | None = "operator", kind: SessionKind = SessionKind.CHILD) -> Opening:
    return Opening(session="s/1", agent="lango", kind=kind, meta={} if role is None else {"agent_role": role})


@pytest.mark.parametrize(("word", "said"), [("true", True), ("false", False)])
def test_the_definition_in_the_folder_says_it(tmp_path: Path, word: str, said: bool) -> None:
    define(tmp_path, "operator", word)
    assert with_isolation(child(), str(tmp_path), tmp_path / "home").meta["session_isolation"] is said


def test_the_folder_is_asked_before_the_agents_home(tmp_path: Path) -> None:
    define(tmp_path / "home" / ".lango", "operator", "true")
    assert with_isolation(child(), str(tmp_path), tmp_path / "home").meta["session_isolation"] is True
    define(tmp_path, "operator", "false")
    assert with_isolation(child(), str(tmp_path), tmp_path / "home").meta["session_isolation"] is False


@pytest.mark.parametrize(
    "opening",
    [child(kind=SessionKind.ROOT), child("chronicler"), child("../operator"), child("a/../operator"), child("")],
    ids=["a root", "not defined", "a way out", "a way", "no name"],
)
def test_otherwise_nothing_is_said(tmp_path: Path, opening: Opening) -> None:
    define(tmp_path, "operator", "true")
    assert with_isolation(opening, str(tmp_path), tmp_path / "home") == opening


def test_what_a_source_said_itself_stands(tmp_path: Path) -> None:
    define(tmp_path, "operator", "true")
    said = Opening(
        session="s/1",
        agent="lango",
        kind=SessionKind.CHILD,
        meta={"agent_role": "operator", "session_isolation": False},
    )
    assert with_isolation(said, str(tmp_path), tmp_path / "home") == said


def test_a_sub_agent_of_the_python_api_has_it_in_its_first_step(home: Home, tmp_path: Path) -> None:
    define(tmp_path, "operator", "true")
    with (
        Recorder(home.folder) as recorder,
        recorder.session("mine", cwd=str(tmp_path)) as session,
        session.subagent("operator") as working,
    ):
        first = next(iter(working))
    assert first.meta["session_isolation"] is True


class Nobody:
    """No transcripts."""

    def watch(self, agent: str, session: str, path: str) -> None: ...

    def poll(self, agent: str | None = None, session: str | None = None) -> bool:
        return False

    def finish(self, agent: str, session: str) -> None: ...

    def close(self) -> None: ...


def test_a_sub_agent_that_a_hook_tells_of_has_it_in_its_first_step(home: Home, tmp_path: Path) -> None:
    define(tmp_path, "operator", "true")
    said = {"session_id": "s", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    calls = (
        {**said, "hook_event_name": "PreToolUse", "tool_use_id": "1"},
        {**said, "hook_event_name": "PreToolUse", "tool_use_id": "2", "agent_id": "a1", "agent_type": "operator"},
    )
    with SessionWriter(home) as session_writer:
        live = HookPipeline(session_writer, Helpers(at_once(lambda _: NO_OPINION), Nobody()), monotonic=lambda: 0.0)
        for call in calls:
            data = json.dumps(call).encode()
            take(live, Delivery(agent="claude-code", data=data, received="2026-11-22T02:00:00Z"))
    firsts = [next(iter(read_session(home, sid))) for sid, _ in home.sessions()]
    assert {first.meta["kind"]: first.meta.get("session_isolation") for first in firsts} == {
        "root": None,
        "child": True,
    }
