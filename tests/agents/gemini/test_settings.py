from __future__ import annotations

from tests.agents.settings.cases import Case, check
from tests.support.cases import each

CASES = [
    Case(
        "gemini.edits-unasked",
        {"general": {"defaultApprovalMode": "auto_edit"}},
        {"general": {"defaultApprovalMode": "plan"}},
    ),
    Case("gemini.auto-accept", {"tools": {"autoAccept": True}}, {"tools": {"autoAccept": False}}),
    Case(
        "gemini.permanent-approval",
        {"security": {"enablePermanentToolApproval": True}},
        {"security": {"enablePermanentToolApproval": False}},
    ),
    Case(
        "gemini.history-unbounded",
        {"general": {"sessionRetention": {"enabled": False}}},
        {"general": {"sessionRetention": {"enabled": True, "maxAge": "30d"}}},
    ),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("gemini", case)
