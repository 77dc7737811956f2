"""The recorder's place is its user's alone, and one recorder's at a time."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tests.service.faults import answers, before, run_hook
from tests.support import recorders

_IS_ROOT = os.getuid() == 0
_NOBODY = 65534


def test_one_claims_it_and_the_next_once_it_was_left(tmp_path: Path) -> None:
    place = Place(tmp_path / "new" / "store")
    first = place.claim()
    assert first is not None
    assert Place(tmp_path / "new" / "store").claim() is None
    assert place.owner() == os.getpid()
    place.leave(first)
    assert place.owner() is None
    again = place.claim()
    assert again is not None
    place.leave(again)


def _listening(folder: Path) -> subprocess.Popen[bytes]:
    """A process that listens on the recorder's socket, and nothing more."""
    code = "import socket; s = socket.socket(1); s.bind('recorder.sock'); s.listen(); print(flush=True); input()"
    words = [sys.executable, "-I", "-S", "-c", code]
    process = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell who listens")
def test_a_process_that_listens_in_the_recorders_place_is_told_from_it(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    claim = place.claim()
    assert claim is not None
    assert place.other_listener() is None
    with _listening(place.run) as process:
        assert place.other_listener() == process.pid
        place.pid.write_text(f"{process.pid}\n", "ascii")
        assert place.other_listener() is None, "it is the recorder, as far as can be seen"
        place.leave(claim)
        process.communicate(b"\n")
    assert place.other_listener() is None
    with _listening(place.run) as process:
        assert place.other_listener() == process.pid, "no one has the claim"
        process.communicate(b"\n")


def test_who_lost_it_takes_nothing_away_from_who_has_it_now(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    lost = place.claim()
    assert lost is not None
    shutil.rmtree(place.run)
    found = place.claim()
    assert found is not None
    place.socket.touch()
    place.leave(lost)
    assert place.socket.exists()
    assert place.pid.exists()
    place.leave(found)
    assert not place.socket.exists()


_STRANGER = """
import os, socket, sys
os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
try:
    os.chdir({folder!r})
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect("recorder.sock")
    connection.sendall(b"TALLY1 status\\n")
    print("answered" if connection.recv(100) else "nothing")
except OSError as error:
    print(type(error).__name__)
"""


def as_stranger(folder: Path) -> str:
    code = _STRANGER.format(nobody=_NOBODY, folder=str(folder))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.fixture
def open_home() -> Iterator[Home]:
    """A store whose parents everybody may enter."""
    folder = Path(tempfile.mkdtemp(prefix="tally-open-"))
    folder.chmod(0o755)
    yield Home(folder / "not yet" / "store")
    recorder.stop(folder / "not yet" / "store")
    shutil.rmtree(folder)


@pytest.mark.skipif(not _IS_ROOT, reason="becoming another user takes root")
def test_another_user_does_not_even_reach_the_socket(open_home: Home) -> None:
    before_mask = os.umask(0)
    try:
        run_hook(open_home.folder, before("claude-code", 1))
    finally:
        os.umask(before_mask)
    open_home.folder.parent.mkdir(exist_ok=True)
    recorders.start(open_home.folder)
    assert answers(open_home, 2)
    for folder in (open_home.folder, *(path for path in open_home.folder.rglob("*") if path.is_dir())):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    for file in (path for path in open_home.folder.rglob("*") if path.is_file() or path.is_socket()):
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
    assert as_stranger(open_home.folder / "run") == "PermissionError"


@pytest.mark.skipif(not _IS_ROOT, reason="becoming another user takes root")
def test_another_user_who_reaches_the_socket_gets_nothing_from_it(open_home: Home) -> None:
    open_home.folder.parent.mkdir()
    recorders.start(open_home.folder)
    for path in (open_home.folder.parent, open_home.folder, open_home.folder / "run"):
        path.chmod(0o777)
    Place(open_home.folder).socket.chmod(0o777)
    assert as_stranger(open_home.folder / "run") in ("nothing", "ConnectionResetError", "BrokenPipeError")
    assert answers(open_home, 1)
