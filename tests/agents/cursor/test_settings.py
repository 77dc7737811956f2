from __future__ import annotations

from typing import Any

from tests.agents.settings.cases import Case, check
from tests.support.cases import each


def allow(rule: str) -> dict[str, Any]:
    return {"version": 1, "permissions": {"allow": [rule], "deny": []}}


CASES = [
    Case("cursor.runs-everything", {"approvalMode": "unrestricted"}, {"approvalMode": "allowlist"}),
    Case("cursor.allows-any-command", allow("Shell(**)"), allow("Shell(git)")),
    Case("cursor.allows-any-command", {"terminalAllowlist": ["*"]}, {"terminalAllowlist": ["git status"]}),
    Case("cursor.allows-any-write", allow("Write(**)"), allow("Write(src/**)")),
    Case("cursor.allows-any-server-tool", {"mcpAllowlist": ["*:*"]}, {"mcpAllowlist": ["docs:search"]}),
    Case("cursor.allows-any-server-tool", allow("Mcp(*, *)"), allow("Mcp(docs, *)")),
    Case("cursor.sandbox-off", {"sandbox": {"mode": "disabled"}}, {"sandbox": {"mode": "enabled"}}),
    Case("cursor.sandbox-off", {"type": "insecure_none"}, {"type": "workspace_readwrite"}),
    Case("cursor.sandbox-any-host", {"networkPolicy": {"default": "allow"}}, {"networkPolicy": {"default": "deny"}}),
    Case(
        "cursor.sandbox-any-host",
        {"sandbox": {"networkAccess": "allow_all"}},
        {"sandbox": {"networkAccess": "user_config_only"}},
    ),
    Case(
        "cursor.sandbox-wide-path",
        {"additionalReadwritePaths": ["/home/dev/"]},
        {"additionalReadwritePaths": ["/home/dev/.cache/uv"]},
    ),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("cursor", case)
