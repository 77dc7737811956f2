"""The program that a signer runs."""

from __future__ import annotations

import os
import plistlib
import subprocess
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.signer.pins import check_guarded
from tallystick.trust.signer_program import copy_program, interpreter, launchd_plist, systemd_unit
from tests.support.cases import each


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to root")
def test_the_copy_runs_without_anything_else_and_is_made_anew_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "program"
    copy_program(target)
    (target / "left-over").touch()
    copy_program(target)
    assert not (target / "left-over").exists()
    code = f"import sys; sys.path.insert(0, {str(target)!r}); import tallystick.signer.__main__ as m; print(m.__file__)"
    try:
        words = [str(interpreter()), "-I", "-S", "-c", code]
    except JournalError as error:
        pytest.skip(str(error))
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.startswith(str(target))


def test_the_interpreter_is_one_that_only_root_may_change() -> None:
    try:
        found = interpreter()
    except JournalError as error:
        assert "only root may change" in str(error)  # noqa: PT017
    else:
        check_guarded(found)


WORDS = ["a", 'say "hi"', "back\\slash", "100%", "$HOME", "<a&b>"]


def test_systemd_takes_each_word_as_it_is() -> None:
    text = systemd_unit(WORDS, 7, folder=Path("/f"), socket=Path("/run/s/socket"))
    assert 'ExecStart="a" "say \\"hi\\"" "back\\\\slash" "100%%" "$$HOME" "<a&b>"\n' in text
    assert "\nUser=7\nRuntimeDirectory=s\n" in text


@each("user", ["tally-signer", "<&>"])
def test_launchd_does_too(user: str) -> None:
    found = plistlib.loads(launchd_plist(WORDS, user).encode())
    assert (found["ProgramArguments"], found["UserName"]) == (WORDS, user)
