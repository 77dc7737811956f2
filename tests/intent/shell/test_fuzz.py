"""The shell's reader under atheris, where that is installed: run by `make soak`."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

_RUNS = 100_000


@pytest.mark.soak
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed: pip install atheris")
def test_no_bytes_make_it_fail(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.shell",
        f"-runs={_RUNS}",
        "-max_len=2048",
        f"-artifact_prefix={tmp_path}/",
    ]
    found = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-4000:]
