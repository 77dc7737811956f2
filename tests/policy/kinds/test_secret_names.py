"""Names that mean a secret wherever they lie."""

import pytest

from tallystick.policy.kinds.secret_names import by_name, is_aside, is_data
from tests.support.cases import each


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/x/id_rsa", "secret"),
        ("/x/id_rsa.bak", "secret"),
        ("/x/id_rsa.pub", "work"),
        ("/x/.env", "secret"),
        ("/x/.env.production.local", "secret"),
        ("/x/.env.example", "work"),
        ("/x/.env.ci", "credential"),
        ("/x/.aws/credentials", "secret"),
        ("/x/credentials", "credential"),
        ("/x/my_private_key.txt", "secret"),
        ("/x/server.key", "credential"),
        ("/x/fullchain.pem", "work"),
        ("/x/cert1.pem", "work"),
        ("/x/archive.gpg.key", "work"),
        ("/x/privkey-cert.pem", "credential"),
        ("/x/debug.keystore", "work"),
        ("/x/api-keys.json", "credential"),
        ("/x/main.py", None),
        ("/x/token.go", None),
        ("/x/max_tokens.json", None),
        ("/x/get-secret", None),
        ("/x/.pem", "credential"),
    ],
)
def test_a_name_tells(path: str, wanted: str | None) -> None:
    assert by_name(path, in_workspace=False) == wanted


def test_keys_among_the_tests_of_the_project_are_made_for_them() -> None:
    assert by_name("/tests/data/server.key", in_workspace=True) == "work"
    assert by_name("/tests/id_rsa", in_workspace=True) == "work"
    assert by_name("/tests/id_rsa", in_workspace=False) == "secret"
    assert by_name("/tests/.env", in_workspace=True) == "secret"


@each(
    "path, wanted",
    [("/a/x.json", True), ("/a/.npmrc", True), ("/a/token", True), ("/a/x.py", False), ("/a/readme.md", False)],
)
def test_data_is_told_from_code(path: str, wanted: bool) -> None:
    assert is_data(path) is wanted


def test_what_lies_aside_is_told() -> None:
    assert is_aside("/a/tests/x.json")
    assert is_aside("/a/node_modules/b/x.json")
    assert not is_aside("/a/src/tests.json")
