"""Recorded sessions for the tests of exports and statistics: events go through the real recorder into a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Event, Opening, Step
from tallystick.recording.writer import Writer

Record = Callable[[Iterable[Event]], list[Recorded]]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """`record(events)`: the steps of the one session that they are of, as they stand in a fresh store."""
    return lambda events: recorded_steps(events, tmp_path / "store")


def recorded_steps(events: Iterable[Event], folder: Path) -> list[Recorded]:
    home = Home(folder)
    Archive.make(home)
    writer = Writer(Archive(home), UTC)
    session = None
    for event in events:
        if isinstance(event, Opening):
            session, _ = writer.open(event)
        elif isinstance(event, Step):
            assert session is not None
            session.add(event)
    assert session is not None
    sid = session.sid
    writer.close()
    return list(read_session(home, sid, load_blobs=True))
