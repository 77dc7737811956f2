"""What a person types to run one of our commands as root, and whose store is meant then."""

import os
import pwd
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.trust import sudo_command as module
from tallystick.trust.sudo_command import as_root, home_of_sudoer


@pytest.mark.parametrize(
    ("program", "path", "words"),
    [
        ("/opt/it/.venv/bin/tally", "/nowhere", "sudo /opt/it/.venv/bin/tally signer init --home '/srv/a store'"),
        ("/opt/my tools/tally", "/nowhere", "sudo '/opt/my tools/tally' signer init --home '/srv/a store'"),
        ("/usr/lib/python3/pytest", "/nowhere", "sudo tally signer init --home '/srv/a store'"),
    ],
    ids=["a program of one's own", "with a blank in its path", "not started as tally"],
)
def test_a_program_that_sudo_does_not_find_is_named_whole(
    program: str, path: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SYSTEM_PATH", path)
    assert as_root("signer init", Home(Path("/srv/a store")), program=program) == words


def test_a_program_that_sudo_finds_is_named_as_people_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tmp_path / "tally"
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    monkeypatch.setattr(module, "_SYSTEM_PATH", str(tmp_path))
    assert as_root("status", Home(Path("/srv")), program="/opt/tally") == "sudo tally status --home /srv"


@pytest.mark.skipif(os.getuid() != 0, reason="only root is root by sudo")
def test_root_by_sudo_means_the_store_of_who_called_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = pwd.struct_passwd(("dev", "x", 1234, 1234, "", str(tmp_path), ""))
    monkeypatch.setattr(pwd, "getpwuid", {1234: caller}.__getitem__)
    assert home_of_sudoer({"SUDO_UID": "1234"}) is None  # who called it has no store
    (tmp_path / ".tally").mkdir()
    found = home_of_sudoer({"SUDO_UID": "1234"})
    assert found is not None
    assert found.folder == tmp_path / ".tally"
    others: tuple[dict[str, str], ...] = (
        {},
        {"SUDO_UID": "x"},
        {"SUDO_UID": "4321"},
        {"SUDO_UID": "1234", "TALLY_HOME": "/srv"},
    )
    assert [home_of_sudoer(environment) for environment in others] == [None] * 4
