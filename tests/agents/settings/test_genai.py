from __future__ import annotations

from typing import Any

from tests.agents.settings.cases import Case, check
from tests.support.cases import each


def allowed(tool: str) -> dict[str, Any]:
    return {"tools": {"allowed": [tool]}}


CASES = [
    Case("genai.allows-any-command", allowed("run_shell_command"), allowed("run_shell_command(git status)")),
    Case("genai.allows-any-write", allowed("write_file"), allowed("read_file")),
    Case(
        "genai.folder-trust-off",
        {"security": {"folderTrust": {"enabled": False}}},
        {"security": {"folderTrust": {"enabled": True}}},
    ),
    Case(
        "genai.telemetry-prompts",
        {"telemetry": {"enabled": True}},
        {"telemetry": {"enabled": True, "logPrompts": False}},
    ),
    Case(
        "genai.telemetry-prompts",
        {"telemetry": {"enabled": True, "logPrompts": True}},
        {"telemetry": {"logPrompts": True}},
    ),
    Case(
        "genai.telemetry-plaintext",
        {"telemetry": {"enabled": True, "otlpEndpoint": "http://otel.example.com:4317"}},
        {"telemetry": {"enabled": True, "otlpEndpoint": "http://localhost:4317"}},
    ),
]


@each("agent", ["gemini", "qwen"])
@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(agent: str, case: Case) -> None:
    check(agent, case)
