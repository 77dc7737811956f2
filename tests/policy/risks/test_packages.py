"""Packages that come from somewhere else than a registry."""

from tallystick.policy.risks.packages import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import found, reading
from tests.support.cases import cases, each, each_case

FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("name, command", [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_package_from_elsewhere_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@each_case("command")
def test_a_package_of_a_registry_is_work(command: str) -> None:
    assert found(risks, command) == set()


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()


@each("settings", [Settings(hosts=("x.org",)), Settings(registries=("x.org",))])
def test_the_users_own_hosts_and_registries_are_not_asked_about(settings: Settings) -> None:
    for command in ("pip install git+https://x.org/b", "pip install b --index-url https://pypi.x.org/simple"):
        assert list(risks(reading(command), settings)) == []
