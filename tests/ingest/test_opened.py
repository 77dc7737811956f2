"""Records from elsewhere are looked at in a store of their own, and left as they were."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError, UsageError
from tallystick.ingest.adapters import adapters
from tallystick.ingest.opened import Progress, opened
from tallystick.journal.home import Home


class Bar:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.total = self.done = 0

    @contextmanager
    def __call__(self, total: int) -> Iterator[Progress]:
        self.total = total
        yield self.advance

    def advance(self, _name: str, size: int) -> None:
        self.done += size


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """What a change of anything below a folder would change."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes()) for path in files}


def test_a_store_is_copied_whole_and_stays_as_it_was(samples: Home) -> None:
    before, bar = state_of(samples.folder), Bar()
    with opened([samples.folder], adapters(), bar) as found:
        assert found.home.folder != samples.folder
        assert [sid for sid, _ in found.home.files()] == [sid for sid, _ in samples.files()]

        assert not found.home.key.exists()
        assert bar.done == bar.total > 0
        kept = found.home.folder
    assert state_of(samples.folder) == before
    assert not kept.exists()


def test_histories_are_imported_into_a_store_that_is_gone_afterwards(imported_samples: Path) -> None:
    before, bar = state_of(imported_samples / ".claude"), Bar()
    with opened([imported_samples / ".claude"], adapters(), bar) as found:
        assert found.imported is not None
        assert found.imported.report.recorded
        assert found.home.files()
        kept = found.home.folder
    assert state_of(imported_samples / ".claude") == before
    assert not kept.exists()


def test_a_link_and_a_pipe_in_a_store_are_named_and_not_followed(samples: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden")
    (samples.journals / "link.jsonl").symlink_to(tmp_path / "secret")
    os.mkfifo(samples.blobs / "pipe")
    with opened([samples.folder], adapters(), Bar()) as found:
        assert sorted(found.left_out) == ["blobs/pipe", "journals/link.jsonl"]
        assert not (found.home.journals / "link.jsonl").exists()


def test_a_store_is_opened_alone(samples: Home, imported_samples: Path) -> None:
    with pytest.raises(UsageError, match="opened alone"), opened([samples.folder, imported_samples], adapters(), Bar()):
        pass


def test_what_is_not_there_or_holds_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is not there"), opened([tmp_path / "none"], adapters(), Bar()):
        pass
    (tmp_path / "notes.txt").write_text("nothing of an agent")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(NotFoundError), opened([path], adapters(), Bar()):
            pass


def test_no_copy_is_begun_without_room_for_it(samples: Home, tmp_path: Path) -> None:
    large = samples.blobs / "large"
    with large.open("wb") as file:
        file.truncate(shutil.disk_usage(tmp_path).total * 2)
    with pytest.raises(Exception, match="there is room for"), opened([samples.folder], adapters(), Bar()):
        pass
