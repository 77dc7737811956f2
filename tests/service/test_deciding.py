"""Policies while the recorder runs: what cannot be used leaves no call without an answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tallystick.capture import recorder
from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Json, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tallystick.setup.check import State
from tallystick.setup.doctor import examine
from tests.service.faults import SESSION, before, send, wait_for
from tests.support import recorders


def test_a_broken_policy_leaves_the_last_good_set_in_force_until_it_is_mended(home: Home) -> None:
    mine = home.folder / "policy" / "mine.cedar"
    mine.parent.mkdir(exist_ok=True, parents=True)
    mine.write_text('@decision("ask") forbid (principal, action == Action::"run", resource);')
    recorders.start(home.folder)
    wait_for(lambda: b'"ask"' in send(home, before("claude-code", 1)))
    mine.write_text("forbid (principal, action, resource) whenever { maybe };")
    where = Surroundings(user=home.folder.parent)
    found = next(check for check in examine(home, where) if check.name == "policy")
    assert found.state is State.BAD
    assert "mine.cedar, the policy on line 1" in found.found
    wait_for(lambda: _reasons(home) == ["changed", "broken"])
    assert b'"ask"' in send(home, before("claude-code", 2))
    mine.unlink()
    wait_for(lambda: send(home, before("claude-code", 3)) == b"0 0 0\n")
    assert _reasons(home) == ["changed", "broken", "changed"]


def _with_history(home: Home, calls: int) -> None:
    """A session that made so many calls; none of them is anything that counts against it."""
    init_store(home)
    with SessionWriter(home) as writer:
        for number in range(calls):
            made: dict[str, Json] = {"content.args": {"command": f"echo {number} > a{number}.txt"}}
            for kind, values in (("tool_call", made), ("tool_result", {"content.output": "done"})):
                step = Step(
                    session=SESSION,
                    type=kind,
                    source=Source.HOOK,
                    source_id=f"old-{number}/{kind}",
                    meta={"tool": "Bash", "corr": f"old-{number}"},
                    values={**values, "personal.cwd": str(home.folder.parent)},
                )
                writer.add("claude-code", step)


def _asks(home: Home, number: int, command: str) -> str:
    """What is answered to a command in that session: `silent`, or the decision with its reason."""
    said = {**before("claude-code", number, command=command), "cwd": str(home.folder.parent)}
    answer = send(home, said).partition(b"\n")[2]
    if not answer:
        return "silent"
    found = json.loads(answer)["hookSpecificOutput"]
    return f"{found['permissionDecision']}: {found['permissionDecisionReason']}"


@pytest.mark.parametrize("calls", [300, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_resumed_session_is_judged_by_what_was_kept_of_it(home: Home, calls: int) -> None:
    """A recorder that was killed has kept it before; without that, harmless calls are not questioned while it is read."""
    _with_history(home, calls)
    (home.folder.parent / "run.sh").write_text("#!/bin/sh\necho hello\n")
    pid = recorders.start(home.folder)
    assert _asks(home, 1, "git status") == "silent"
    wait_for(lambda: list(home.states.glob("*.state")), 600)  # all of its history is judged before
    assert _asks(home, 2, "sh run.sh") == "silent"
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: recorder.status(home.folder) is None)
    recorders.start(home.folder)
    assert _asks(home, 3, "sh run.sh") == "silent"
    recorder.stop(home.folder)
    for path in home.states.iterdir():
        path.unlink()
    recorders.start(home.folder)
    assert [_asks(home, number, "git status") for number in range(4, 9)] == ["silent"] * 5
    wait_for(lambda: _asks(home, 9, "sh run.sh") == "silent")


def _reasons(home: Home) -> list[object]:
    """What the record says of changes of policy."""
    send(home, before("claude-code", 99))  # files are looked at when a call is decided
    sids = [sid for sid, _ in home.sessions()]
    steps = [step for sid in sids for step in read_session(home, sid, load_blobs=True)]
    return [step.meta["reason"] for step in steps if step.type == "policy_change"]


def test_the_recorder_listens_before_policies_are_loaded() -> None:
    code = "import sys, tallystick.service.parts; print([name for name in sys.modules if name in sys.argv])"
    late = ("cedarpy", "tallystick.policy.cedar.engine", "tallystick.intent.programs", "tallystick.guard.decide")
    done = subprocess.run([sys.executable, "-c", code, *late], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_fault_of_ours_is_answered_as_on_error_says_and_not_with_silence(tmp_path: Path) -> None:
    from tallystick.model.decision import Call, Effect
    from tallystick.service.deciding import Deciding

    class Unreadable:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

    deciding = Deciding(Home(tmp_path / "store"))
    deciding(Call(agent="claude-code", session="s", tool="Bash"))
    decision = deciding(Call(agent="claude-code", session="s", tool="Bash", args=cast("Json", Unreadable())))
    assert decision.effect is Effect.ASK


def test_what_cannot_be_decided_and_only_looks_is_let_through(tmp_path: Path) -> None:
    from tallystick.model.decision import Call, Effect
    from tallystick.service.deciding import Deciding

    home = Home(tmp_path / "store")
    mine = home.folder / "policy" / "mine.cedar"
    mine.parent.mkdir(parents=True)
    mine.write_text("forbid (principal, action, resource) when { 9223372036854775807 + 1 == 0 };")
    deciding = Deciding(home)

    def decided(tool: str, **args: str) -> Effect:
        return deciding(Call(agent="claude-code", session="s", tool=tool, args=args, cwd="/srv")).effect

    assert decided("Read", file_path="/srv/a.py") is Effect.ALLOW
    assert decided("Write", file_path="/srv/a.py", content="x") is Effect.ASK
    assert decided("Bash", command="ls") is Effect.ASK
