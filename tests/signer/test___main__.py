from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.signer.__main__ import main
from tallystick.signer.vault import make_vault
from tallystick.trust.signer import ask_status


def test_it_serves_until_a_signal_comes_and_takes_its_socket_away(tmp_path: Path) -> None:
    folder, path = tmp_path / "signer", tmp_path / "socket"
    folder.mkdir(mode=0o700)
    make_vault(folder / "x.log", "ab" * 16, b"\x01" * 32, (0,))
    process = subprocess.Popen([sys.executable, "-m", "tallystick.signer", str(folder), str(path)])
    try:
        until = time.monotonic() + 120
        while not path.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert ask_status(path)[1]["pid"] == process.pid
        if sys.platform == "linux":
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            assert limits.partition("Max core file size")[2].split()[:2] == ["0", "0"]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    assert not path.exists()


def test_what_it_cannot_use_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 64
    assert main([str(tmp_path / "nothing"), str(tmp_path / "socket")]) == 1
    assert "cannot open" in capsys.readouterr().err
