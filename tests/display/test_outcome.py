"""A step in a few words."""

import pytest

from tallystick.display.outcome import duration_text, name_of, outcome_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.support.cases import each


def step(type_: str, /, values: dict[str, Json] | None = None, **members: Json) -> Recorded:
    meta = {"type": type_, "recorded": "2026-01-02T03:04:05.000006Z", **members}
    return Recorded(session="ab" * 16, n=7, hash="cd" * 32, prev="ef" * 32, parents=(), meta=meta, values=values or {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (step("tool_call", {"content.args": {"description": "why", "command": "ls -l\npwd"}}), "ls -l …"),
        (step("tool_call", {"content.args": {"command": ["git", "push"]}}), "git push"),
        (step("tool_call", {"content.args": {"odd": 1}}), '{"odd": 1}'),
        (step("tool_call", {"content.args": "free text"}), "free text"),
        (step("tool_call"), ""),
        (step("tool_result", {"content.output": "done\nmore"}, success=True), "done …"),
        (
            step("tool_result", {"content.output": "no file"}, success=False, exit_code=2),
            "failed, exit 2 · no file",
        ),
        (step("tool_result", {"content.output": ""}, exit_code=0), "exit 0"),
        (
            step("tool_result", {"content.output": "not allowed"}, decision="deny", decided_by="hook", success=False),
            "DENIED by hook · not allowed",
        ),
        (step("tool_result", {"content.output": [{"type": "text", "text": "a"}, {"type": "image"}]}), "a …"),
        (
            step("model_call", tokens={"input": 1234, "output": 5}, cost_microusd=1500),
            "1,234 in, 5 out · $0.0015",
        ),
        (step("model_call"), ""),
        (step("assistant", {"content.text": "Hello"}), "Hello"),
        (step("assistant", {"content.thinking": "Hm"}), "(thinking) Hm"),
        (step("session_end", status="failed"), "failed"),
        (step("session_start", {"personal.cwd": "/home/dev"}, kind="root", resumed=True), "root · resumed · /home/dev"),
        (step("security_decision", {"content.reason": "verified"}, action="allow"), "allow · verified"),
        (step("security_decision", action="deny"), "DENIED"),
        (step("a_type_of_later", {"content.novel": "something"}), "something"),
        (step("sighting", source="hook", steps=[{"n": 1}, {"n": 2}]), "confirmed: hook reports the same 2 steps"),
        (step("warning", {"content.text": {"blocks": 1}}), '{"blocks": 1}'),
    ],
)
def test_the_outcome_is_what_says_most(given: Recorded, said: str) -> None:
    assert outcome_of(given, 80) == said


def test_what_cannot_be_shown_is_named() -> None:
    import msgspec

    hidden = msgspec.structs.replace(
        step("tool_result"), withheld=("content.output",), unloaded={"content.error": 70_000}
    )
    assert outcome_of(hidden, 80) == "▧ withheld: content.output · content.error of 70,000 bytes"


@each(
    "members",
    [
        {"tokens": "odd"},
        {"tokens": {"input": "1"}},
        {"duration_ms": "long"},
        {"duration_ms": -1},
        {"steps": 5},
        {"decision": 5},
        {"exit_code": [1]},
        {"ts": 5, "recorded": None},
        {"cost_microusd": "x"},
    ],
)
@each("kind", ["model_call", "tool_result", "sighting", "user", "session_end", "?"])
def test_members_of_odd_types_are_passed_over(kind: str, members: dict[str, Json]) -> None:
    from tallystick.cli.steps import step_line

    assert step_line(step(kind, {"content.args": [1], "content.text": 5}, **members), 100, place="7")


@each(
    "milliseconds, text",
    [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (61_000, "1 min 1 s"), (7_260_000, "2 h 1 min")],
)
def test_durations_are_for_people(milliseconds: int, text: str) -> None:
    assert duration_text(milliseconds) == text


def test_the_name_is_the_tool_the_model_or_the_agent() -> None:
    assert name_of(step("tool_call", tool="Bash")) == "Bash"
    assert name_of(step("model_call", model="m", tool="x")) == "m"
    assert name_of(step("session_start", agent="codex")) == "codex"
    assert name_of(step("user", origin="injected")) == "injected"
    assert name_of(step("user")) == ""
