"""The file of what is known to be a secret."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.journal import known_values as module
from tallystick.journal.home import Home
from tallystick.journal.known_values import KnownFile

VALUE = b"Tr0ub4dor&3-x"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "keys").mkdir(mode=0o700)
    return Home(tmp_path)


def learn(file: KnownFile, *values: bytes) -> None:
    known = file.current()
    assert known is not None
    known.learn(dict.fromkeys(values, "password"))
    file.keep()


def knows(file: KnownFile, value: bytes) -> bool:
    known = file.current()
    return known is not None and known.may_be_in(value)


def test_nothing_is_written_before_something_is_learned(home: Home) -> None:
    assert not knows(KnownFile(home), VALUE)
    assert list(home.known_key.parent.iterdir()) == []


def test_what_one_process_learns_another_knows_at_once(home: Home) -> None:
    one, other = KnownFile(home), KnownFile(home)
    assert not knows(other, VALUE)
    learn(one, VALUE)
    assert knows(KnownFile(home), VALUE)
    assert knows(other, VALUE)
    learn(other, b"Zx9!kq7Wm")
    assert knows(one, b"Zx9!kq7Wm")


def test_only_the_user_may_read_it_and_no_value_is_in_it(home: Home) -> None:
    learn(KnownFile(home), VALUE)
    for path in (home.known_key, home.known_values):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert VALUE not in path.read_bytes()


def test_a_half_written_line_is_taken_when_it_is_whole(home: Home) -> None:
    learn(KnownFile(home), VALUE)
    line = home.known_values.read_bytes()
    home.known_values.write_bytes(line[:50])
    reader = KnownFile(home)
    assert not knows(reader, VALUE)
    with home.known_values.open("ab") as file:
        file.write(line[50:])
    assert knows(reader, VALUE)


def test_the_file_does_not_grow_for_ever(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 3)
    file = KnownFile(home)
    for number in range(30):
        learn(file, b"Va!%dueX9qZ" % number)
    lines = home.known_values.read_text().splitlines()
    assert len(lines) <= 31
    assert knows(KnownFile(home), b"Va!29ueX9qZ")


def test_a_link_in_its_place_is_not_followed_and_recording_goes_on(home: Home, tmp_path: Path) -> None:
    learn(KnownFile(home), VALUE)
    target = tmp_path / "elsewhere"
    home.known_values.rename(target)
    home.known_values.symlink_to(target)
    before = target.read_bytes()
    file = KnownFile(home)
    assert file.current() is None
    file.keep()
    assert target.read_bytes() == before


def test_while_it_is_held_nothing_of_others_is_known(home: Home) -> None:
    one, other = KnownFile(home), KnownFile(home)
    learn(one, b"Zx9!kq7Wm")
    with one.held():
        learn(other, VALUE)
        assert not knows(one, VALUE)
    assert knows(one, VALUE)


ADD = """
import sys
from pathlib import Path
from tallystick.journal.home import Home
from tallystick.journal.known_values import KnownFile
file = KnownFile(Home(Path(sys.argv[1])))
for number in range(20):
    file.current().learn({f"Va!{sys.argv[2]}ue{number}X9qZ".encode(): "password"})
    file.keep()
"""


def test_several_processes_add_to_one_file(home: Home) -> None:
    learn(KnownFile(home), VALUE)
    added = [
        subprocess.Popen([sys.executable, "-c", ADD, home.folder, str(number)], env=os.environ) for number in range(3)
    ]
    assert [process.wait(60) for process in added] == [0, 0, 0]
    known = KnownFile(home).current()
    assert known is not None
    assert len(known) == 61
