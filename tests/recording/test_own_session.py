"""What the recorder says of itself."""

from __future__ import annotations

import pytest

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.own_session import RECORDER, SESSION, Gaps
from tallystick.recording.session_writer import SessionWriter


def gaps_of(home: Home) -> list[dict[str, object]]:
    """What the gaps in the record say, in their order."""
    found = [step for sid, _ in home.sessions() for step in read_session(home, sid) if step.type == "gap"]
    return [{name: step.meta.get(name) for name in ("reason", "events", "since", "until")} for step in found]


def test_deliveries_that_were_missed_are_one_gap_and_told_once(home: Home, session_writer: SessionWriter) -> None:
    gaps = Gaps(session_writer)
    gaps.tell()
    for minute in (1, 2, 3):
        gaps.count(f"2026-11-22T09:0{minute}:00Z")
    assert gaps.untold == 3
    gaps.tell()
    gaps.tell()
    assert gaps.untold == 0
    session_writer.seal()
    (gap,) = gaps_of(home)
    assert gap == {
        "reason": "not-writable",
        "events": 3,
        "since": "2026-11-22T09:01:00Z",
        "until": "2026-11-22T09:03:00Z",
    }
    assert session_writer.writer.find(RECORDER, SESSION) is not None


def test_what_cannot_be_told_now_stays_counted(
    home: Home, session_writer: SessionWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise JournalError("no space left on device")

    gaps = Gaps(session_writer)
    gaps.count("2026-11-22T09:00:00Z")
    with monkeypatch.context() as failing:
        failing.setattr(session_writer, "add", full)
        with pytest.raises(JournalError):
            gaps.tell()
    assert (gaps.untold, gaps_of(home)) == (1, [])
    gaps.tell()
    session_writer.seal()
    assert (gaps.untold, len(gaps_of(home))) == (0, 1)
