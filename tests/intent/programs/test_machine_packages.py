from __future__ import annotations

import pytest

from tests.intent.programs.acting import does


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apt-get -y install a=1 ./b.deb", ["fetch pkg:deb/a@1", "read ./b.deb", "elevate apt-get"]),
        ("apt purge a", ["elevate apt"]),
        ("apt list", []),
        ("dnf -y install a", ["fetch pkg:rpm/a", "elevate dnf"]),
        ("apk add -t v a", ["fetch pkg:apk/a", "elevate apk"]),
        ("pacman -Syu", ["elevate pacman"]),
        ("pacman -Rs a", ["elevate pacman"]),
        ("pacman -Ss a", []),
        ("rpm -Uvh a.rpm", ["read a.rpm", "elevate rpm"]),
        ("rpm -qpl a.rpm", ["read a.rpm"]),
        ("dpkg -i a", ["read a", "elevate dpkg"]),
        ("dpkg -r a", ["elevate dpkg"]),
        ("brew upgrade", ["elevate brew"]),
        ("brew info a", ["fetch pkg:brew/a"]),
    ],
)
def test_a_change_of_the_machine_is_an_elevation(text: str, expected: list[str]) -> None:
    assert does(text) == expected
