"""`tally service` as a supervisor runs it."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

from tallystick.capture import recorder
from tests.service.test_server import wait_for


def test_a_recorder_under_a_supervisor_keeps_its_files_to_itself(tmp_path: Path) -> None:
    store = tmp_path / "store"
    words = [sys.executable, "-I", "-m", "tallystick", "--home", str(store), "service", "run"]
    running = subprocess.Popen(words, umask=0o022, env={"HOME": str(tmp_path)})
    try:
        wait_for(lambda: (recorder.status(store) or {}).get("port"))
    finally:
        recorder.stop(store)
        running.wait(120)
    kept = [path for path in (store, *store.rglob("*")) if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert kept == []
