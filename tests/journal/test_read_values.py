"""What is kept of the values that steps showed: a line a step, for their user alone, gone with an erasure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.journal.read_values import ReadValues, forget_values
from tallystick.scrubbing.fingerprints import prints_of

SID = "0123456789abcdef"
VALUE = b"sk-proj-k3J9sQ2vXwLm0pZr7TbY4cN8dF6gH1aE"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_what_one_process_keeps_another_knows(home: Home) -> None:
    reader, writer = ReadValues(home), ReadValues(home)
    assert (reader.key(), reader.shown("0123456789ab:3")) == (b"", b"")
    writer.note(SID, 3, [VALUE])
    assert reader.shown("0123456789ab:3") == prints_of([VALUE], reader.key()) != b""
    writer.note(SID, 4, [VALUE[::-1]])
    assert reader.shown("0123456789ab:4")
    assert home.read_values.stat().st_mode & 0o777 == 0o600
    assert VALUE not in home.read_values.read_bytes()


def test_a_step_that_is_recorded_again_is_kept_once(home: Home) -> None:
    values = ReadValues(home)
    for _ in range(2):
        values.note(SID, 3, [VALUE])
    assert len(home.read_values.read_text().splitlines()) == 1


def test_nothing_is_kept_of_nothing(home: Home) -> None:
    ReadValues(home).note(SID, 3, [b"password"])
    assert not home.read_values.exists()


def test_what_is_erased_is_forgotten(home: Home) -> None:
    values = ReadValues(home)
    forget_values(home, SID, [3])
    for n in (3, 33):
        values.note(SID, n, [VALUE])
    assert values.shown("0123456789ab:3")
    forget_values(home, SID, [3])
    assert not values.shown("0123456789ab:3")
    assert values.shown("0123456789ab:33")


def test_a_damaged_file_is_read_as_far_as_it_goes(home: Home) -> None:
    values = ReadValues(home)
    values.note(SID, 3, [VALUE])
    with home.read_values.open("ab") as file:
        file.write(b"\xff\xfe\nx y z\n0123456789ab:5 !!!\n0123456789ab:6 QUJD")
    assert values.shown("0123456789ab:3")
    assert (values.shown("0123456789ab:5"), values.shown("0123456789ab:6")) == (b"", b"")


def test_a_store_that_cannot_be_written_records_all_the_same(home: Home) -> None:
    home.read_values.parent.write_text("no folder")
    ReadValues(home).note(SID, 3, [VALUE])
    assert ReadValues(home).new_key() == b""
