"""Real files, real events: each test waits for what it expects, and for nothing else."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.capture import watch as watch_module
from tallystick.capture import watch_storm
from tallystick.capture.processes import Holders
from tallystick.capture.watch import Watch
from tallystick.capture.watch_tree import Root
from tallystick.capture.workspace import look
from tallystick.model.effect import EffectKind, FileEffect
from tests.capture.watching import Watching, wait_for
from tests.support.laws import examples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def watching(folder: Path, *more: Root, **named: object) -> Watching:
    return Watching(Watch([Root(str(folder)), *more], **named), folder)  # type: ignore[arg-type]


_TICK_MS = 10
"""By how much the clock that stamps files may be behind: it goes on with the timer interrupt."""


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def test_a_file_is_seen_when_it_is_made_changed_renamed_and_removed(folder: Path) -> None:
    with watching(folder) as seen:
        began_ms = time.time_ns() // 1_000_000
        (folder / "a").write_bytes(b"one")
        made = seen.wait("create", "a")
        assert (made.size_bytes, made.digest, made.before, made.holder) == (3, digest(b"one"), None, None)
        assert began_ms - _TICK_MS <= made.at_ms <= time.time_ns() // 1_000_000
        (folder / "a").write_bytes(b"three")
        changed = seen.wait("modify", "a")
        assert (changed.size_bytes, changed.digest, changed.before) == (5, digest(b"three"), digest(b"one"))
        (folder / "a").rename(folder / "b")
        moved = seen.wait("rename", "b")
        assert (moved.old_path, moved.digest) == (str(folder / "a"), digest(b"three"))
        (folder / "b").unlink()
        gone = seen.wait("delete", "b")
        assert (gone.size_bytes, gone.digest, gone.before) == (None, None, digest(b"three"))
        assert not any(effect.by_look for effect in seen.effects)


def test_what_is_made_in_a_new_folder_at_once_is_not_missed(folder: Path) -> None:
    with watching(folder) as seen:
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "c").write_text("c")
        assert seen.wait("create", "a").is_folder
        seen.wait("create", "a/b/c")
        (folder / "a" / "b" / "later").touch()
        seen.wait("create", "a/b/later")


def test_a_folder_moves_with_all_that_is_in_it_and_is_watched_on(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "x").write_text("x")
    with watching(folder) as seen:
        (folder / "a").rename(folder / "z")
        assert seen.wait("rename", "z").is_folder
        assert seen.wait("rename", "z/x").old_path == str(folder / "a" / "x")
        (folder / "z" / "y").touch()
        seen.wait("create", "z/y")


def test_a_folder_that_is_removed_takes_its_files_along(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "x").touch()
    with watching(folder) as seen:
        shutil.rmtree(folder / "a")
        seen.wait("delete", "a")
        seen.wait("delete", "a/x")


def test_a_file_that_is_replaced_at_once_is_one_change(folder: Path) -> None:
    (folder / "a").write_text("one")
    with watching(folder) as seen:
        (folder / "a.new").write_text("two")
        (folder / "a.new").replace(folder / "a")
        wait_for(lambda: any(effect.path == str(folder / "a") for effect in seen.effects))
    (effect,) = [item for item in seen.effects if item.path == str(folder / "a")]
    assert effect.is_replaced
    assert effect.digest == digest(b"two")


def test_the_mode_alone_is_a_change_of_metadata(folder: Path) -> None:
    (folder / "a").write_text("a")
    with watching(folder) as seen:
        (folder / "a").chmod(0o755)
        assert seen.wait("modify", "a").is_metadata


def test_reading_is_no_effect(folder: Path) -> None:
    (folder / "a").write_text("a")
    with watching(folder) as seen:
        (folder / "a").read_text()
        (folder / "b").touch()
        seen.wait("create", "b")
    assert seen.told() == [("create", "b")]


def test_what_comes_and_goes_between_two_looks_is_told_as_such(folder: Path) -> None:
    with watching(folder) as seen:
        for number in range(200):
            (folder / f"brief{number}").touch()
            (folder / f"brief{number}").unlink()
        wait_for(lambda: any(effect.is_brief for effect in seen.effects))
    assert {effect.kind for effect in seen.effects if effect.is_brief} == {EffectKind.DELETE}


def test_links_are_not_followed_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    with watching(folder) as seen:
        (outside / "a").touch()
        (folder / "other").symlink_to(outside)
        assert seen.wait("create", "other").is_link
        (outside / "b").touch()
        (folder / "last").touch()
        seen.wait("create", "last")
    assert sorted(seen.told()) == [("create", "last"), ("create", "other")]


def test_contents_of_a_sensitive_folder_are_never_read(folder: Path) -> None:
    keys = folder / ".ssh"
    keys.mkdir()
    with watching(folder, Root(str(keys), is_sensitive=True)) as seen:
        (keys / "id_ed25519").write_text("key")
        (keys / "known.tmp").write_text("host")
        effect = seen.wait("create", ".ssh/id_ed25519")
        seen.wait("create", ".ssh/known.tmp")
        (keys / "id_ed25519").rename(keys / "old")
        assert seen.wait("rename", ".ssh/old").is_sensitive
    assert (effect.is_sensitive, effect.digest, effect.size_bytes) == (True, None, 3)
    assert not [effect for effect in seen.effects if effect.digest or effect.before]


def test_what_is_left_out_is_not_seen(folder: Path) -> None:
    (folder / "store").mkdir()
    with watching(folder, leave_out=[str(folder / "store")]) as seen:
        (folder / "store" / "x").touch()
        (folder / "y").touch()
        seen.wait("create", "y")
    assert seen.told() == [("create", "y")]


def test_of_the_insides_of_git_the_hooks_and_the_settings_are_seen(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    with watching(folder) as seen:
        (folder / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
        seen.wait("create", ".git/hooks/pre-commit")
        (folder / ".git" / "index").touch()
        (folder / ".git" / "config").write_text("[core]\n")
        seen.wait("modify", ".git/config")
    assert {path for _, path in seen.told()} == {".git/hooks/pre-commit", ".git/config"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_stops_nothing(folder: Path) -> None:
    bad = os.fsencode(folder) + b"/bad\xff\x1b[31m"
    with watching(folder) as seen:
        Path(os.fsdecode(bad)).touch()
        wait_for(lambda: any(os.fsencode(effect.path) == bad for effect in seen.effects))
        (folder / "good").touch()
        seen.wait("create", "good")
    assert seen.gaps[0].reason == "not-told"


def test_a_folder_whose_name_is_no_text_is_looked_at(folder: Path) -> None:
    bad = Path(os.fsdecode(os.fsencode(folder) + b"/\xff"))
    with watching(folder) as seen:
        bad.mkdir()
        wait_for(lambda: any(effect.path == str(bad) for effect in seen.effects))
        (bad / "x").touch()
    assert str(bad / "x") in [effect.path for effect in seen.effects]
    assert "not-watched" in [gap.reason for gap in seen.gaps]


def test_a_file_that_keeps_changing_is_told_now_and_then_and_in_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_AGAIN_S", 30.0)
    (folder / "log").touch()
    with watching(folder) as seen:
        (folder / "log").write_text("first")
        seen.wait("modify", "log")
        for number in range(50):
            (folder / "log").write_text(f"line {number}")
            time.sleep(0.005)
        (folder / "other").touch()
        seen.wait("create", "other")
        assert seen.told().count(("modify", "log")) == 1
    assert seen.told().count(("modify", "log")) == 2
    assert [effect.digest for effect in seen.effects if effect.path == str(folder / "log")][-1] == digest(b"line 49")


def test_a_file_that_keeps_changing_is_told_again_after_a_while(folder: Path) -> None:
    with watching(folder) as seen:
        (folder / "log").write_text("one")
        seen.wait("create", "log")
        (folder / "log").write_text("two")
        assert seen.wait("modify", "log").digest == digest(b"two")


def test_more_at_once_than_is_told_becomes_counts_by_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_storm, "MOST_EFFECTS", 20)
    (folder / "many").mkdir()
    for number in range(100):
        (folder / "many" / str(number)).touch()
    with watching(folder) as seen:
        (folder / "many").rename(folder / "moved")
    (gap,) = seen.gaps
    assert (gap.reason, gap.events, gap.kinds) == ("too-many-effects", 101, {"rename": 101})
    assert gap.folders == {str(folder / "moved"): 100, str(folder): 1}
    assert seen.effects == []


def test_what_no_event_told_is_found_in_the_end(folder: Path) -> None:
    watch = Watch([Root(str(folder))])
    watch.begin()
    watch._notify.close()
    (folder / "a").touch()
    stop = threading.Event()
    stop.set()
    (batch,) = watch.batches(stop)
    (effect,) = batch.effects
    assert (effect.path, effect.by_look) == (str(folder / "a"), True)


def test_after_a_burst_that_a_queue_may_not_hold_everything_is_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_STORM_EVENTS", 1)
    monkeypatch.setattr(watch_module, "_QUIET_S", 0.0)
    with watching(folder) as seen:
        real = seen.watch._look_everywhere
        looked = threading.Event()

        def look_and_tell() -> object:
            looked.set()
            return real()

        seen.watch._look_everywhere = look_and_tell  # type: ignore[method-assign,assignment]
        (folder / "a").touch()
        assert looked.wait(120)


def test_a_folder_that_is_removed_and_made_again_is_watched_again(folder: Path) -> None:
    with watching(folder) as seen:
        shutil.rmtree(folder)
        wait_for(lambda: any(effect.path == str(folder) for effect in seen.effects))
        folder.mkdir()
        (folder / "a").touch()
        seen.wait("create", "a")
        (folder / "b").touch()
        seen.wait("create", "b")


def test_digests_that_somebody_read_before_are_taken_over(folder: Path) -> None:
    (folder / "a").write_text("one")
    (folder / "b").write_text("one")
    with watching(folder) as seen:
        states = {str(folder / path): state for path, state in look(folder).files.items()}
        (folder / "b").write_text("changed since it was read")
        seen.wait("modify", "b")
        seen.watch.learn(states)
        (folder / "c").touch()
        seen.wait("create", "c")
        (folder / "a").unlink()
        assert seen.wait("delete", "a").before == digest(b"one")
        (folder / "b").unlink()
        assert seen.wait("delete", "b").before == digest(b"changed since it was read")


@pytest.mark.skipif(sys.platform != "linux", reason="only there are processes named")
def test_a_process_that_has_the_file_open_is_named(folder: Path) -> None:
    script = "import sys, time; file = open(sys.argv[1], 'w'); file.write('x'); file.flush(); sys.stdin.read()"
    with watching(folder, holders=Holders(os.getpid())) as seen:
        command = [sys.executable, "-c", script, str(folder / "held")]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:

            def named() -> list[FileEffect]:
                return [effect for effect in seen.effects if effect.holder is not None]

            wait_for(named)
            holder = named()[0].holder
            assert holder is not None
            assert holder.pid == process.pid
            assert holder.name.startswith("python")


NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)
DEEDS = st.lists(
    st.tuples(st.sampled_from(("write", "append", "mkdir", "remove", "move", "wait")), NAMES, NAMES), max_size=25
)


def do(folder: Path, deed: str, path: Path, other: Path) -> None:
    """Change something below a folder, if it can be changed so."""
    with contextlib.suppress(OSError):
        if deed == "wait":
            time.sleep(0.06)
        elif deed == "write":
            path.write_text(str(other))
        elif deed == "append":
            with path.open("a") as file:
                file.write("more")
        elif deed == "mkdir":
            path.mkdir()
        elif deed == "move":
            path.rename(other)
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def replayed(folder: Path, there: set[str], effects: list[FileEffect]) -> set[str]:
    """What there is after effects, by what they say."""
    for effect in effects:
        if effect.kind is EffectKind.DELETE:
            assert effect.is_brief or effect.path in there
            there = there - {effect.path}
        elif effect.kind is EffectKind.RENAME:
            assert effect.old_path in there
            there = (there - {effect.old_path}) | {effect.path}
        else:
            assert (effect.kind is EffectKind.MODIFY) == (effect.path in there)
            there = there | {effect.path}
    return there


@settings(max_examples=examples(25), deadline=None)
@given(DEEDS)
def test_what_is_told_leads_from_what_was_there_to_what_is(deeds: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for made in ("a", "b/c"):
            (folder / made).mkdir(parents=True)
        (folder / "a" / "a").write_text("one")
        there = {str(path) for path in folder.rglob("*")}
        with watching(folder) as seen:
            for deed, path, other in deeds:
                do(folder, deed, folder / path, folder / other)
        assert replayed(folder, there, seen.effects) == {str(path) for path in folder.rglob("*")}
        last = {effect.path: effect.digest for effect in seen.effects if effect.digest is not None}
        files = [file for file in folder.rglob("*") if file.is_file() and str(file) in last]
        assert [last[str(file)] for file in files] == [digest(file.read_bytes()) for file in files]


@pytest.mark.skipif(sys.platform != "linux", reason="only there the links can be read")
def test_the_system_watches_nothing_any_more_when_it_ended(folder: Path) -> None:
    with watching(folder) as seen:
        (folder / "a").touch()
        seen.wait("create", "a")
        assert [link for link in open_links() if "inotify" in link]
    wait_for(lambda: not [link for link in open_links() if "inotify" in link], "closing")


def open_links() -> list[str]:
    found = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them is gone by now
            found.append(str(path.readlink()))
    return found
