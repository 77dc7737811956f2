"""A symbolic link in the place of a file of a store is never followed, neither to read nor to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.errors import JournalError, TallystickError
from tallystick.journal.archive import Archive
from tallystick.journal.blobs import blob_reader
from tallystick.journal.durable import replace_file
from tallystick.journal.file import JournalFile
from tallystick.journal.headless import FileStore
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import open_elsewhere, open_file, read_whole
from tallystick.journal.read import read_session
from tallystick.model.ids import SessionId
from tests.journal.conftest import START
from tests.sessions.session_events import RUNNING, said

TEXT = b"not ours\n"


def linked(path: Path, elsewhere: Path) -> Path:
    """A link in the place of a file, which is elsewhere now."""
    elsewhere.parent.mkdir(exist_ok=True, parents=True)
    if path.exists():
        path.rename(elsewhere)
    else:
        elsewhere.write_bytes(TEXT)
    path.symlink_to(elsewhere)
    return elsewhere


def refused(action: object) -> str:
    """What an error says about a link."""
    with pytest.raises(TallystickError, match="is a symbolic link") as caught:
        action()  # type: ignore[operator]
    assert "in its place" in str(caught.value.hint)
    return str(caught.value)


def test_what_is_a_link_is_named_and_what_to_do_is_said(tmp_path: Path) -> None:
    target = linked(tmp_path / "name", tmp_path / "target")
    for flags in (os.O_RDONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        assert str(tmp_path / "name") in refused(lambda flags=flags: open_file(tmp_path / "name", flags))
    assert refused(lambda: read_whole(tmp_path / "name"))
    assert target.read_bytes() == TEXT


def test_a_link_to_nothing_makes_no_file(tmp_path: Path) -> None:
    (tmp_path / "name").symlink_to(tmp_path / "nothing")
    refused(lambda: open_file(tmp_path / "name", os.O_RDWR | os.O_CREAT))
    assert not (tmp_path / "nothing").exists()


def test_a_file_and_a_folder_that_is_a_link_are_opened(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "file").write_bytes(TEXT)
    assert read_whole(tmp_path / "link" / "file") == TEXT
    with pytest.raises(FileNotFoundError):
        read_whole(tmp_path / "nothing")


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_CREAT | os.O_TRUNC])
def test_what_has_another_name_is_read_and_never_written(tmp_path: Path, flags: int) -> None:
    (tmp_path / "profile").write_bytes(TEXT)
    os.link(tmp_path / "profile", tmp_path / "name")
    with pytest.raises(JournalError, match="has 2 names") as caught:
        open_file(tmp_path / "name", flags)
    assert "put a copy in its place" in str(caught.value.hint)
    assert read_whole(tmp_path / "name") == TEXT
    (tmp_path / "profile").unlink()
    os.close(open_file(tmp_path / "name", flags))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_what_belongs_to_someone_else_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(TEXT)
    os.chown(tmp_path / "name", 65534, -1)
    with pytest.raises(JournalError, match="belongs to user 65534"):
        open_file(tmp_path / "name", os.O_RDWR)
    assert read_whole(tmp_path / "name") == TEXT
    os.chown(tmp_path, 65534, -1)
    os.close(open_file(tmp_path / "name", os.O_RDWR))


def test_a_file_that_someone_names_may_be_a_link(tmp_path: Path) -> None:
    linked(tmp_path / "name", tmp_path / "target")
    assert list(LineFile(tmp_path / "name", opener=open_elsewhere)) == [TEXT[:-1]]


def test_a_journal_that_is_a_link_is_neither_read_nor_written(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    archive.release(SessionId(journal.sid))
    elsewhere = linked(journal.path, home.folder.parent / "elsewhere.jsonl")
    before = elsewhere.read_bytes()
    assert str(journal.path) in refused(lambda: list(read_session(home, journal.sid)))
    refused(lambda: archive.journal(SessionId(journal.sid)).append({"type": "user", "source": "sdk"}))
    assert elsewhere.read_bytes() == before


def test_a_journal_that_becomes_a_link_while_it_is_open_takes_no_more(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    elsewhere = linked(journal.path, home.folder.parent / "elsewhere.jsonl")
    before = elsewhere.read_bytes()
    refused(lambda: journal.append({"type": "user", "source": "sdk"}))
    assert elsewhere.read_bytes() == before


@pytest.mark.parametrize("name", ["ledger.jsonl", "heads/ledger.note", "keys/log.key"])
def test_a_store_whose_ledger_head_or_key_is_a_link_is_not_opened(home: Home, name: str) -> None:
    linked(home.folder / name, home.folder.parent / "elsewhere")

    def write() -> None:
        archive = Archive(home)
        archive.make_journal(START, {}, ())
        archive.seal()

    assert name in refused(write)


def test_a_blob_that_is_a_link_is_not_read(home: Home, archive: Archive, journal: JournalFile) -> None:
    journal.append({"type": "user", "source": "sdk"}, {"content.text": "x" * 300_000})
    [blob] = [path for path in home.blobs.rglob("*") if path.is_file()]
    linked(blob, home.folder.parent / "elsewhere")
    refused(lambda: list(read_session(home, journal.sid, load_blobs=True)))
    assert blob_reader(home.blobs)(blob.name) is None


def test_a_file_is_put_in_place_of_a_link_not_through_it(tmp_path: Path) -> None:
    elsewhere = linked(tmp_path / "name", tmp_path / "target")
    replace_file(tmp_path / "name", [b"new"])
    assert (read_whole(tmp_path / "name"), elsewhere.read_bytes()) == (b"new", TEXT)


def test_a_link_that_waits_for_a_temporary_file_is_not_written_through(tmp_path: Path) -> None:
    elsewhere = linked(tmp_path / f".name.{os.getpid()}.tmp", tmp_path / "target")
    with pytest.raises(JournalError, match="is a symbolic link"):
        replace_file(tmp_path / "name", [b"new"])
    assert elsewhere.read_bytes() == TEXT


def test_a_session_file_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    store.create(RUNNING)
    elsewhere = linked(tmp_path / "files" / "s.jsonl", tmp_path / "elsewhere.jsonl")
    before = elsewhere.read_bytes()
    refused(lambda: store.load("s"))
    refused(lambda: store.reader("s").events())
    refused(lambda: store.append("s", said()))
    assert elsewhere.read_bytes() == before
