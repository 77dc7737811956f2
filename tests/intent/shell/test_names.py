"""Other names of the same program."""

import pytest

from tallystick.intent.shell.names import canonical


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gsed", "sed"), ("gcp", "cp"), ("batcat", "bat"), ("python3.12", "python"), ("python3", "python"), ("pip3", "pip"),
        ("gawk", "awk"), ("nodejs", "node"), ("perl5.36", "perl"), ("cat", "cat"), ("git", "git"), ("go", "go"), ("gh", "gh"),
        ("grep", "grep"), ("gzip", "gzip"), ("gcc", "gcc"), ("gcc-12", "gcc"), ("g", "g"), ("", ""), ("gpg", "gpg"),
        ("powershell.exe", "powershell"), ("python3.exe", "python"), (".exe", ""), ("./a.exe", "./a.exe"),
    ],
)  # fmt: skip
def test_a_program_has_one_name(name: str, expected: str) -> None:
    assert canonical(name) == expected
    assert canonical(canonical(name)) == expected
