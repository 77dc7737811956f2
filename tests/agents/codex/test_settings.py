from __future__ import annotations

from tests.agents.settings.cases import Case, check, found, ids
from tests.support.cases import each

FULL = 'sandbox_mode = "danger-full-access"\n'
NEVER = 'approval_policy = "never"\n'
ON = "[sandbox_workspace_write]\nnetwork_access = true\n"
WORK = 'sandbox_mode = "workspace-write"\n'


def roots(folder: str) -> str:
    return f'{WORK}[sandbox_workspace_write]\nwritable_roots = ["{folder}"]\n'


CASES = [
    Case("codex.no-sandbox-no-approval", NEVER + FULL, NEVER + WORK),
    Case("codex.no-sandbox", FULL, WORK),
    Case(
        "codex.no-sandbox",
        '[profiles.free]\nsandbox_mode = "danger-full-access"\n',
        '[profiles.free]\nsandbox_mode = "read-only"\n',
    ),
    Case("codex.no-sandbox", 'default_permissions = ":danger-full-access"\n', 'default_permissions = ":workspace"\n'),
    Case("codex.network-without-approval", NEVER + WORK + ON, WORK + ON),
    Case("codex.network-on", WORK + ON, WORK + ON.replace("true", "false")),
    Case("codex.wide-writable-root", roots("/home/dev"), roots("/home/dev/work")),
    Case("codex.wide-writable-root", roots("/home/dev/.ssh"), roots("/home/dev/ssh")),
    Case(
        "codex.keeps-secret-variables",
        '[shell_environment_policy]\ninherit = "all"\nignore_default_excludes = true\n',
        '[shell_environment_policy]\ninherit = "core"\nignore_default_excludes = true\n',
    ),
    Case("codex.telemetry-prompts", "[otel]\nlog_user_prompt = true\n", "[otel]\nlog_user_prompt = false\n"),
    Case(
        "codex.telemetry-plaintext",
        '[otel.exporter.otlp-http]\nendpoint = "http://logs.example.com/v1/logs"\n',
        '[otel.exporter.otlp-http]\nendpoint = "http://localhost:4318/v1/logs"\n',
    ),
    Case(
        "codex.history-unbounded",
        '[history]\npersistence = "save-all"\n',
        '[history]\npersistence = "save-all"\nmax_bytes = 1000000\n',
    ),
    Case("codex.hooks-off", "[features]\nhooks = false\n", "[features]\nhooks = true\n"),
    Case(
        "codex.trusts-home",
        '[projects."/home/dev"]\ntrust_level = "trusted"\n',
        '[projects."/home/dev/work"]\ntrust_level = "trusted"\n',
    ),
    Case("codex.key-in-file", 'cli_auth_credentials_store = "file"\n', 'cli_auth_credentials_store = "auto"\n'),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("codex", case)


def test_no_sandbox_and_no_questions_are_one_finding() -> None:
    assert ids(found("codex", NEVER + FULL)) == {"codex.no-sandbox-no-approval"}


def test_what_the_model_is_called_at_is_looked_at_for_each_provider() -> None:
    hits = found("codex", '[model_providers.own]\nbase_url = "http://models.example.com/v1"\n')
    assert [hit.where for hit in hits] == [("model_providers", "own", "base_url")]
