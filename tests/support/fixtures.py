"""Stores and imports for the tests of all packages that record, on the real recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.capture.discover import recognise
from tallystick.ingest.import_ import Importer, ImportReport
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.model.step import Opening
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.writer import Writer
from tests.support.following import Clock

RECORDINGS = Path(__file__).parents[1] / "recordings"

ImportPaths = Callable[..., ImportReport]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    Archive.make(home)
    return home


@pytest.fixture
def archive(home: Home) -> Iterator[Archive]:
    archive = Archive(home)
    yield archive
    archive.close()


@pytest.fixture
def writer(archive: Archive) -> Iterator[Writer]:
    """What adds steps to the journals of `home`."""
    writer = Writer(archive, UTC)
    yield writer
    writer.close()


@pytest.fixture
def record(writer: Writer) -> SessionRecord:
    """The journal of one session."""
    return writer.open(Opening(session="s", agent="demo"))[0]


@pytest.fixture
def import_paths(home: Home) -> ImportPaths:
    """Import paths as the command does, each time with the store opened anew."""

    def run(*paths: Path, again: bool = False) -> ImportReport:
        archive = Archive(home)
        known = adapters()
        try:
            return Importer(archive, known, UTC).run(recognise(paths, known), again=again)
        finally:
            archive.close()

    return run


@pytest.fixture
def session_writer(home: Home) -> Iterator[SessionWriter]:
    """What records live events into `home`."""
    with SessionWriter(home) as session_writer:
        yield session_writer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def witness(session_writer: SessionWriter, clock: Clock) -> Iterator[TranscriptFollower]:
    """What follows transcripts, by a clock that can be put forward."""
    witness = TranscriptFollower(session_writer, adapters(), clock=clock)
    yield witness
    witness.close()
