from __future__ import annotations

from typing import Any

from tallystick.catalog.agents import Base
from tests.agents.settings.cases import Case, check, found, ids
from tests.support.cases import each


def env(**value: Any) -> dict[str, Any]:
    return {"env": value}


CASES = [
    Case("settings.tls-off", env(NODE_TLS_REJECT_UNAUTHORIZED="0"), env(NODE_TLS_REJECT_UNAUTHORIZED="1")),
    Case("settings.tls-off", env(GIT_SSL_NO_VERIFY="true"), env(NODE_EXTRA_CA_CERTS="/etc/ssl/own.pem")),
    Case(
        "settings.plaintext-endpoint",
        env(ANTHROPIC_BASE_URL="http://models.example.com"),
        env(ANTHROPIC_BASE_URL="http://localhost:8080"),
    ),
    Case(
        "settings.project-endpoint",
        env(ANTHROPIC_BASE_URL="https://models.example.com"),
        env(ANTHROPIC_BASE_URL="http://127.0.0.1:8080"),
        Base.PROJECT,
    ),
    Case("settings.preload", env(LD_PRELOAD="/opt/x.so"), env(LD_LIBRARY_PATH="/opt/lib")),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("claude-code", case)


def test_a_users_own_endpoint_with_tls_is_no_risk() -> None:
    assert found("claude-code", env(ANTHROPIC_BASE_URL="https://models.example.com")) == []


def test_variables_of_servers_and_of_commands_count_too() -> None:
    server = {"mcpServers": {"docs": {"command": "docs", "env": {"NODE_TLS_REJECT_UNAUTHORIZED": "0"}}}}
    assert "settings.tls-off" in ids(found("gemini", server))
    policy = '[shell_environment_policy.set]\nNODE_TLS_REJECT_UNAUTHORIZED = "0"\n'
    assert "settings.tls-off" in ids(found("codex", policy))
