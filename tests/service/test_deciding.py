"""Policies while the recorder runs: what cannot be used leaves no call without an answer."""

from __future__ import annotations

import time
from pathlib import Path

from tallystick.capture import recorder
from tallystick.journal.home import Home
from tallystick.operations.doctor import State, examine
from tallystick.operations.install import Surroundings
from tests.service.faults import answers, before, send, wait_for


def test_a_broken_policy_put_there_while_it_runs_is_answered_as_on_error_says_until_it_is_mended(home: Home) -> None:
    recorder.start(home.folder)
    assert answers(home, 1)
    broken = home.folder / "policy" / "mine.cedar"
    broken.parent.mkdir(exist_ok=True)
    broken.write_text("forbid (principal, action, resource) whenever { maybe };")
    wait_for(lambda: b'"ask"' in send(home, before("claude-code", 2)))
    where = Surroundings(user=home.folder.parent)
    found = next(check for check in examine(home, where) if check.name == "policy")
    assert found.state is State.BAD
    broken.unlink()
    wait_for(lambda: send(home, before("claude-code", 3)) == b"0 0 0\n")


def test_a_broken_policy_is_not_loaded_again_for_each_call(tmp_path: Path) -> None:
    from tallystick.model.decision import Call, Effect
    from tallystick.service.deciding import Deciding

    home = Home(tmp_path / "store")
    policy = home.folder / "policy" / "mine.cedar"
    policy.parent.mkdir(parents=True)
    policy.write_text("permit nothing")
    deciding = Deciding(home)
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": "ls"})
    assert deciding(call).effect is Effect.ASK
    began = time.perf_counter()
    assert {deciding(call).effect for _ in range(50)} == {Effect.ASK}
    assert time.perf_counter() - began < 1.0, "fifty loads would take five seconds"
    assert "mine.cedar" in (deciding.error or "")


def test_a_fault_of_ours_is_answered_as_on_error_says_and_not_with_silence(tmp_path: Path) -> None:
    from tallystick.model.decision import Call, Effect
    from tallystick.service.deciding import Deciding

    class Unreadable:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

    deciding = Deciding(Home(tmp_path / "store"))
    deciding(Call(agent="claude-code", session="s", tool="Bash"))
    decision = deciding(Call(agent="claude-code", session="s", tool="Bash", args=Unreadable()))
    assert decision.effect is Effect.ASK
