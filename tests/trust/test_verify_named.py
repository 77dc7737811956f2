from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import AmbiguousError, FormatError, NotFoundError, UsageError
from tallystick.journal.archive import Archive, system_clock
from tallystick.journal.home import Home
from tallystick.model.verdict import Require, report
from tallystick.recording.recorder import Recorder
from tallystick.seal import standalone
from tallystick.trust.anchors import Target, anchor
from tallystick.trust.verify_named import find_session, verdict_on_no_files, verify, verify_session
from tests.journal.conftest import START
from tests.support.sealed import record
from tools.redteam.remotes import bare


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    recorder = Recorder(tmp_path / "store")
    for name in ("alpha-1", "alpha-2"):
        recorder.session("demo", name).close()
    return recorder


def test_a_store_a_file_and_a_session_can_be_named(tmp_path: Path, recorder: Recorder) -> None:
    sid, path = next(recorder.home.sessions())
    store = tmp_path / "store"
    assert verify(store).steps == 4
    assert verify(home=store).steps == 4
    assert verify(path).level == "A1"
    assert verify(sid[:8], home=store).steps == 2
    assert verify_session("alpha-1", home=store).completeness == "sealed"


def test_names_are_ids_or_the_agents_own_ids_or_prefixes(recorder: Recorder) -> None:
    ids = [sid for sid, _ in recorder.home.sessions()]
    assert find_session(recorder.home, ids[0]) == ids[0]
    assert find_session(recorder.home, ids[0][:6]) == ids[0]
    assert find_session(recorder.home, "alpha-2") in ids
    with pytest.raises(AmbiguousError, match="2 sessions") as caught:
        find_session(recorder.home, "alpha")
    assert all(sid in str(caught.value) for sid in ids)
    for unknown in ("nothing", "al", ""):
        with pytest.raises(NotFoundError):
            find_session(recorder.home, unknown)


def test_a_store_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no store"):
        verify(home=tmp_path / "none")


def test_how_old_a_head_may_be_is_asked_of_others_only(recorder: Recorder, tmp_path: Path) -> None:
    store, since = tmp_path / "store", "2026-11-20T00:00:00.000000Z"
    for require in (None, Require.A2, Require.SEALED):
        with pytest.raises(UsageError, match="A3 and A4"):
            verify(store, require=require, since=since)
    with pytest.raises(UsageError, match="lone journal"):
        verify(next(recorder.home.sessions())[1], require=Require.A4, since=since)
    assert verify(store, require=Require.A4, since=since).exit_code == 3


def test_a_place_off_this_machine_keeps_a_store_young(recorder: Recorder, tmp_path: Path) -> None:
    remote = bare(tmp_path / "remote.git", is_guarded=True)
    anchor(recorder.home, Target(kind="git", target=str(remote)), clock=system_clock)
    store = tmp_path / "store"
    assert verify(store, require=Require.A4, since="2026-01-01T00:00:00.000000Z").too_old is None
    too_old = verify(store, require=Require.A4, since="9999-01-01T00:00:00.000000Z").too_old
    assert too_old is not None
    assert "older than 9999" in too_old


NAMES = ("ledger.jsonl", "heads/ledger.note", "config.toml", "keys/signer.json", "a journal")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 2)
    return home


def place(home: Home, name: str) -> Path:
    path = next(home.sessions())[1] if name == "a journal" else home.folder / name
    path.unlink(missing_ok=True)
    return path


def test_a_store_of_files_is_read(home: Home) -> None:
    assert verdict_on_no_files(home) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_tampering_and_is_not_waited_for(home: Home, name: str) -> None:
    os.mkfifo(place(home, name))
    verdict = verify(home.folder)
    assert (verdict.exit_code, verdict.valid) == (2, False)
    assert "is not a file" in verdict.defects[0].why
    assert verify_session("s0", home=home.folder).exit_code == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_link_to_a_device_is_not_read(home: Home, name: str) -> None:
    place(home, name).symlink_to("/dev/zero")
    assert verify(home.folder).exit_code == 2


def test_what_is_in_the_place_of_the_index_changes_nothing(home: Home) -> None:
    os.mkfifo(place(home, "graph.db"))
    assert verify(home.folder).exit_code == 0


def agreed(home: Home) -> dict[str, Any]:
    """Our report, which is that of the one-file verifier but for its words."""
    ours, theirs = report(verify(home.folder)), standalone.verify(home.folder)
    assert without_words({**ours, "remarks": []}) == without_words({**theirs, "remarks": []})
    return ours


@pytest.mark.parametrize("part", ["journals", "heads", "blobs", "journals/2026/01"])
def test_what_is_in_the_place_of_a_folder_is_tampering(home: Home, part: str) -> None:
    folder = home.folder / part
    if not folder.exists():
        folder = next(home.sessions())[1].parent
    shutil.rmtree(folder)
    folder.write_bytes(b"x")
    ours = agreed(home)
    assert (ours["exit"], ours["integrity"]) == (2, "missing")


def test_a_folder_with_the_name_of_a_journal_is_in_the_place_of_one(home: Home) -> None:
    (home.journals / f"{'0' * 32}.jsonl").mkdir()
    ours = agreed(home)
    assert ours["first_bad"]["session"] == "0" * 32


@pytest.mark.parametrize("name", ["ledger.jsonl", "heads/ledger.note", "a journal"])
def test_a_file_with_a_hole_is_judged_by_its_beginning(home: Home, name: str) -> None:
    path = next(home.sessions())[1] if name == "a journal" else home.folder / name
    os.truncate(path, 1 << 40)
    ours = agreed(home)
    assert (ours["integrity"], ours["exit"]) == ("limit", 2 if name == "heads/ledger.note" else 4)


@pytest.mark.parametrize("line", [b'{"entry":"\xb0"}\n', b'{"entry":' * 20_000 + b"\n", b"\xff\n"])
def test_a_ledger_of_anything_is_judged(home: Home, line: bytes) -> None:
    home.ledger.write_bytes(line)
    assert verify(home.folder).exit_code == standalone.verify(home.folder)["exit"] == 2


def test_a_pin_that_is_not_a_key_gives_no_verdict_whatever_is_there(home: Home) -> None:
    low_order = "did:key:z6MkeTG3bFFSLYVU7VqhgZxqr6YzpaGrQtFMh1uvqGy1vDnP"
    pipe(home.note)
    with pytest.raises(FormatError):
        verify(home.folder, pinned=low_order)
    assert standalone.verify(home.folder, pinned=low_order)["exit"] == 1


def test_a_head_that_is_too_large_lowers_no_finding(home: Home) -> None:
    os.truncate(home.note, 1 << 40)
    assert verify(home.folder).exit_code == 2
    sid, journal = next(home.sessions())
    journal.unlink()
    verdict = verify(home.folder)
    assert (verdict.exit_code, [defect.session for defect in verdict.defects][1:]) == (2, [sid])


def move(path: Path) -> None:
    """Have a link in the place of a file."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def dangle(path: Path) -> None:
    """Have a link to nothing in the place of a file."""
    path.unlink()
    path.symlink_to("nothing")


def pipe(path: Path) -> None:
    """Have a pipe in the place of a file."""
    path.unlink()
    os.mkfifo(path)


def without_words(told: dict[str, Any]) -> dict[str, Any]:
    """A report without its sentences."""
    defects = [{**one, "why": ""} for one in told["defects"]]
    return {**told, "why_not_higher": "", "defects": defects, "first_bad": defects[0] if defects else None}


@pytest.mark.parametrize("replaced", [move, dangle, pipe])
@pytest.mark.parametrize("name", ["ledger.jsonl", "heads/ledger.note", "a journal"])
def test_both_verifiers_say_the_same_of_what_is_in_the_place_of_a_file(
    home: Home, name: str, replaced: Callable[[Path], None]
) -> None:
    sid, journal = next(home.sessions())
    path = journal if name == "a journal" else home.folder / name
    replaced(path)
    ours = agreed(home)
    assert (ours["exit"], ours["steps"], len(ours["defects"])) == (2, 0, 1)
    assert ours["first_bad"]["session"] == (sid if path == journal else None)


def test_a_blob_that_is_a_link_is_absent_for_both_verifiers(home: Home) -> None:
    archive = Archive(home)
    journal, _ = archive.make_journal(START, {}, ())
    journal.append({"type": "user", "source": "sdk"}, {"content.text": "x" * 300_000})
    archive.seal()
    archive.close()
    assert (verify(home.folder).exit_code, standalone.verify(home.folder)["exit"]) == (0, 0)
    [blob] = [path for path in home.blobs.rglob("*") if path.is_file()]
    move(blob)
    ours, theirs = report(verify(home.folder)), standalone.verify(home.folder)
    assert without_words(ours) == {**without_words(theirs), "remarks": ours["remarks"]}
    assert (ours["exit"], ours["integrity"]) == (2, "blob")
