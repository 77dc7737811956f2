from __future__ import annotations

import json
from typing import Any

from tests.agents.settings.cases import TOKEN, Case, check, found
from tests.support.cases import each

CASES = [
    Case("settings.literal-secret", {"env": {"GITHUB_TOKEN": TOKEN}}, {"env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}}),
    Case(
        "mcp.embedded-secret",
        {"mcpServers": {"docs": {"command": "docs", "env": {"GITHUB_TOKEN": TOKEN}}}},
        {"mcpServers": {"docs": {"command": "docs", "env": {"GITHUB_TOKEN": "$GITHUB_TOKEN"}}}},
    ),
    Case(
        "mcp.embedded-secret",
        {"mcpServers": {"docs": {"url": "https://mcp.linear.app/", "headers": {"Authorization": f"Bearer {TOKEN}"}}}},
        {"mcpServers": {"docs": {"url": "https://mcp.linear.app/", "headers": {"Authorization": "Bearer ${TOKEN}"}}}},
    ),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("claude-code", case)


@each(
    "content",
    [
        {"env": {"A_TOKEN": TOKEN}},
        {"mcpServers": {"docs": {"command": "docs", "args": ["--token", TOKEN]}}},
        {"provider": {"own": {"options": {"apiKey": TOKEN}}}},
    ],
)
def test_what_the_secret_is_is_not_told(content: Any) -> None:
    (hit,) = found("opencode", content)
    assert hit.said == "<redacted>"
    assert TOKEN not in json.dumps([hit.where, hit.said])


def test_where_it_stands_is_told() -> None:
    (hit,) = found("claude-code", {"env": {"A": "b", "GITHUB_TOKEN": TOKEN}})
    assert hit.where == ("env", "GITHUB_TOKEN")
