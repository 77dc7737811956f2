from __future__ import annotations

from pathlib import Path

from tallystick.journal.blobs import blob_reader, remove_blob, write_blob
from tallystick.journal.home import Home
from tallystick.seal.line import Blob

BLOB = Blob("ab" * 32, "raw", b"data" * 1000)


def read(home: Home, commitment: str) -> bytes | None:
    chunks = blob_reader(home.blobs)(commitment)
    return None if chunks is None else b"".join(chunks)


def test_a_blob_comes_back_and_goes(home: Home) -> None:
    write_blob(home, BLOB)
    write_blob(home, BLOB)
    assert read(home, BLOB.commitment) == BLOB.data
    remove_blob(home, BLOB.commitment)
    remove_blob(home, BLOB.commitment)
    assert read(home, BLOB.commitment) is None


def test_no_name_but_a_hash_is_looked_for(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    assert read(home, "../../secret") is None


def test_the_first_folder_that_has_it_gives_it(home: Home, tmp_path: Path) -> None:
    write_blob(home, BLOB)
    chunks = blob_reader(tmp_path / "none", home.blobs)(BLOB.commitment)
    assert chunks is not None
    assert b"".join(chunks) == BLOB.data
