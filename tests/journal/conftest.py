"""Stores for the tests of this folder: real ones, with a clock and seeds that can be made again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallystick.journal.archive import Archive
from tallystick.journal.file import JournalFile
from tallystick.journal.home import Home
from tallystick.model.step import Json


def ticking_clock() -> Callable[[], str]:
    """A clock that goes on by a microsecond at each look."""
    count = itertools.count()

    def now() -> str:
        tick = next(count)
        return f"2026-01-02T03:{tick // 60_000_000 % 60:02}:{tick // 1_000_000 % 60:02}.{tick % 1_000_000:06}Z"

    return now


def counting_seeds(salt: int = 0) -> Callable[[], bytes]:
    """Seeds that differ, and are the same in the next run."""
    count = itertools.count(1)
    return lambda: (salt * 1_000_003 + next(count)).to_bytes(32, "little")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    Archive.make(home, clock=ticking_clock(), seeds=counting_seeds(7))
    return home


@pytest.fixture
def archive(home: Home) -> Iterator[Archive]:
    archive = Archive(home, clock=ticking_clock(), seeds=counting_seeds(1))
    yield archive
    archive.close()


START: dict[str, Json] = {
    "type": "session_start",
    "source": "sdk",
    "agent": "demo",
    "kind": "root",
    "source_session": "s1",
}


@pytest.fixture
def journal(archive: Archive) -> JournalFile:
    file, _ = archive.make_journal(START, {}, ())
    return file


def say(journal: JournalFile, text: str) -> int:
    """Append one step that says `text`."""
    return journal.append({"type": "assistant", "source": "sdk"}, {"content.text": text}).n
