"""Payloads with odd characters, and such as cannot be read at all, given to the real hook and recorder."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from tallystick.agents.hooks.asks import ASKS
from tallystick.catalog.agents import Asking
from tallystick.journal.home import Home
from tallystick.model.step import Json
from tallystick.trust.verify import verify_store
from tallystick.workspace.index_live import index_sessions
from tests.scrubbing.labelled_set import filled
from tests.service.conftest import Deliver, pre_tool_use
from tests.service.faults import steps, wait_for
from tests.support import recorders
from tests.support.calls_of_agents import ASKING

TOKEN = filled("gh{}p_{alnum:36}", random.Random(6))


FEW = ("claude-code", "cline")
AGENTS = [pytest.param(agent, marks=[] if agent in FEW else pytest.mark.soak) for agent in sorted(ASKING)]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_denied_call_stays_denied_with_half_a_pair_beside_it(home: Home, deliver: Deliver, agent: str) -> None:
    recorders.start(home.folder)
    asking = ASKING[agent]
    for command in ("cat ~/.ssh/id_rsa", "cat ~/.ssh/id_rsa # \ud800"):
        payload = asking.made(asking.tool, {"command": command}, "/home/dev/project")
        done = deliver(json.dumps(payload).encode(), asking.event, agent=agent)
        assert (done.returncode, bool(done.stdout or done.stderr)) in ((0, True), (2, True)), command
        assert b"deny" in done.stdout or b"cancel" in done.stdout or done.returncode == 2


def test_a_secret_beside_half_a_pair_is_nowhere_in_the_store(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    deliver(pre_tool_use(1, command=f"echo {TOKEN} \ud800", **{"\udc00": f"password={TOKEN}"}))
    wait_for(lambda: [step.type for step in steps(home)].count("tool_call") == 1)
    [call] = [step for step in steps(home) if step.type == "tool_call"]
    said = call.values["content.args"]
    assert isinstance(said, dict)
    assert said["command"] == "echo ‹secret:github-token› \ud800"
    assert verify_store(home).exit_code == 0
    assert index_sessions(home, [call.session]) > 0
    written = b"".join(path.read_bytes() for path in Path(home.folder).rglob("*") if path.is_file())
    for spelled in (TOKEN.encode(), TOKEN.encode("utf-16-be").hex().encode(), TOKEN.encode().hex().encode()):
        assert spelled not in written


# Payloads that cannot be read ------------------------------------------------------------------------------------------


def _spoiled(said: dict[str, Json]) -> dict[str, bytes]:
    """What a payload becomes that no reader of JSON takes as it stands, by what is wrong with it."""
    plain = json.dumps(said).encode()
    command = b'"cat a.txt'
    deep: Json = {}
    for _ in range(100):
        deep = {"a": deep}
    nameless = {key: value for key, value in said.items() if key not in SESSIONS}
    nameless = {**nameless, "input": {"tool": "bash"}} if "input" in nameless else nameless
    return {
        "plain": plain,
        "not UTF-8": plain.replace(command, command + b" \xff"),
        "a byte order mark": b"\xef\xbb\xbf" + plain,
        "UTF-16": plain.decode().encode("utf-16"),
        "a raw newline": plain.replace(command, command + b"\n"),
        "bytes behind it": plain + b"}",
        "another object behind it": plain + b"{}",
        "nested too deep": plain[:-1] + b',"deep":' + json.dumps(deep).encode() + b"}",
        "nested far too deep": plain[:-1] + b',"deep":' + b"[" * 5000 + b"]" * 5000 + b"}",
        "a member twice": plain[:-1] + b',"x":1,"x":2}',
        "half of it": plain[: len(plain) // 2],
        "no session": json.dumps(nameless).encode(),
        "nothing legible": b"\x00\xff" * 20,
    }


SESSIONS = ("session_id", "conversation_id", "taskId", "sessionId", "session")


def _effect(done: subprocess.CompletedProcess[bytes]) -> str:
    """What the agent is told: silence, a question, or a refusal."""
    said = done.stdout + done.stderr
    if not said:
        return "silence"
    return "ask" if b'"ask"' in said else "deny"


@pytest.mark.parametrize("agent", AGENTS)
def test_what_cannot_be_read_is_not_waved_through(home: Home, deliver: Deliver, agent: str) -> None:
    recorders.start(home.folder)
    asking = ASKING[agent]
    at_least = "ask" if ASKS[agent] is Asking.PROMPT else "deny"
    payloads: dict[str, bytes] = {}
    for command, wanted in (("cat a.txt", at_least), ("cat a.txt; cat ~/.ssh/id_rsa", "deny")):
        payloads = _spoiled(asking.made(asking.tool, {"command": command}, "/home/dev/project"))
        found = {wrong: _effect(deliver(data, asking.event, agent=agent)) for wrong, data in payloads.items()}
        unread = {"half of it", "nested far too deep", "nothing legible"}
        assert found == {wrong: at_least if wrong in unread else wanted for wrong in payloads} | {
            "plain": "silence" if wanted == at_least and command == "cat a.txt" else "deny"
        }
    gaps = [step for step in steps(home, "tallystick") if step.type == "gap"]
    assert len(gaps) == 2 * (len(payloads) - 1)
    alarms = [step for step in steps(home, "tallystick") if step.type == "alert"]
    assert len(alarms) >= 1


def test_without_a_recorder_it_is_not_waved_through_either(home: Home, deliver: Deliver) -> None:
    home.folder.mkdir()
    (home.folder / "run").write_text("no folder")  # no recorder can start
    said = pre_tool_use(1, command="cat a.txt")
    found = {
        wrong: _effect(deliver(data, limits={"answer": 1.0, "start": 0.1}))
        for wrong, data in _spoiled(said).items()
        if wrong in ("not UTF-8", "a member twice", "nothing legible", "nested too deep")
    }
    assert set(found.values()) == {"ask"}


def test_of_another_event_only_a_gap_tells_what_could_not_be_read(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    said = {**pre_tool_use(1), "hook_event_name": "PostToolUse", "tool_response": "cat a.txt"}
    payloads = _spoiled(said)
    for wrong in ("not UTF-8", "a byte order mark", "bytes behind it"):
        assert _effect(deliver(payloads[wrong].replace(b'"Bash"', b'"PreToolUse"'))) == "silence"
    assert [step.meta["reason"] for step in steps(home, "tallystick") if step.type == "gap"] == ["bad-payload"] * 3
    assert [step for step in steps(home, "tallystick") if step.type == "alert"] == []
