from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.capture import watch_tree
from tallystick.capture.watch_tree import Difference, Root, Tree, read_folder
from tests.support.laws import examples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def known(folder: Path, *more: Root, leave_out: tuple[str, ...] = ()) -> Tree:
    tree = Tree([Root(str(folder)), *more], leave_out=leave_out)
    for root in tree.roots:
        list(tree.look_below(root))
    return tree


def told(folder: Path, found: list[Difference]) -> dict[str, str]:
    words = {(False, True): "came", (True, False): "gone", (True, True): "changed"}
    return {
        os.path.relpath(item.path, folder): words[item.before is not None, item.after is not None] for item in found
    }


def all_of(folder: Path, tree: Tree) -> dict[str, str]:
    return told(folder, list(tree.look_below(str(folder))))


def test_what_came_changed_and_went_is_told_once(folder: Path) -> None:
    (folder / "old").write_text("old")
    (folder / "kept").write_text("kept")
    (folder / "edited").write_text("one")
    tree = known(folder)
    (folder / "old").unlink()
    (folder / "edited").write_text("three")
    (folder / "new").write_text("new")
    assert all_of(folder, tree) == {"edited": "changed", "new": "came", "old": "gone"}
    assert all_of(folder, tree) == {}


def test_one_path_can_be_looked_at_alone(folder: Path) -> None:
    tree = known(folder)
    (folder / "a").touch()
    (folder / "b").touch()
    assert told(folder, list(tree.look(str(folder / "a")))) == {"a": "came"}


def test_a_folder_that_comes_or_goes_brings_and_takes_what_is_in_it(folder: Path) -> None:
    tree = known(folder)
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "c").touch()
    assert told(folder, list(tree.look(str(folder / "a")))) == {"a": "came", "a/b": "came", "a/b/c": "came"}
    shutil.rmtree(folder / "a")
    assert told(folder, list(tree.look(str(folder / "a")))) == {"a": "gone", "a/b": "gone", "a/b/c": "gone"}


def test_a_folder_that_took_the_place_of_another_is_looked_into(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "old").touch()
    tree = known(folder)
    (folder / "b").mkdir()  # before the other goes, or it may get its inode
    (folder / "b" / "new").touch()
    shutil.rmtree(folder / "a")
    (folder / "b").rename(folder / "a")
    assert told(folder, list(tree.look(str(folder / "a")))) == {"a/old": "gone", "a": "changed", "a/new": "came"}


def test_that_the_entries_of_a_folder_changed_is_not_told_of_the_folder(folder: Path) -> None:
    (folder / "a").mkdir()
    tree = known(folder)
    (folder / "a" / "x").touch()
    assert all_of(folder, tree) == {"a/x": "came"}
    (folder / "a").chmod(0o700)
    assert all_of(folder, tree) == {"a": "changed"}


def test_a_change_of_the_mode_alone_is_told(folder: Path) -> None:
    (folder / "a").write_text("a")
    tree = known(folder)
    (folder / "a").chmod(0o755)
    (item,) = tree.look(str(folder / "a"))
    assert item.before is not None
    assert item.after is not None
    assert item.after.holds_same(item.before)


def test_links_are_seen_and_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").touch()
    tree = known(folder)
    (folder / "link").symlink_to(outside)
    assert all_of(folder, tree) == {"link": "came"}
    (outside / "more").touch()
    assert list(tree.look(str(folder / "link" / "more"))) == []
    assert all_of(folder, tree) == {}


def test_pipes_are_no_files(folder: Path) -> None:
    tree = known(folder)
    os.mkfifo(folder / "pipe")
    assert all_of(folder, tree) == {}


def test_the_root_itself_may_go_and_come(folder: Path) -> None:
    (folder / "a").touch()
    tree = known(folder)
    shutil.rmtree(folder)
    assert told(folder, list(tree.look(str(folder)))) == {"a": "gone", ".": "gone"}
    folder.mkdir()
    (folder / "b").touch()
    assert told(folder, list(tree.look(str(folder)))) == {".": "came", "b": "came"}


def test_what_is_left_out_or_passed_over_is_not_seen(folder: Path) -> None:
    tree = known(folder, leave_out=(str(folder / "store"),))
    for name in ("store", "node_modules", "src"):
        (folder / name).mkdir()
        (folder / name / "x").touch()
    assert all_of(folder, tree) == {"src": "came", "src/x": "came"}
    assert tree.root_of(str(folder / "store" / "x")) is None
    assert list(tree.look(str(folder / "node_modules" / "x"))) == []


def test_a_folder_inside_another_one_counts_for_itself(folder: Path) -> None:
    inner = folder / ".ssh"
    inner.mkdir()
    tree = known(folder, Root(str(inner), is_sensitive=True))
    (inner / "id").touch()
    assert all_of(folder, tree) == {}
    assert told(folder, list(tree.look_below(str(inner)))) == {".ssh/id": "came"}
    root = tree.root_of(str(inner / "id"))
    assert root is not None
    assert root.is_sensitive


def test_names_that_are_no_text_are_names(folder: Path) -> None:
    tree = known(folder)
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe\n\x1b[31m")).touch()
    assert list(all_of(folder, tree).values()) == ["came"]


def test_more_files_than_are_looked_at_are_not_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_tree, "MOST_FILES", 3)
    for name in "abcdef":
        (folder / name).touch()
    tree = known(folder)
    assert tree.is_cut
    assert all_of(folder, tree) == {}
    for name in list(tree.folders[str(folder)]):
        (folder / name).unlink()
        assert all_of(folder, tree)[name] == "gone"


def test_more_folders_than_are_looked_at_are_not_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_tree, "MOST_FOLDERS", 2)
    for name in "abc":
        (folder / name).mkdir()
    tree = known(folder)
    assert tree.is_cut
    assert sorted(tree.folders) == [str(folder), str(folder / "a")]


def test_what_is_no_folder_has_no_entries(folder: Path) -> None:
    (folder / "a").touch()
    assert read_folder(str(folder / "a")) is None
    assert read_folder(str(folder / "nothing")) is None
    assert read_folder("nul\0") is None


def test_a_digest_is_kept_until_the_content_changes(folder: Path) -> None:
    (folder / "a").write_text("a")
    tree = known(folder)
    tree.know(str(folder / "a"), "sha256:1")
    (folder / "a").chmod(0o700)
    list(tree.look(str(folder / "a")))
    entry = tree.entry(str(folder / "a"))
    assert entry is not None
    assert entry.digest == "sha256:1"
    (folder / "a").write_text("other")
    list(tree.look(str(folder / "a")))
    entry = tree.entry(str(folder / "a"))
    assert entry is not None
    assert entry.digest is None


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)
DEEDS = st.lists(st.tuples(st.sampled_from(("file", "folder", "remove", "move")), PATHS, PATHS), max_size=12)


def do(folder: Path, deed: str, path: str, other: str) -> None:
    """Change something, if it can be changed so."""
    target = folder / path
    try:
        if deed == "file":
            target.write_text(other)
        elif deed == "folder":
            target.mkdir()
        elif deed == "move":
            target.rename(folder / other)
        elif target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink()
    except OSError:
        pass


@settings(max_examples=examples(60), deadline=None)
@given(DEEDS, DEEDS)
def test_differences_lead_from_what_was_to_what_is(
    before: list[tuple[str, str, str]], after: list[tuple[str, str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for deed in before:
            do(folder, *deed)
        tree = known(folder)
        paths = {str(path) for path in folder.rglob("*")}
        for deed in after:
            do(folder, *deed)
        for item in tree.look_below(str(folder)):
            assert (item.before is None) == (item.path not in paths)
            if item.before is None:
                paths.add(item.path)
            elif item.after is None:
                paths.remove(item.path)
        assert paths == {str(path) for path in folder.rglob("*")}
        assert list(tree.look_below(str(folder))) == []
