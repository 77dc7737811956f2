"""The harness of the real agents, without an agent: the scripted model and the box."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tools.live import box, offered
from tools.live.box import Command, Plan
from tools.live.fake_model import FakeModel
from tools.live.script import FOR_A_SUBAGENT, AwaitSubAgent, Finish, LeaveNote, Script, Shell, SubAgent, Turn, Write
from tools.live.wire.neutral import Request, Tool

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
SCRIPT = Script(turns=(Turn("First.", (Shell("ls"),)), Turn("Last.", (Finish(),))), subagent=(Turn("I help."),))

# For each API: the path, a first request, and what says in it that our call was made.
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "/v1/messages",
        {"messages": [{"role": "user", "content": "go"}], "tools": [{"name": "Bash", "input_schema": SCHEMA}]},
    ),
    "chat": (
        "/v1/chat/completions",
        {
            "messages": [{"role": "user", "content": "go"}],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}],
        },
    ),
    "responses": (
        "/v1/responses",
        {"input": "go", "tools": [{"type": "function", "name": "bash", "parameters": SCHEMA}]},
    ),
    "gemini": (
        "/v1beta/models/g:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": "go"}]}],
            "tools": [{"functionDeclarations": [{"name": "bash", "parameters": SCHEMA}]}],
        },
    ),
}


def ask(model: FakeModel, path: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{model.port}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as response:
        return str(response.read().decode())


@pytest.mark.parametrize("api", REQUESTS)
def test_the_model_calls_the_tool_that_a_request_offers(api: str, tmp_path: Path) -> None:
    path, body = REQUESTS[api]
    with FakeModel(SCRIPT, tmp_path / "log") as model:
        whole = ask(model, path, body)
    assert '"ls"' in whole.replace("\\", "")
    (line,) = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [call["input"] for call in line["calls"]] == [{"command": "ls"}]
    assert line["calls"][0]["id"] in whole


@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_a_stream_says_what_the_whole_answer_says(api: str, tmp_path: Path) -> None:
    path, body = REQUESTS[api]
    with FakeModel(SCRIPT, tmp_path / "log") as model:
        stream = ask(model, path, body | {"stream": True})
    lines = [line.removeprefix("data: ") for line in stream.splitlines() if line.startswith("data: {")]
    assert lines
    assert "First." in "".join(str(json.loads(line)) for line in lines)


def test_a_request_that_shows_our_first_turn_gets_the_second(tmp_path: Path) -> None:
    path, body = REQUESTS["chat"]
    call = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    said = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "First.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a"},
    ]
    with FakeModel(SCRIPT, tmp_path / "log") as model:
        answer = json.loads(ask(model, path, body | {"messages": said}))
    assert answer["choices"][0]["message"]["content"] == "Last."


def test_a_subagent_has_a_script_of_its_own(tmp_path: Path) -> None:
    path, body = REQUESTS["chat"]
    with FakeModel(SCRIPT, tmp_path / "log") as model:
        answer = ask(model, path, body | {"messages": [{"role": "user", "content": f"{FOR_A_SUBAGENT}: x"}]})
    assert "I help." in answer


def request_with(*tools: Tool) -> Request:
    return Request(tools={tool.name: tool for tool in tools})


def test_an_act_for_which_no_tool_is_offered_is_not_made() -> None:
    request = request_with(Tool(name="bash", properties={"command": {}}))
    assert [offered.choose(act, request) for act in (SubAgent("x"), AwaitSubAgent("/x"), LeaveNote("x"))] == [None] * 3


def test_an_agent_with_only_a_shell_writes_with_the_shell() -> None:
    chosen = offered.choose(Write("/w/a.txt", "text\n"), request_with(Tool(name="bash", properties={"command": {}})))
    assert chosen is not None
    assert chosen[1]["command"] == "cat > '/w/a.txt' <<'END_OF_FILE'\ntext\nEND_OF_FILE"


def plan(folder: Path, *commands: Command) -> Plan:
    return Plan(
        home=str(folder / "home"),
        project=str(folder / "project"),
        out=str(folder / "out"),
        script=SCRIPT,
        commands=commands,
    )


def test_a_run_has_a_home_of_its_own_and_little_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_VARIABLE_OF_MINE", "1")
    ran = box.run(plan(tmp_path, Command(name="env", argv=("env",))))
    shown = dict(line.split("=", 1) for line in ran.stdout("env").splitlines())
    assert shown["HOME"] == str(tmp_path / "home")
    assert "A_VARIABLE_OF_MINE" not in shown


def test_a_run_reaches_the_model_and_no_other_machine(tmp_path: Path) -> None:
    if not box.namespaces_permitted():
        pytest.skip("this machine permits no namespaces")
    reach = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
    command = Command(name="reach", argv=("python3", "-c", reach), limit_s=10)
    ran = box.run(plan(tmp_path, command))
    assert "unreachable" in ran.stderr("reach")


def test_a_command_is_interrupted_when_its_file_is_there_and_killed_at_its_limit(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    waits = Command(name="waits", argv=("sh", "-c", f"touch {mark}; exec sleep 30"), interrupt_at=mark)
    stays = Command(name="stays", argv=("sleep", "30"), limit_s=0.3)
    ran = box.run(plan(tmp_path, waits, stays))
    assert (ran.command("waits").interrupted, ran.command("waits").exit_code) == (True, -2)
    assert (ran.command("stays").killed, ran.command("stays").exit_code) == (True, -9)


def test_without_namespaces_nothing_is_left_running_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("no /proc here")
    monkeypatch.setattr(box, "namespaces_permitted", lambda: False)
    pid = tmp_path / "pid"
    leaves = Command(name="leaves", argv=("sh", "-c", f"setsid sleep 60 & echo $! > {pid}"))
    ran = box.run(plan(tmp_path, leaves))
    assert not ran.sealed
    state = Path(f"/proc/{pid.read_text().strip()}/status")
    assert not state.exists() or "zombie" in state.read_text()
