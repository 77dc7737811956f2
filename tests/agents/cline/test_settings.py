from __future__ import annotations

from typing import Any

from tests.agents.settings.cases import Case, check
from tests.support.cases import each


def actions(**value: bool) -> dict[str, Any]:
    return {"autoApprovalSettings": {"actions": value}}


CASES = [
    Case("cline.yolo", {"yoloModeToggled": True}, {"yoloModeToggled": False}),
    Case("cline.yolo", {"autoApproveAllToggled": True}, {"autoApproveAllToggled": False}),
    Case("cline.approves-any-command", actions(executeAllCommands=True), actions(executeSafeCommands=True)),
    Case(
        "cline.edits-outside",
        actions(editFiles=True, editFilesExternally=True),
        actions(editFiles=False, editFilesExternally=True),
    ),
    Case("cline.hooks-off", {"hooksEnabled": False}, {"hooksEnabled": True}),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("cline", case)
