"""Programs that open this machine to others."""

from tallystick.policy.risks.tunnels import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import cases, each, each_case

FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("name, command", [(name, each) for name, commands in FOUND.items() for each in commands])
def test_an_opening_is_found(name: str, command: str) -> None:
    assert found(risks, command) == {name}


@each_case("command")
def test_programs_that_open_nothing_are_work(command: str) -> None:
    assert found(risks, command) == set()


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()
