"""Sets of rules that are loaded into a firewall."""

from tallystick.policy.risks.firewall_rules import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_set_that_was_thinned_or_made_here_opens_a_firewall(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_reading_rules_and_loading_a_file_of_them_is_not_meant_here(command: str) -> None:
    assert found(risks, command) == set()
