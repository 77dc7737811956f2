"""The plugin of Hermes: what it tells, and what it has Hermes do. The real Hermes runs it in tests/live."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tallystick.plugins.hermes
from tallystick.agents.hermes import hooks as adapter
from tallystick.journal.home import Home
from tests.plugins.store import a_store, steps, until
from tests.support import recorders
from tools.live import install


class Context:
    """The part of Hermes' plugin context that a plugin needs."""

    def __init__(self) -> None:
        self.hooks: dict[str, Callable[..., Any]] = {}

    def register_hook(self, name: str, hook: Callable[..., Any]) -> None:
        self.hooks[name] = hook


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with a_store(tmp_path) as store:
        recorders.start(store.folder)
        yield store


@pytest.fixture
def fire(home: Home, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Call a hook as Hermes does."""
    for name in ("HERMES_YOLO_MODE", "HERMES_CRON_SESSION"):
        monkeypatch.delenv(name, raising=False)
    plugin = importlib.reload(tallystick.plugins.hermes)
    plugin.use(sys.executable, str(home.folder))
    context = Context()
    plugin.register(context)
    assert set(context.hooks) == set(adapter.EVENTS)

    def call(name: str, **named: Any) -> Any:
        return context.hooks[name](session_id="s-1", telemetry_schema_version="v1", **named)

    return call


def test_what_hermes_does_is_recorded(home: Home, fire: Callable[..., Any]) -> None:
    fire("on_session_start", model="m", platform="cli")
    fire("pre_llm_call", user_message="do it", conversation_history=["not", "kept"], is_first_turn=True)
    assert fire("pre_tool_call", tool_name="terminal", args={"command": "ls"}, tool_call_id="c1") is None
    assert fire("post_tool_call", tool_name="terminal", result='{"exit_code": 0}', tool_call_id="c1") is None
    until(lambda: steps(home, "hermes", "tool_result"))
    kinds = [step.type for step in steps(home, "hermes")]
    assert kinds.index("user") < kinds.index("tool_call") < kinds.index("tool_result")
    assert not any("not kept" in str(step.values) for step in steps(home, "hermes"))


def test_a_refused_call_is_blocked_with_its_reason(home: Home, fire: Callable[..., Any]) -> None:
    directive = fire("pre_tool_call", tool_name="terminal", args={"command": f"rm -rf {home.folder}"})
    assert directive["action"] == "block"
    until(lambda: steps(home, "hermes", "decision"))
    assert steps(home, "hermes", "decision")[0].values["content.text"] == directive["message"]


ASKED = {"command": "echo '{}' > /home/dev/.claude/settings.json"}
"""What the shipped policy wants a human to allow."""


def test_a_call_that_needs_a_human_has_one_asked_for_that_call_alone(fire: Callable[..., Any]) -> None:
    first = fire("pre_tool_call", tool_name="terminal", args=ASKED, tool_call_id="c1")
    again = fire("pre_tool_call", tool_name="terminal", args=ASKED, tool_call_id="c2")
    other = fire("pre_tool_call", tool_name="terminal", args={"command": ASKED["command"] + " "}, tool_call_id="c3")
    assert {first["action"], again["action"], other["action"]} == {"approve"}
    assert first["rule_key"] == again["rule_key"] != other["rule_key"]


@pytest.mark.parametrize("variable", ["HERMES_YOLO_MODE", "HERMES_CRON_SESSION"])
def test_where_hermes_would_ask_nobody_it_is_blocked(
    fire: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    directive = fire("pre_tool_call", tool_name="terminal", args=ASKED, tool_call_id="c1")
    assert directive["action"] == "block"
    assert "Nobody can be asked" in directive["message"]


def test_what_hermes_itself_says_of_asking_counts(fire: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    approval = ModuleType("tools.approval")
    approval.is_approval_bypass_active = lambda: True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tools", ModuleType("tools"))
    monkeypatch.setitem(sys.modules, "tools.approval", approval)
    assert fire("pre_tool_call", tool_name="terminal", args=ASKED)["action"] == "block"


def test_a_hook_without_a_session_names_its_parents(home: Home, fire: Callable[..., Any]) -> None:
    plugin = tallystick.plugins.hermes
    said = plugin._say("subagent_start", ("child_session_id",), {"parent_session_id": "p", "child_session_id": "c"})
    assert (said["session"], said["child_session_id"]) == ("p", "c")


def test_the_real_hermes_has_what_the_plugin_asks_it() -> None:
    """A new version without it would make every `ask` a yes under --yolo."""
    agent = install.agent_named("hermes")
    program = install.program(agent)
    if program is None:
        pytest.skip(f"Hermes is not installed in {install.place()}: make agents")
    (approval,) = (install.place() / agent.folder).glob("lib/python3*/site-packages/tools/approval.py")
    assert "\ndef is_approval_bypass_active() -> bool:" in approval.read_text("utf-8")


# Where a session comes from ------------------------------------------------------------------------------------------

RECORDING = Path(__file__).parents[1] / "recordings" / "hermes" / "0.19.0" / ".hermes" / "state.db"
CHAIN = ("21511ee8-a8f0-4dbd-a825-da85930c520b", "20261121_203915_ae293e", "20261121_203918_639673")


@pytest.fixture
def plugin() -> ModuleType:
    """The plugin in a process that has told of no session yet."""
    return importlib.reload(tallystick.plugins.hermes)


def test_a_sessions_first_hook_tells_its_row_and_its_parents(plugin: ModuleType) -> None:
    found = plugin._origin(CHAIN[1], str(RECORDING))
    assert (found["row"]["id"], found["row"]["parent_session_id"]) == (CHAIN[1], CHAIN[0])
    assert (found["parent_row"]["id"], found["parent_row"]["end_reason"]) == (CHAIN[0], "compression")
    assert set(found["row"]) == {"id", "source", "parent_session_id", "started_at", "ended_at", "end_reason"}
    assert plugin._origin(CHAIN[1], str(RECORDING)) == {}


def test_of_what_a_row_was_configured_with_only_the_markers_are_told(plugin: ModuleType) -> None:
    found = plugin._origin("20260101_000000_branch", str(RECORDING))
    assert found["row"]["model_config"] == f'{{"_branched_from": "{CHAIN[2]}"}}'


def test_a_session_without_a_parent_or_a_store_tells_nothing(plugin: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database")
    assert plugin._origin(CHAIN[0], str(RECORDING)) == {}
    assert plugin._origin(CHAIN[1], str(tmp_path / "text.db")) == {}
    assert plugin._origin(CHAIN[2], str(tmp_path / "gone.db")) == {}
    assert plugin._origin(None, str(RECORDING)) == plugin._origin("x", None) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


def test_what_is_remembered_of_sessions_is_bounded(plugin: ModuleType) -> None:
    for number in range(2000):
        plugin._origin(f"s{number}", str(RECORDING.with_name("gone.db")))
    assert len(plugin._seen) <= 1000
