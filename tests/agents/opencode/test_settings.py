from __future__ import annotations

from typing import Any

from tests.agents.settings.cases import Case, check
from tests.support.cases import each


def permission(**value: Any) -> dict[str, Any]:
    return {"permission": value}


CASES = [
    Case("opencode.allows-everything", {"permission": "allow"}, {"permission": "ask"}),
    Case("opencode.allows-everything", {"permission": {"*": "allow"}}, {"permission": {"*": "allow", "bash": "ask"}}),
    Case(
        "opencode.allows-everything",
        {"agent": {"build": {"permission": "allow"}}},
        {"agent": {"build": {"permission": "deny"}}},
    ),
    Case("opencode.allows-any-command", permission(bash="allow"), permission(bash={"*": "ask", "git *": "allow"})),
    Case(
        "opencode.allows-any-command",
        permission(bash={"*": "allow", "git *": "allow"}),
        permission(bash={"*": "allow", "rm *": "deny"}),
    ),
    Case("opencode.outside-project", permission(external_directory="allow"), permission(external_directory="ask")),
    Case(
        "opencode.reads-env-files",
        permission(read={"*": "allow", "*.env": "allow"}),
        permission(read={"*": "allow", "*.env.example": "allow", "*.env": "deny"}),
    ),
    Case("opencode.shares-sessions", {"share": "auto"}, {"share": "manual"}),
    Case("opencode.open-server", {"server": {"hostname": "0.0.0.0"}}, {"server": {"hostname": "127.0.0.1"}}),
    Case("opencode.open-server", {"server": {"mdns": True}}, {"server": {"port": 4096}}),
    Case(
        "opencode.remote-instructions",
        {"instructions": ["https://example.com/rules.md"]},
        {"instructions": ["docs/rules.md"]},
    ),
    Case("opencode.unpinned-plugin", {"plugin": ["opencode-notes"]}, {"plugin": ["opencode-notes@1.2.3"]}),
    Case("opencode.unpinned-plugin", {"plugin": ["@someone/notes@latest"]}, {"plugin": ["file:./notes.js"]}),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("opencode", case)
