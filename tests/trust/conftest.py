"""A machine that can be given a signer: the copy of the program is made once, the machine for each test."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.trust import signer_setup
from tallystick.trust.signer_program import copy_program, interpreter
from tests.support.signer_machine import Machine


@pytest.fixture(scope="session")
def signer_program() -> Iterator[Path]:
    """The copy of the signer's program, made once by what `init` makes it with, and compiled."""
    folder = Path(tempfile.mkdtemp(prefix="signer-program-"))
    folder.chmod(0o755)
    copy_program(folder / "program")
    code = f"import sys; sys.path.insert(0, {str(folder / 'program')!r}); import tallystick.signer.__main__"
    subprocess.run([str(interpreter()), "-I", "-S", "-c", code], check=True)
    yield folder / "program"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def machine(signer_program: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine that has the signer's program, as `init` leaves it: only the process and its files are made anew."""

    def copy(target: Path) -> None:
        if target != signer_program:
            copy_program(target)

    monkeypatch.setattr(signer_setup, "copy_program", copy)
    base = Path(tempfile.mkdtemp(prefix="signer-machine-"))
    base.chmod(0o755)
    made = Machine(base, signer_program)
    yield made
    made.end()
    shutil.rmtree(base, ignore_errors=True)
