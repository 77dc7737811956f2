"""What the shipped policies say of writes outside of the workspace, and which settings change that."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policy.laid_out import Laid


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is none for temporary files."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as made:
        yield Path(made)


def test_the_settings_can_forbid_writes_outside(folder: Path) -> None:
    machine = Laid(folder, outside="deny")
    assert machine.said("echo x > ~/x")[0] == "deny"
    assert machine.said("echo x > x")[0] == "allow"
    assert machine.said("echo x > /tmp/x")[0] == "allow"


def test_a_trusted_folder_is_as_good_as_the_workspace(folder: Path) -> None:
    machine = Laid(folder, trusted=("~/other-project",))
    assert machine.said("echo x > ../other-project/x.py")[0] == "allow"
    assert machine.said("rm -rf ../other-project/src")[0] == "ask"


def test_a_home_folder_under_version_control_is_no_workspace(folder: Path) -> None:
    machine = Laid(folder)
    machine.write(".git/HEAD", "ref: refs/heads/main\n")
    machine.write("plain/x.txt", "x")
    assert machine.said("echo x > ../Documents/x.md", folder="plain")[0] == "ask"
    assert machine.said("echo x > y.txt", folder="plain")[0] == "allow"
