"""Secrets that are read in the way of Windows."""

from tallystick.policy.risks.other_shells import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_secret_is_read(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_other_files_and_talk_are_work(command: str) -> None:
    assert found(risks, command) == set()
