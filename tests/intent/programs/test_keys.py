from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpg -o b -c a", ["read a", "write b"]),
        ("gpg -ac a", ["read a", "write a.asc"]),
        ("gpg -d a", ["read a"]),
        ("gpg --send-keys --keyserver hkps://h x", ["send hkps://h"]),
        ("gpg --homedir d --export -o k", ["read* d", "write k"]),
        ("gpg -k", []),
        ("age -d -i k -o b a", ["read k", "read a", "write b"]),
        ("ssh-keygen", ["write /home/dev/.ssh/id_ed25519", "write /home/dev/.ssh/id_ed25519.pub"]),
        ("ssh-keygen -lf k", ["read k"]),
        ("ssh-keygen -pf k", ["edit k"]),
        ("ssh-keygen -f f -R h", ["edit f"]),
        ("pass insert x", ["edit keychain:pass"]),
        ("security dump-keychain", ["read keychain:security"]),
    ],
)
def test_keys_and_secrets_are_read_and_made(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_encrypted_goes_into_the_new_file() -> None:
    assert flows("gpg -c a") == ["a -> a.gpg"]
    assert acted("gpg -d a").prints == (0,)
    assert acted("gpg -d", fed="x").reads_input
