"""Programs that nothing tells the name of."""

from tallystick.policy.risks.unresolved_program import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_what_lies_outside_is_not_for_a_program_that_is_not_told(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_programs_in_variables_are_work(command: str) -> None:
    assert found(risks, command) == set()
