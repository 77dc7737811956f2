"""How answers leave the program: JSON or text, colours, pages, warnings."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli.context import counted, envelope, labelled, table
from tests.cli.conftest import Tally
from tests.support.cases import each

TALLY = ("-m", "tallystick")


def on_a_terminal(
    user: Path, *words: str, rows: int = 10, columns: int = 100, program: tuple[str, ...] = TALLY, **environment: str
) -> str:
    """What a terminal of some rows and columns receives from a command. A pager of the machine would wait for keys."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    clean = {
        "HOME": str(user),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "PAGER": "cat",
        **environment,
    }
    process = subprocess.Popen(
        [sys.executable, *program, *words], env=clean, stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    received = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        received += chunk
    os.close(leader)
    process.wait()
    return received.decode().replace("\r\n", "\n")


@pytest.fixture
def full(full: Path, tally: Tally) -> Path:
    """The store with an index that is up to date: bringing it there shows progress on a busy machine."""
    tally("log", "--limit", "1")
    return full


@pytest.fixture
def pager(tmp_path: Path) -> str:
    """A pager that numbers its lines, so that it can be told from none."""
    script = tmp_path / "pager"
    script.write_text("#!/bin/sh\necho PAGED\ncat\n")
    script.chmod(0o755)
    return str(script)


def test_long_text_on_a_terminal_goes_through_the_pager(full: Path, pager: str) -> None:
    shown = on_a_terminal(full, "log", PAGER=pager)
    assert shown.startswith("PAGED\n")
    assert len(shown.splitlines()) > 50


def test_short_text_does_not(full: Path, pager: str) -> None:
    assert "PAGED" not in on_a_terminal(full, "log", "--limit", "3", PAGER=pager)


@each("rows, columns", [(0, 0), (0, 80), (24, 0)])
def test_a_terminal_that_does_not_know_its_size_is_none_to_fit_on(
    full: Path, pager: str, rows: int, columns: int
) -> None:
    shown = on_a_terminal(full, "log", PAGER=pager, rows=rows, columns=columns)
    assert shown.startswith("PAGED\n") == bool(rows)
    assert len(shown.splitlines()) > 50
    assert max(map(len, shown.splitlines())) > 40 or columns


def test_nor_does_anything_else_than_text_on_a_terminal(full: Path, tally: Tally, pager: str) -> None:
    assert "PAGED" not in on_a_terminal(full, "log", "--json", PAGER=pager)
    assert "PAGED" not in tally("log", env={"PAGER": pager}).stdout
    assert tally("config", "set", "output.pager", "never").exit_code == 0
    assert "PAGED" not in on_a_terminal(full, "log", PAGER=pager)


def test_a_pager_that_is_left_early_is_no_error(full: Path, tmp_path: Path) -> None:
    quitter = tmp_path / "quitter"
    quitter.write_text("#!/bin/sh\nhead -1\n")
    quitter.chmod(0o755)
    shown = on_a_terminal(full, "log", "--limit", "5000", PAGER=str(quitter))
    assert "Traceback" not in shown
    assert "tally:" not in shown


def test_colours_are_for_terminals_that_want_them(full: Path, tally: Tally) -> None:
    few = ("log", "--limit", "3")
    assert "\x1b[" in on_a_terminal(full, *few)
    assert "\x1b[" not in on_a_terminal(full, *few, NO_COLOR="1")
    assert "\x1b[" in on_a_terminal(full, *few, NO_COLOR="")
    assert "\x1b[" not in on_a_terminal(full, *few, "--no-color")
    assert "\x1b[" not in on_a_terminal(full, *few, TERM="dumb")
    assert "\x1b[" not in tally(*few).stdout


def test_lines_fit_the_terminal(full: Path) -> None:
    shown = on_a_terminal(full, "log", "--limit", "5", NO_COLOR="1")
    assert all(len(line) <= 100 for line in shown.splitlines())
    assert "22:40:38" in shown
    assert shown.count("2026-11-21") == 1


def test_quiet_keeps_the_answer_and_drops_the_rest(full: Path, tally: Tally) -> None:
    loud, quiet = tally("log", "--limit", "3"), tally("-q", "log", "--limit", "3")
    assert loud.stdout == quiet.stdout
    assert "Showing " in loud.stderr
    assert quiet.stderr == ""


def test_a_warning_is_on_stderr_or_in_the_envelope(full: Path, tally: Tally) -> None:
    (full / ".tally" / "config.toml").write_text("[odd]\nkey = 1\n")
    told = tally("config", "show")
    assert told.stderr.startswith("tally: ")
    assert "unknown setting 'odd.key'" in told.stderr
    quiet = tally("config", "show", "--json")
    assert quiet.stderr == ""
    assert "unknown setting 'odd.key'" in json.loads(quiet.stdout)["warnings"][0]


class Value(msgspec.Struct):
    """One of ours, as operations answer."""

    path: Path
    raw: bytes


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_an_envelope_is_ascii_and_says_the_same(text: str) -> None:
    written = envelope("x", {"text": text}, [text])
    assert written.isascii()
    assert all(character == "\n" or character.isprintable() for character in written)
    assert json.loads(written) == {"schema": "tally.x", "version": 1, "data": {"text": text}, "warnings": [text]}


def test_an_envelope_takes_values_of_ours() -> None:
    found = json.loads(envelope("x", [Value(Path("/a"), b"\x00\xff")], []))
    assert found["data"] == [{"path": "/a", "raw": "AP8="}]


def test_a_table_is_aligned_by_columns_as_they_are_drawn() -> None:
    rows = list(table([("世界", "1", "x"), ("a", "12", "")], head=("A", "NR", "B"), right=frozenset((1,))))
    assert rows[1:] == ["世界   1  x", "a     12"]


def test_labels_without_a_value_are_left_out() -> None:
    assert [
        line.replace("\x1b[2m", "").replace("\x1b[0m", "") for line in labelled([("a", "1"), ("bc", ""), ("d", "2")])
    ] == [
        "a  1",
        "d  2",
    ]


def test_numbers_have_their_nouns() -> None:
    assert counted(1, "step") == "1 step"
    assert counted(2000, "entry", "entries") == "2,000 entries"
