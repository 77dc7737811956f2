"""Programs that take hold of other processes."""

from tallystick.policy.risks.attaching import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_taking_hold_of_a_process_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_a_program_that_is_started_is_work(command: str) -> None:
    assert found(risks, command) == set()
