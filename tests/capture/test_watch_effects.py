from __future__ import annotations

import os
import stat
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.capture.watch_effects import MOST_DIGESTED_BYTES, Paired, Times, digest_of, pair
from tallystick.capture.watch_tree import Difference, Entry, read_entry
from tallystick.model.effect import EffectKind

FILE = Entry(inode=1, size=3, mode=stat.S_IFREG | 0o644, content_ns=10, status_ns=11)
FOLDER = Entry(inode=2, size=40, mode=stat.S_IFDIR | 0o755, content_ns=20, status_ns=21)


def told(found: list[Paired]) -> list[tuple[str, str | None, str]]:
    return [(item.kind.value, item.old_path, item.path) for item in found]


def test_what_went_and_came_with_one_inode_size_and_time_was_renamed() -> None:
    moved = replace(FILE, status_ns=99)
    assert told(pair([Difference("/w/a", FILE, None), Difference("/w/b", None, moved)])) == [("rename", "/w/a", "/w/b")]
    assert told(pair([Difference("/w/b", None, moved), Difference("/w/a", FILE, None)])) == [("rename", "/w/a", "/w/b")]


def test_an_inode_that_was_given_again_is_no_rename() -> None:
    other = replace(FILE, content_ns=50)
    found = told(pair([Difference("/w/a", FILE, None), Difference("/w/b", None, other)]))
    assert found == [("create", None, "/w/b"), ("delete", None, "/w/a")]


def test_a_folder_is_renamed_although_its_size_changed() -> None:
    moved = replace(FOLDER, size=60)
    assert told(pair([Difference("/w/a", FOLDER, None), Difference("/w/b", None, moved)])) == [
        ("rename", "/w/a", "/w/b")
    ]


def test_a_file_that_took_the_place_of_another_was_renamed_over_it() -> None:
    (found,) = pair([Difference("/w/a", FILE, None), Difference("/w/b", replace(FILE, inode=7), FILE)])
    assert (found.kind, found.old_path, found.is_replaced) == (EffectKind.RENAME, "/w/a", True)


def test_the_same_bytes_under_another_name_are_a_rename_where_they_were_read_before() -> None:
    old = replace(FILE, digest="sha256:1")
    come = Difference("/w/b", None, replace(FILE, inode=5, content_ns=70))
    gone = Difference("/w/a", old, None)
    assert told(pair([gone, come], read=lambda *_: "sha256:1")) == [("rename", "/w/a", "/w/b")]
    assert told(pair([gone, come], read=lambda *_: "sha256:2"))[0][0] == "create"
    assert told(pair([gone, come]))[0][0] == "create"


def test_one_file_is_renamed_once() -> None:
    found = told(pair([Difference("/w/a", FILE, None), *(Difference(f"/w/{name}", None, FILE) for name in "bc")]))
    assert [kind for kind, _, _ in found] == ["rename", "create"]


def test_a_path_that_went_and_came_back_was_not_renamed_to_itself() -> None:
    found = told(pair([Difference("/w/a", FILE, None), Difference("/w/a", None, FILE)]))
    assert sorted(found) == [("create", None, "/w/a"), ("delete", None, "/w/a")]


def test_a_change_of_mode_is_one_of_metadata_and_another_inode_a_replacement() -> None:
    mode = replace(FILE, mode=stat.S_IFREG | 0o755, status_ns=90)
    (found,) = pair([Difference("/w/a", FILE, mode)])
    assert (found.kind, found.is_metadata, found.is_replaced) == (EffectKind.MODIFY, True, False)
    (found,) = pair([Difference("/w/a", FILE, replace(FILE, inode=8, content_ns=12))])
    assert (found.kind, found.is_metadata, found.is_replaced) == (EffectKind.MODIFY, False, True)


ENTRIES = st.builds(
    Entry,
    inode=st.integers(1, 3),
    size=st.integers(0, 2),
    mode=st.sampled_from((stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)),
    content_ns=st.integers(0, 2),
    status_ns=st.integers(0, 2),
    digest=st.none() | st.sampled_from(("sha256:1", "sha256:2")),
)
DIFFERENCES = st.lists(
    st.builds(Difference, st.sampled_from("abcdef"), st.none() | ENTRIES, st.none() | ENTRIES).filter(
        lambda item: item.before is not None or item.after is not None
    ),
    max_size=6,
    unique_by=lambda item: item.path,
)


@given(DIFFERENCES)
def test_each_difference_is_in_one_effect_and_no_more(differences: list[Difference]) -> None:
    found = pair(differences, read=lambda *_: "sha256:1")
    paths = [path for item in found for path in (item.path, item.old_path) if path is not None]
    assert sorted(paths) == sorted(item.path for item in differences)


# Times ----------------------------------------------------------------------------------------------------------------


def test_the_file_system_says_when_as_long_as_it_can_be_true() -> None:
    times = Times(began_ms=1_000, now_ms=2_000)
    make = Paired(kind=EffectKind.CREATE, path="/w/a", after=replace(FILE, status_ns=1_500_000_000))
    assert times.of(make) == 1_500
    assert times.of(replace(make, after=replace(FILE, status_ns=999_000_000))) == 2_000
    assert times.of(replace(make, after=replace(FILE, status_ns=2_001_000_000))) == 2_000


def test_what_moved_with_its_folder_moved_when_it_was_seen() -> None:
    entry = replace(FILE, status_ns=1_500_000_000)
    moved = Paired(kind=EffectKind.RENAME, path="/w/b/f", old_path="/w/a/f", before=entry, after=entry)
    assert Times(began_ms=1_000, now_ms=2_000).of(moved) == 2_000


def test_what_is_gone_went_when_its_folder_changed(tmp_path: Path) -> None:
    os.utime(tmp_path, ns=(1_700_000_000, 1_700_000_000))
    gone = Paired(kind=EffectKind.DELETE, path=str(tmp_path / "a"), before=FILE)
    times = Times(began_ms=1_000, now_ms=2_000)
    assert times.of(gone) == 1_700
    assert times.of(replace(gone, path=str(tmp_path / "no" / "a"))) == 2_000


# Digests --------------------------------------------------------------------------------------------------------------


def digest(path: Path, budget: list[int] | None = None) -> str | None:
    entry = read_entry(str(path))
    assert entry is not None
    return digest_of(str(path), entry, budget if budget is not None else [1 << 30])


def test_a_small_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"bytes")
    budget = [100]
    assert digest(tmp_path / "a", budget) == f"sha256:{sha256(b'bytes').hexdigest()}"
    assert budget == [95]


def test_a_large_file_is_not_read_nor_more_than_there_is_budget_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(MOST_DIGESTED_BYTES + 1))
    assert digest(tmp_path / "a") is None
    (tmp_path / "b").write_bytes(bytes(MOST_DIGESTED_BYTES))
    assert digest(tmp_path / "b") is not None
    assert digest(tmp_path / "b", [MOST_DIGESTED_BYTES - 1]) is None


def test_a_file_that_grew_beyond_the_limit_has_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(MOST_DIGESTED_BYTES + 1))
    entry = read_entry(str(tmp_path / "a"))
    assert entry is not None
    assert digest_of(str(tmp_path / "a"), replace(entry, size=1), [1 << 30]) is None


def test_what_a_link_or_a_pipe_leads_to_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "nothing"):
        assert digest_of(str(tmp_path / name), FILE, [100]) is None
    assert digest_of("nul\0", FILE, [100]) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only there the system tells")
def test_what_lies_behind_a_link_that_a_folder_was_exchanged_for_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (tmp_path / "folder").symlink_to(tmp_path / "outside")
    assert digest(tmp_path / "outside" / "secret") is not None
    assert digest(tmp_path / "folder" / "secret") is None
