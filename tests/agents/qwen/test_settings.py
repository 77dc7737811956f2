from __future__ import annotations

from tests.agents.settings.cases import Case, check
from tests.support.cases import each

CASES = [
    Case("qwen.yolo", {"tools": {"approvalMode": "yolo"}}, {"tools": {"approvalMode": "default"}}),
    Case("qwen.edits-unasked", {"tools": {"approvalMode": "auto-edit"}}, {"tools": {"approvalMode": "plan"}}),
    Case(
        "qwen.bypass-permissions",
        {"general": {"defaultPermissionMode": "bypass_permissions"}},
        {"general": {"defaultPermissionMode": "default"}},
    ),
    Case(
        "genai.allows-any-command",
        {"permissions": {"allow": ["Bash(*)"]}},
        {"permissions": {"allow": ["Bash(git status)"]}},
    ),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("qwen", case)
