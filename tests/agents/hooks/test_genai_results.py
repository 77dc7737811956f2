from __future__ import annotations

from tallystick.agents.hooks.genai_results import outcome
from tallystick.model.step import Json
from tests.support.cases import each


@each(
    "response, meta, values",
    [
        (None, {}, {"output": None}),
        ("text", {}, {"output": "text"}),
        ({"other": 1}, {}, {"output": {"other": 1}}),
        ({"llmContent": "a", "returnDisplay": "b"}, {"success": True}, {"output": "a"}),
        ({"llmContent": [{"text": "a"}, {"text": "b"}]}, {"success": True}, {"output": "a\nb"}),
        ({"llmContent": [{"inlineData": {}}]}, {"success": True}, {"output": [{"inlineData": {}}]}),
        (
            {"llmContent": "a", "returnDisplay": {"fileDiff": "d", "newContent": "n"}},
            {"success": True},
            {"output": "a", "diff": "d"},
        ),
        ({"llmContent": "a", "error": {"message": "e"}}, {"success": False}, {"output": "a", "error": "e"}),
        ({"llmContent": "a", "error": "e"}, {"success": False}, {"output": "a", "error": "e"}),
        ({"llmContent": "a\nExit Code: 3"}, {"success": False, "exit_code": 3}, {"output": "a\nExit Code: 3"}),
    ],
)
def test_a_response_is_split_into_what_was_shown_and_how_it_ended(
    response: Json, meta: dict[str, Json], values: dict[str, Json]
) -> None:
    assert outcome("run_shell_command", response) == (meta, values)
