"""Which services are stopped, in the words of each system."""

from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.services import stopped
from tests.policy.risks.readings import reading
from tests.support.cases import each_case


def units(command: str) -> tuple[str, ...]:
    return tuple(unit for started in programs(reading(command)) for unit in stopped(started))


@each_case("command")
def test_a_service_that_ends_is_named(command: str) -> None:
    assert "x" in units(command)


def test_what_a_process_is_looked_up_by_is_named() -> None:
    assert "auditd" in units("kill -9 $(pidof auditd)")


@each_case("command")
def test_asking_and_starting_end_nothing(command: str) -> None:
    assert units(command) == ()
