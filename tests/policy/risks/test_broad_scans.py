"""Broad looks that no single path shows."""

from tallystick.policy.risks.broad_scans import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_broad_look_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_a_look_at_the_project_is_work(command: str) -> None:
    assert found(risks, command) == set()
