"""The JavaScript of opencode's plugin and pi's extension, run by node against a real recorder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tallystick.hook
from tallystick.agents.hooks import HookCommand, javascript
from tallystick.agents.opencode import hooks as opencode
from tallystick.agents.pi import hooks as pi
from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tests.plugins.store import a_socket_that_never_answers, a_store, no_recorder_can_start, spooled, steps, until
from tests.support import recorders

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node on PATH")

_SETUP = """
import * as plugin from "./plugin.mjs"
const outcomes = []
async function note(run) {
  const began = performance.now()
  let gave, threw
  try { gave = await run() } catch (error) { threw = String(error.message) }
  outcomes.push({ gave: gave ?? null, threw: threw ?? null, ms: performance.now() - began })
}
"""
_OPENCODE = """
const hooks = await plugin.Tallystick({ directory: "/home/dev/project" })
const before = (id, args) => hooks["tool.execute.before"]({ tool: "bash", sessionID: "ses_1", callID: id }, { args })
const after = (id, output) => hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: id }, output)
"""
_PI = """
const registry = new Map()
plugin.default({ on: (name, handler) => registry.set(name, handler) })
const manager = { getSessionId: () => "s-1", getSessionFile: () => undefined }
const fire = (event, context) =>
  registry.get(event.type)(event, context ?? { cwd: "/home/dev/project", sessionManager: manager })
const call = (id, input) => fire({ type: "tool_call", toolName: "bash", toolCallId: id, input })
"""
Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with a_store(tmp_path) as store:
        yield store


@pytest.fixture
def run(home: Home, tmp_path: Path) -> Run:
    """Run JavaScript beside our plugin for an agent; what came of each call that it notes."""

    def run_it(adapter: ModuleType, script: str, hook: str = tallystick.hook.__file__) -> list[dict[str, Any]]:
        command = HookCommand(python=sys.executable, hook=hook, home=str(home.folder))
        (file,) = adapter.settings(project=False)
        (tmp_path / "plugin.mjs").write_bytes(adapter.configure(file, b"", command))
        setup = _SETUP + (_OPENCODE if adapter is opencode else _PI)
        (tmp_path / "run.mjs").write_text(f"{setup}{script}\nconsole.log(JSON.stringify(outcomes))\n", "utf-8")
        assert NODE is not None
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run(
            [NODE, str(tmp_path / "run.mjs")], capture_output=True, env=environment, timeout=120, check=False
        )
        assert (done.returncode, done.stderr.decode()) == (0, "")
        outcomes: list[dict[str, Any]] = json.loads(done.stdout)
        return outcomes

    return run_it


def test_it_speaks_as_the_hook_of_this_version() -> None:
    hook = HookCommand(python="/p", hook="/h/hook.py")
    text = javascript.text("pi", hook, "").decode()
    assert f'const VERSION = "{tallystick.hook.VERSION}"' in text
    assert "const HOME = null ??" in text


def test_what_opencode_does_is_recorded_and_a_forbidden_call_throws(home: Home, run: Run) -> None:
    recorders.start(home.folder)
    allowed, result, forbidden = run(
        opencode,
        f"""
        await note(() => before("c1", {{ command: "echo hi" }}))
        await note(() => after("c1", {{ title: "", output: "hi\\n", metadata: {{ output: "hi\\n", exit: 0 }} }}))
        await note(() => before("c2", {{ command: "rm -rf {home.folder}" }}))
        """,
    )
    assert (allowed["threw"], result["threw"]) == (None, None)
    assert forbidden["threw"]
    until(lambda: len(steps(home, "opencode", "tool_call")) == 2)
    (decision,) = steps(home, "opencode", "decision")
    assert decision.meta["effect"] == "deny"
    assert forbidden["threw"] == f"{decision.values['content.text']} {decision.values['content.remedy']}"
    (shown,) = steps(home, "opencode", "tool_result")
    assert (shown.meta["corr"], shown.values["content.output"]) == ("c1", "hi\n")


def test_the_first_prompt_of_opencodes_sub_agent_names_its_parent(home: Home, run: Run) -> None:
    recorders.start(home.folder)
    run(
        opencode,
        """
        const said = (id) => hooks["chat.message"](
          { sessionID: "ses_2" },
          { message: { id }, parts: [{ type: "text", text: id }] },
        )
        const info = { id: "ses_2", parentID: "ses_1" }
        await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_2", info } } })
        await hooks.event({ event: { type: "message.part.updated", properties: { sessionID: "ses_2" } } })
        await said("msg_1")
        await said("msg_2")
        """,
    )
    until(lambda: len(steps(home, "opencode", "user")) == 2)
    assert [step.meta.get("origin") for step in steps(home, "opencode", "user")] == ["parent", None]


def test_what_pi_does_is_recorded_and_a_forbidden_call_is_blocked(home: Home, run: Run) -> None:
    recorders.start(home.folder)
    allowed, forbidden = run(
        pi,
        f"""
        await fire({{ type: "session_start" }})
        await fire({{ type: "input", text: "do it" }})
        await note(() => call("c1", {{ command: "echo hi" }}))
        await fire({{ type: "tool_result", toolName: "bash", toolCallId: "c1", content: [], isError: false }})
        await note(() => call("c2", {{ command: "rm -rf {home.folder}" }}))
        """,
    )
    assert allowed["gave"] is None
    assert forbidden["gave"]["block"] is True
    until(lambda: len(steps(home, "pi", "tool_call")) == 2)
    (decision,) = steps(home, "pi", "decision")
    said = f"{decision.values['content.text']} {decision.values['content.remedy']}"
    assert forbidden["gave"]["reason"] == said
    assert [step.values["content.text"] for step in steps(home, "pi", "user")] == ["do it"]


def test_pi_does_not_break_where_its_context_cannot_be_asked_and_the_call_is_refused(home: Home, run: Run) -> None:
    recorders.start(home.folder)
    stale = '{ get sessionManager() { throw new Error("stale") }, get cwd() { throw new Error("stale") } }'
    (outcome,) = run(pi, f"await note(() => fire({{ type: 'tool_call', toolName: 'bash', input: {{}} }}, {stale}))")
    assert outcome["threw"] is None
    assert "has no session" in outcome["gave"]["reason"]
    until(lambda: steps(home, "tallystick", "gap"))


def test_without_a_recorder_the_hook_keeps_what_is_delivered_and_decides(home: Home, run: Run) -> None:
    with no_recorder_can_start(home):
        told, forbidden = run(
            pi,
            f"""
            await note(() => fire({{ type: "input", text: "do it" }}))
            await note(() => call("c1", {{ command: "rm -rf {home.folder}" }}))
            """,
        )
        assert told["threw"] is None
        assert forbidden["gave"]["block"] is True
        assert [said["hook"] for said in spooled(home)] == ["input", "tool_call"]
    recorders.start(home.folder)
    until(lambda: len(steps(home, "pi", "tool_call")) == 1)
    until(lambda: not list(Place(home.folder).spool.glob("*.spool")))


def test_the_first_call_starts_a_recorder(home: Home, run: Run) -> None:
    # On a busy machine it may come too late to decide: then the call is refused, and recorded all the same.
    run(opencode, 'await note(() => before("c1", { command: "echo hi" }))')
    until(lambda: recorder.status(home.folder) is not None)
    until(lambda: len(steps(home, "opencode", "tool_call")) == 1)


def test_a_socket_that_never_answers_costs_a_few_seconds_and_loses_nothing(home: Home, run: Run) -> None:
    with a_socket_that_never_answers(home):
        (outcome,) = run(opencode, 'await note(() => after("c1", { output: "hi" }))')
        assert outcome["threw"] is None
        assert 1000 <= outcome["ms"] < 6000, "its own patience, and that of the hook"
        assert [said["hook"] for said in spooled(home)] == ["tool.execute.after"]


def test_where_tallystick_was_removed_the_agent_goes_on_at_once(home: Home, run: Run) -> None:
    (outcome,) = run(opencode, 'await note(() => before("c1", { command: "ls" }))', hook="/nowhere/tallystick/hook.py")
    assert outcome["threw"] is None
    assert outcome["ms"] < 1000
    assert not home.folder.exists()


def test_a_result_of_twenty_megabytes_is_recorded(home: Home, run: Run) -> None:
    recorders.start(home.folder)
    (outcome,) = run(opencode, 'await note(() => after("c1", { output: "x".repeat(20 << 20) }))')
    assert outcome["threw"] is None
    until(lambda: len(steps(home, "opencode", "tool_result")) == 1, 30)


FORMLESS: list[tuple[str, dict[str, Any] | None]] = [
    ("const value = {}; value.self = value", {"self": "(circular)"}),
    ("const value = { n: 2n ** 70n }", {"n": "1180591620717411303424"}),
    ("const value = { run() {}, s: Symbol('x'), u: undefined, a: [() => 1] }", {"a": [None]}),
    ("const value = { get broken() { throw new Error('no') }, kept: 1 }", {"kept": 1}),
    ("const value = { toJSON() { throw new Error('no') }, kept: new Date(0) }", {"kept": "1970-01-01T00:00:00.000Z"}),
    ("let value = {}; for (let i = 0; i < 5000; i++) value = { value }; value.n = 1n; value.self = value", None),
    ("const value = new Proxy({}, { ownKeys() { throw new Error('no') } })", {}),
    ("const value = { s: '\\ud800' }", None),
]


def test_what_json_has_no_form_for_breaks_nothing(home: Home, run: Run) -> None:
    recorders.start(home.folder)
    calls = [
        f"{{ {make}; await note(() => after('c{n}', {{ output: 'hi', metadata: value }})) }}"
        for n, (make, _) in enumerate(FORMLESS)
    ]
    outcomes = run(opencode, "\n".join(calls))
    assert [outcome["threw"] for outcome in outcomes] == [None] * len(FORMLESS)
    until(lambda: len(steps(home, "opencode", "tool_result")) == len(FORMLESS))
    results = {result.meta["corr"]: result.values for result in steps(home, "opencode", "tool_result")}
    assert {values["content.output"] for values in results.values()} == {"hi"}
    for n, (make, seen) in enumerate(FORMLESS):
        assert seen is None or results[f"c{n}"].get("content.result", {}) == seen, make
