"""`tally tui` in a real terminal: it starts, answers keys, obeys nothing that agents wrote, leaves things as they were."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Tally
from tests.cli.test_command import modules_of
from tests.tui.hostile import make_hostile

PROGRAM = [sys.executable, "-m", "tallystick", "tui"]
WITH_A_FAULT = """
from tallystick.cli import main
from tallystick.tui.timeline import Timeline
def fail(*_): raise ZeroDivisionError("by zero")
Timeline.pieces = fail
main(["tui"])
"""
_PATIENCE_S = 60.0
_ESCAPE = re.compile(
    rb"\x1b\[[0-9;]*m"  # how text looks
    rb"|\x1b\[[0-9;]*H"  # where it stands
    rb"|\x1b\[[<>=?]?[0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p"  # modes of the terminal and questions to it
    rb"|\x1b\[[0-9;]* q|\x1bP\+q[0-9a-fA-F;]*\x1b\\|\x1b_G[^\x1b]*\x1b\\"
)

_POINTER = b"\x1b]22;default\x07"  # the shape of the mouse's pointer


class Terminal:
    """A terminal of 80 columns and 24 lines with the program in it."""

    def __init__(
        self, user: Path, *words: str, environment: dict[str, str] | None = None, program: list[str] = PROGRAM
    ) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self._side, self._end = ours, theirs
        self.written = b""
        env = {"HOME": str(user), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [*program, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**env, **(environment or {})},
            start_new_session=True,
        )

    def read_until(self, wanted: bytes) -> None:
        """Read until something was drawn since the last key."""
        start, end = len(self.written), time.monotonic() + _PATIENCE_S
        while wanted not in _ESCAPE.sub(b"", self.written[start:]):
            assert time.monotonic() < end, f"{wanted!r} was not drawn"
            self._read(0.1)

    def _read(self, seconds: float) -> None:
        if select.select([self._side], [], [], seconds)[0]:
            self.written += os.read(self._side, 1 << 16)

    def press(self, keys: bytes) -> None:
        os.write(self._side, keys)

    def leave(self, keys: bytes = b"q") -> int:
        """Press what leaves; its exit code. What it writes to the end is read."""
        self.press(keys)
        while self.process.poll() is None:
            self._read(0.1)
        while select.select([self._side], [], [], 0.2)[0]:
            self._read(0)
        return self.process.returncode

    def hang_up(self) -> None:
        os.close(self._side)
        os.close(self._end)
        self._side = self._end = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._side != -1:
            self.hang_up()

    @property
    def after(self) -> list[object]:
        return list(termios.tcgetattr(self._end))


@pytest.mark.parametrize(
    "leaves", [pytest.param(b"q", id="q"), pytest.param(b"\x03", id="ctrl-c", marks=pytest.mark.soak)]
)
def test_it_starts_answers_keys_and_leaves_the_terminal_as_it_was(full: Path, leaves: bytes) -> None:
    terminal = Terminal(full)
    try:
        terminal.read_until(b"session_start")
        terminal.press(b"?")
        terminal.read_until(b"Moving")
        terminal.press(b"\x1b")
        terminal.read_until(b"Steps")
        terminal.press(b"e")
        terminal.read_until(b"failed")
        assert terminal.leave(leaves) == 0
        assert terminal.after == list(terminal.before)
    finally:
        terminal.close()
    assert terminal.written.count(b"\x1b[?1049h") == terminal.written.count(b"\x1b[?1049l") == 1
    assert terminal.written.rindex(b"\x1b[?25h") > terminal.written.rindex(b"\x1b[?25l"), "the cursor is back"
    assert b"\x1b[?1000h" not in terminal.written, "the mouse stays the terminal's"


def test_no_escape_sequence_reaches_the_terminal_but_its_own(user: Path) -> None:
    make_hostile(user / ".tally")
    terminal = Terminal(user)
    try:
        terminal.read_until(b"session_start")
        wanted = {b"eeee": b"failed", b"\r": b"Detail", b"G": b"checkpoint", b"V": b"intact", b"v": b"sound"}
        for keys, drawn in wanted.items():
            terminal.press(keys)
            terminal.read_until(drawn)
        terminal.press(b"\x1b")
        terminal.read_until(b"Steps")
        assert terminal.leave() == 0
    finally:
        terminal.close()
    rest = _ESCAPE.sub(b"", terminal.written.replace(_POINTER, b""))
    assert b"\x1b" not in rest, "no title is set, no link is made, nothing is copied"
    assert re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", rest) is None


def test_without_colour_none_is_written(full: Path) -> None:
    terminal = Terminal(full, "--no-color")
    try:
        terminal.read_until(b"session_start")
        terminal.press(b"e")
        terminal.read_until(b"failed")
        terminal.leave()
    finally:
        terminal.close()
    styles = {int(n) for found in re.findall(rb"\x1b\[([0-9;]*)m", terminal.written) for n in found.split(b";") if n}
    assert styles <= {0, 1, 2, 3, 4, 7, 39, 49}


def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(full: Path) -> None:
    terminal = Terminal(full)
    try:
        terminal.read_until(b"session_start")
        terminal.process.terminate()
        assert terminal.leave(b"") == 128 + 15
        assert terminal.after == list(terminal.before)
    finally:
        terminal.close()
    assert b"\x1b[?1049l" in terminal.written


def test_it_ends_with_its_terminal_though_no_signal_says_so(full: Path) -> None:
    terminal = Terminal(full)
    try:
        terminal.read_until(b"session_start")
        terminal.hang_up()
        assert terminal.process.wait(_PATIENCE_S) in (128 + 1, 120)  # 120: Python has nowhere to write its rest to
    finally:
        terminal.close()


def test_a_fault_of_ours_leaves_the_terminal_and_is_told_in_a_sentence(full: Path) -> None:
    terminal = Terminal(full, program=[sys.executable, "-c", WITH_A_FAULT])
    try:
        terminal.read_until(b"and report it")
        assert terminal.process.wait(_PATIENCE_S) == 1
        assert terminal.after == list(terminal.before)
    finally:
        terminal.close()
    assert b"tally: internal error: ZeroDivisionError: by zero" in terminal.written
    assert b"Traceback" not in terminal.written
    assert terminal.written.rindex(b"\x1b[?1049l") < terminal.written.rindex(b"run it again with TALLY_DEBUG=1")


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_what_is_no_terminal_is_told_what_to_do_instead(tally: Tally, words: tuple[str, ...]) -> None:
    tally("init")
    result = tally("tui", *words)
    assert result.exit_code == 64
    assert "hint: use `tally session tree" in result.stderr


def test_a_dumb_terminal_is_none(full: Path) -> None:
    terminal = Terminal(full, environment={"TERM": "dumb"})
    try:
        terminal.read_until(b"needs a terminal")
        assert terminal.process.wait(_PATIENCE_S) == 64
    finally:
        terminal.close()


def test_nobody_who_does_not_want_the_screen_waits_for_it(user: Path) -> None:
    for words in (("--help",), ("tui", "--help"), ("version",)):
        assert not [name for name in modules_of(user, *words) if name.partition(".")[0] in ("textual", "rich")]
