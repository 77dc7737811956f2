"""Files that hold credentials by what is in them."""

from pathlib import Path

import pytest

from tallystick.guard.live_world import LiveWorld
from tallystick.policy.content.credentials import TAGS, credentials_in

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def tags(path: Path) -> frozenset[str]:
    machine = LiveWorld()
    return credentials_in(str(path), machine.state(str(path)), machine)


@pytest.mark.parametrize("name", ["app.yaml", "notes.txt", "settings.json", "rc", ".toolrc", "x.ini"])
def test_a_credential_in_data_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f"token: {TOKEN}\n")
    assert tags(tmp_path / name) == frozenset(TAGS)


@pytest.mark.parametrize("name", ["main.py", "README.md", "package-lock.json", "tests/x.json", "docs/x.yaml"])
def test_code_documents_and_tests_are_not_looked_at(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"token: {TOKEN}\n")
    assert tags(path) == frozenset()


def test_data_without_one_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("debug: true\npassword: changeme\n")
    (tmp_path / "compose.yaml").write_text("image: postgres:16-alpine\nenvironment:\n  POSTGRES_PASSWORD: postgres\n")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "large.yaml").write_text(f"token: {TOKEN}\n" * 4000)
    assert [tags(tmp_path / name) for name in ("empty.yaml", "large.yaml", "missing.yaml", ".")] == [frozenset()] * 4
    assert [tags(tmp_path / name) for name in ("a.yaml", "compose.yaml")] == [frozenset()] * 2


def test_a_private_key_is_found_in_any_data(tmp_path: Path) -> None:
    lines = [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        *["MIIEpAIBAAKCAQEA" + "abcdefgh" * 6] * 8,
        "-----END RSA " + "PRIVATE KEY-----",
    ]
    (tmp_path / "cert.txt").write_text("\n".join(lines))
    assert tags(tmp_path / "cert.txt") == frozenset(TAGS)
