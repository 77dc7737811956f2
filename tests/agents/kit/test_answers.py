from __future__ import annotations

import pytest

from tallystick.agents.kit.answers import said_in, with_answer
from tallystick.model.step import Json, Step

REFUSED = "The tool use was rejected. To tell you how to proceed, the user said:\nUse B."


@pytest.mark.parametrize(
    ("agent", "meta", "values", "said"),
    [
        ("claude-code", {"tool": "AskUserQuestion"}, {"content.output": "Which?=B"}, ("answer", "Which?=B")),
        (
            "claude-code",
            {"tool": "AskUserQuestion"},
            {"content.output": "long", "content.result": {"answers": {"Which?": "B"}}},
            ("answer", "Which? B"),
        ),
        (
            "claude-code",
            {"tool": "ExitPlanMode"},
            {"content.output": [{"type": "text", "text": "Yes"}]},
            ("plan", "Yes"),
        ),
        ("claude-code", {"success": False, "decided_by": "user"}, {"content.output": REFUSED}, ("answer", "Use B.")),
        ("claude-code", {"success": False}, {"content.output": REFUSED}, None),
        ("claude-code", {"tool": "AskUserQuestion", "success": False}, {"content.output": "no"}, None),
        ("claude-code", {"tool": "Bash"}, {"content.output": "ok"}, None),
        ("copilot", {"tool": "ask_user"}, {"content.output": "B"}, ("answer", "B")),
        ("codex", {"tool": "request_user_input"}, {"content.output": "B"}, ("answer", "B")),
        ("an agent of a plugin", {"tool": "ask_user"}, {"content.output": "B"}, None),
    ],
)
def test_what_a_person_said_in_a_result(
    agent: str, meta: dict[str, Json], values: dict[str, Json], said: tuple[str, str] | None
) -> None:
    found = said_in(agent, meta, values)
    assert (None if found is None else (found.kind, found.text)) == said


def test_an_answer_follows_its_result_and_opens_a_request() -> None:
    meta: dict[str, Json] = {"tool": "ask_user", "corr": "c1"}
    result = Step(session="s", type="tool_result", source_id="c1/result", meta=meta, values={"content.output": "B"})
    _, answer = with_answer("copilot", result)
    assert (answer.type, answer.source_id, answer.opens_request) == ("user", "c1/answer", True)
    assert [ref.source_id for ref in answer.after] == ["c1/result"]
    assert answer.meta == {"origin": "answer", "asks": "answer"}
