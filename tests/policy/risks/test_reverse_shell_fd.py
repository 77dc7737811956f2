"""Shells that are joined with a connection by descriptors."""

from tallystick.policy.risks.reverse_shell_fd import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_shell_that_is_joined_with_a_connection_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_descriptors_of_files_and_of_other_programs_are_work(command: str) -> None:
    assert found(risks, command) == set()
