"""Doing something with another user's rights."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.errors import JournalError, NotFoundError
from tallystick.trust.drop_privileges import as_user

OTHER = 64_115
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


def _become_root() -> str:
    os.setuid(0)
    return ""


def test_who_is_that_user_already_just_does_it() -> None:
    assert as_user(os.geteuid(), lambda: str(os.getpid())) == str(os.getpid())


@needs_root
def test_another_user_does_it_in_a_process_of_its_own_without_roots_rights(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of root\n")
    secret.chmod(0o600)
    told = as_user(OTHER, lambda: f"{os.getresuid()} {os.getresgid()} {os.getgroups()}")
    assert told == f"{(OTHER,) * 3} {(OTHER,) * 3} []"
    assert os.geteuid() == 0
    with pytest.raises(JournalError, match="PermissionError"):
        as_user(OTHER, secret.read_text)
    with pytest.raises(JournalError, match="PermissionError"):
        as_user(OTHER, _become_root)


@needs_root
def test_its_errors_come_back() -> None:
    def fail() -> str:
        raise NotFoundError("nothing there", hint="look elsewhere")

    with pytest.raises(NotFoundError, match="nothing there") as caught:
        as_user(OTHER, fail)
    assert caught.value.hint == "look elsewhere"
    with pytest.raises(JournalError, match="ended before it was done"):
        as_user(OTHER, lambda: str(os._exit(3)))
