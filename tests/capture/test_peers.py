"""Who is at the other end of a socket."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from tallystick.capture.peers import peer_of


def test_the_kernel_says_whose_process_it_is() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_of(ours).user == os.getuid()


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not say which process it is")
def test_both_ends_know_which_process_the_other_is(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as connecting:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        connecting.connect(str(tmp_path / "s"))
        accepted, _ = listening.accept()
        with accepted:
            assert (peer_of(accepted).pid, peer_of(connecting).pid) == (os.getpid(), os.getpid())
