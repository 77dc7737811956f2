"""Stores and imports for the tests of this folder, on the real recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.agents import adapters
from tallystick.capture.discover import recognise
from tallystick.ingest.import_ import Importer, ImportReport
from tallystick.ingest.transcript_follower import Witness
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.model.step import Opening
from tallystick.recording.record import SessionRecord, Writer
from tallystick.recording.session_writer import Scribe
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
def scribe(home: Home) -> Iterator[Scribe]:
    """What records live events into `home`."""
    with Scribe(home) as scribe:
        yield scribe


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def witness(scribe: Scribe, clock: Clock) -> Iterator[Witness]:
    """What follows transcripts, by a clock that can be put forward."""
    witness = Witness(scribe, adapters(), clock=clock)
    yield witness
    witness.close()
