from __future__ import annotations

import pytest

from tallystick.errors import FormatError, JournalError
from tallystick.journal.file import JournalFile
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_file, read_line, read_session
from tests.journal.conftest import say


def test_steps_come_back_with_their_places(home: Home, journal: JournalFile) -> None:
    say(journal, "one")
    placed = list(read_file(home, journal.path))
    assert [item.step.type for item in placed] == ["session_start", "assistant"]
    assert placed[0].end == placed[1].offset
    assert read_at(home, journal.path, placed[1].offset) == placed[1].step
    assert read_at(home, journal.path, placed[1].offset + 1) is None
    assert [step.n for step in read_session(home, journal.sid)] == [0, 1]


def test_blobs_are_loaded_only_when_asked_for(home: Home, journal: JournalFile) -> None:
    value = "x" * 70_000
    journal.append({"type": "tool_result", "source": "sdk"}, {"content.output": value}, {"content.part_0": b"\x89PNG"})
    plain = list(read_session(home, journal.sid))[1]
    assert plain.unloaded == {"content.output": 70_002, "content.part_0": 4}
    assert plain.values == {}
    loaded = list(read_session(home, journal.sid, load_blobs=True))[1]
    assert loaded.values == {"content.output": value}
    assert loaded.raw == {"content.part_0": b"\x89PNG"}
    assert loaded.unloaded == {}


def test_what_is_no_line_is_named(home: Home, journal: JournalFile) -> None:
    with journal.path.open("ab") as file:
        file.write(b"junk\n")
    with pytest.raises(FormatError, match=r"at byte \d+"):
        list(read_file(home, journal.path))
    with pytest.raises(FormatError):
        read_line(home, b"[]")
    for text in (b'{"entry":"\xb0"}', b'{"x":' * 20_000):
        with pytest.raises(FormatError):
            read_line(home, text)
    with pytest.raises(JournalError, match="no journal"):
        list(read_session(home, "0" * 32))
