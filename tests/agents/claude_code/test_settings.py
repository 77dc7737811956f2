from __future__ import annotations

from typing import Any

from tallystick.catalog.agents import Base
from tests.agents.settings.cases import Case, check, found
from tests.support.cases import each


def allow(rule: str) -> dict[str, Any]:
    return {"permissions": {"allow": [rule]}}


def network(**value: Any) -> dict[str, Any]:
    return {"sandbox": {"enabled": True, "network": value}}


CASES = [
    Case(
        "claude.bypass-permissions",
        {"permissions": {"defaultMode": "bypassPermissions"}},
        {"permissions": {"defaultMode": "acceptEdits", "disableBypassPermissionsMode": "disable"}},
    ),
    Case(
        "claude.skips-bypass-warning",
        {"skipDangerousModePermissionPrompt": True},
        {"skipDangerousModePermissionPrompt": False},
    ),
    Case("claude.allows-any-command", allow("Bash(*)"), allow("Bash(git status:*)")),
    Case("claude.allows-any-command", allow("Bash"), {"permissions": {"deny": ["Bash"]}}),
    Case("claude.allows-any-command", allow("Bash(:*)"), {"permissions": {"ask": ["Bash(*)"]}}),
    Case("claude.allows-interpreter", allow("Bash(python3:*)"), allow("Bash(python3 tools/check.py)")),
    Case("claude.allows-interpreter", allow("Bash(curl *)"), allow("Bash(curling:*)")),
    Case("claude.allows-interpreter", allow("Bash(bash -c:*)"), allow("Bash(bash tests/run.sh)")),
    Case("claude.allows-any-write", allow("Edit(**)"), allow("Edit(src/**)")),
    Case("claude.allows-any-write", allow("Write"), allow("Read")),
    Case("claude.allows-any-page", allow("WebFetch"), allow("WebFetch(domain:docs.example.com)")),
    Case(
        "claude.wide-folder",
        {"permissions": {"additionalDirectories": ["~"]}},
        {"permissions": {"additionalDirectories": ["~/src/shared"]}},
    ),
    Case(
        "claude.all-project-servers",
        {"enableAllProjectMcpServers": True},
        {"enabledMcpjsonServers": ["docs"], "enableAllProjectMcpServers": False},
    ),
    Case("claude.sandbox-all-sockets", network(allowAllUnixSockets=True), network(allowAllUnixSockets=False)),
    Case(
        "claude.sandbox-all-sockets",
        network(allowUnixSockets=["/var/run/docker.sock"]),
        network(allowUnixSockets=["/run/postgres/.s.PGSQL.5432"]),
    ),
    Case(
        "claude.sandbox-weakened",
        {"sandbox": {"enableWeakerNestedSandbox": True}},
        {"sandbox": {"enabled": True, "enableWeakerNestedSandbox": False}},
    ),
    Case("claude.sandbox-any-host", network(allowedDomains=["*"]), network(allowedDomains=["*.example.com"])),
    Case("claude.managed-hooks-only", {"allowManagedHooksOnly": True}, {"allowManagedHooksOnly": False}, Base.MANAGED),
    Case(
        "claude.telemetry-prompts",
        {"env": {"OTEL_LOG_USER_PROMPTS": "1"}},
        {"env": {"CLAUDE_CODE_ENABLE_TELEMETRY": "1", "OTEL_LOG_USER_PROMPTS": "0"}},
    ),
    Case(
        "claude.telemetry-plaintext",
        {"env": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.example.com:4318"}},
        {"env": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}},
    ),
    Case("claude.long-history", {"cleanupPeriodDays": 36500}, {"cleanupPeriodDays": 30}),
    Case("claude.project-key-helper", {"apiKeyHelper": "./key.sh"}, {"apiKeyHelper": ""}, Base.PROJECT),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("claude-code", case)


def test_only_the_administrator_can_leave_out_other_hooks() -> None:
    assert found("claude-code", {"allowManagedHooksOnly": True}) == []


def test_a_users_own_key_helper_is_no_risk() -> None:
    assert found("claude-code", {"apiKeyHelper": "~/bin/key"}) == []


def test_a_hit_names_the_rule_in_the_list() -> None:
    (hit,) = found("claude-code", {"permissions": {"allow": ["Read", "Bash(*)"]}})
    assert (hit.where, hit.said) == (("permissions", "allow", 1), "Bash(*)")
