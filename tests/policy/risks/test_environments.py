"""Environment variables that are printed as a whole, and those that are set or asked for by name."""

from tallystick.policy.risks.environments import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_printing_all_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_setting_or_asking_for_one_is_work(command: str) -> None:
    assert found(risks, command) == set()
