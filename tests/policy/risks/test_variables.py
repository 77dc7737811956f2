"""Variables that are printed and whose names promise a secret."""

from tallystick.policy.risks.variables import RISKS, is_secret_variable, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_variable_with_a_telling_name_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_other_variables_and_uses_are_work(command: str) -> None:
    assert found(risks, command) == set()


@each_case("name, wanted")
def test_a_name_promises_or_not(name: str, wanted: bool) -> None:
    assert is_secret_variable(name) is wanted
