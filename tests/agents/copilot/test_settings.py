from __future__ import annotations

from tallystick.agents.copilot import settings as copilot
from tests.agents.settings.cases import Case, check
from tests.support.cases import each

CASES = [
    Case("copilot.trusts-home", {"trustedFolders": ["/home/dev"]}, {"trustedFolders": ["/home/dev/work"]}),
    Case("copilot.trusts-home", {"trusted_folders": ["/"]}, {"trusted_folders": ["/srv/work"]}),
    Case("copilot.allows-any-address", {"allowedUrls": ["*"]}, {"allowedUrls": ["*.github.com"]}),
    Case("copilot.token-in-file", {"storeTokenPlaintext": True}, {"storeTokenPlaintext": False}),
    Case("copilot.hooks-off", {"disableAllHooks": True}, {"disableAllHooks": False}),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("copilot", case)


def test_that_all_tools_run_unasked_is_a_variable() -> None:
    assert {name: rule.id for name, rule in copilot.VARIABLES.items()} == {"COPILOT_ALLOW_ALL": "copilot.allow-all"}
