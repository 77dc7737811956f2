from __future__ import annotations

import pytest

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kill -s KILL 1 2", ["signal 1", "signal 2"]),
        ("kill -SIGTERM -- -12", ["signal -12"]),
        ("kill -0 1", []),
        ("pkill -u root -9 x", ["signal x"]),
        ("fuser a", []),
        ("systemctl --user enable a b", ["schedule a", "schedule b"]),
        ("systemctl restart a", ["signal a", "schedule a"]),
        ("systemctl reboot", ["elevate systemctl"]),
        ("systemctl show a", []),
        ("service --status-all", []),
        ("launchctl bootstrap gui/1 a/b.plist", ["read a/b.plist", "schedule a/b.plist"]),
        ("crontab -u x f", ["read f", "schedule crontab x"]),
        ("at -l", []),
        ("iptables -L -n", []),
        ("iptables -A INPUT", ["elevate iptables"]),
        ("passwd", ["elevate passwd"]),
        ("useradd", []),
        ("sysctl -p f", ["read f", "elevate sysctl"]),
        ("mount -a", ["elevate mount"]),
        ("mkfs.ext4 -L x /dev/a", ["write /dev/a", "elevate mkfs.ext4"]),
        ("fdisk -l /dev/a", ["list /dev/a"]),
        ("timedatectl status", []),
        ("defaults write /a/b k v", ["edit /a/b"]),
    ],
)
def test_processes_services_and_the_machine(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_table_of_jobs_may_be_fed() -> None:
    done = acted("crontab -", fed="* * * * * x")
    assert done.actions[0].from_input
    assert flows("crontab f") == ["f -> crontab"]


def test_what_runs_later_is_code() -> None:
    assert [code.text for code in acted("at noon", fed="rm a").codes] == [Word("rm a")]
    assert acted("at -f a noon").scripts == (Word("a"),)
