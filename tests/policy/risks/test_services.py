"""Which services are stopped, in the words of each system."""

import pytest

from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.services import stopped
from tests.policy.risks.readings import reading


def units(command: str) -> tuple[str, ...]:
    return tuple(unit for started in programs(reading(command)) for unit in stopped(started))


@pytest.mark.parametrize(
    "command",
    [
        "systemctl stop x",
        "systemctl disable --now x",
        "sudo systemctl mask x",
        "service x stop",
        "/etc/init.d/x stop",
        "rc-service x stop",
        "rc-update del x",
        "chkconfig x off",
        "update-rc.d x disable",
        "launchctl unload x",
        "sv down x",
        "s6-svc -d x",
        "svcadm disable x",
        "net stop x",
        "sc config x start= disabled",
        "pkill x",
        "killall -9 x",
        "apt-get purge -y x",
        "dnf remove x",
        "Stop-Service x",
        "Set-Service x -StartupType Disabled",
    ],
)
def test_a_service_that_ends_is_named(command: str) -> None:
    assert "x" in units(command)


def test_what_a_process_is_looked_up_by_is_named() -> None:
    assert "auditd" in units("kill -9 $(pidof auditd)")


@pytest.mark.parametrize(
    "command",
    [
        "systemctl status x",
        "systemctl start x",
        "service x status",
        "launchctl list",
        "chkconfig --list",
        "apt-get install x",
        "Set-Service x -StartupType Automatic",
        "pkill -0 x",
        "kill 42",
    ],
)
def test_asking_and_starting_end_nothing(command: str) -> None:
    assert units(command) == ()
