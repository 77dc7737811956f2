from __future__ import annotations

from hashlib import sha256

from tallystick.graph.calls import effects_of
from tallystick.graph.projection.active_calls import MOST_CALLS, Running, RunningCalls, open_call
from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import ToolCall
from tallystick.lineage.correlate import OpenCall, SeenEffect, Target
from tests.support.cases import each


def shell_call(command: str, step: int = 1, at: int = 1000) -> OpenCall:
    uses = uses_of(ToolCall(tool="Bash", args={"command": command}, folder="/w"))
    return open_call(step, "s", at, "/w", effects_of(uses, "/w"))


@each("command", ["make all", "npm run build", "./gen", "python gen.py", "frobnicate x"])
def test_a_program_of_which_no_file_is_told_may_write_anything(command: str) -> None:
    assert shell_call(command).is_opaque


@each("command", ["cat a", "ls", "echo hi", "cp a b", "grep x a; pwd"])
def test_a_command_that_tells_its_files_writes_no_others(command: str) -> None:
    assert not shell_call(command).is_opaque


def test_what_a_call_writes_and_what_it_reads_are_told_apart() -> None:
    assert {(target.path, target.is_write) for target in shell_call("cp a b").targets} == {
        ("/w/a", False),
        ("/w/b", True),
    }


def test_only_the_newest_calls_are_looked_at() -> None:
    running = RunningCalls(lambda: ())
    assert running.cause_of(SeenEffect(path="/w/0", at_ms=1000)) is None
    for n in range(MOST_CALLS + 1):
        running.begin(n, f"c{n}", shell_call(f"touch {n}", step=n))
    forgotten, kept = (running.cause_of(SeenEffect(path=f"/w/{n}", at_ms=1000)) for n in (0, 1))
    assert forgotten is None
    assert kept is not None
    assert (kept.step, kept.matched_by) == (1, "path")


def test_earlier_calls_are_asked_for_when_they_are_needed() -> None:
    running = RunningCalls(lambda: [Running(1, "c1", shell_call("touch a"))])
    found = running.cause_of(SeenEffect(path="/w/a", at_ms=1000))
    assert found is not None


def test_a_call_that_ended_or_was_denied_or_replaced_is_no_cause() -> None:
    for change in ("end", "deny", "drop"):
        running = RunningCalls(lambda: ())
        running.cause_of(SeenEffect(path="/w/a", at_ms=0))
        running.begin(1, "c1", shell_call("make all"))
        assert running.cause_of(SeenEffect(path="/w/x", at_ms=9000)) is not None
        if change == "end":
            running.end(1, "c1", 1500)
        elif change == "deny":
            running.deny(1)
        else:
            running.drop(1)
        assert running.cause_of(SeenEffect(path="/w/x", at_ms=9000)) is None


def test_what_a_call_writes_whole_has_a_digest_and_what_it_changes_in_part_has_none() -> None:
    def target_of(tool: str, **args: str) -> Target:
        uses = uses_of(ToolCall(tool=tool, args={"file_path": "/w/a", **args}, folder="/w"))
        [target] = [one for one in open_call(1, "s", 0, "/w", effects_of(uses, "/w")).targets if one.is_write]
        return target

    assert target_of("Write", content="x").digest == f"sha256:{sha256(b'x').hexdigest()}"
    assert target_of("Write", content="key = ‹secret:token›").digest is None
    assert target_of("Edit", old_string="x", new_string="y").digest is None


def test_a_new_prompt_ends_what_has_no_result() -> None:
    running = RunningCalls(lambda: ())
    assert running.is_empty
    running.begin(1, "c1", shell_call("make all"))
    running.end_all(1200)
    assert running.cause_of(SeenEffect(path="/w/x", at_ms=9000)) is None
    running.end(1, "another", 9500)
    assert running.cause_of(SeenEffect(path="/w/x", at_ms=9000)) is None
    running.end(1, "c1", 9500)
    assert running.cause_of(SeenEffect(path="/w/x", at_ms=9000)) is not None
