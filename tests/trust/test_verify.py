from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tallystick.errors import FormatError, NotFoundError
from tallystick.journal.home import Home, is_store
from tallystick.model.verdict import Require, report
from tallystick.recording.recorder import Recorder
from tallystick.seal.redact import Redaction
from tallystick.trust import verify as verify_module
from tallystick.trust.verify import Demand, StoreEvidence, verify_file, verify_store
from tests.support.cases import each
from tools.vectors.loading import our_report, read_vector, subject, vector_folders


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    recorder = Recorder(tmp_path / "store")
    for name in ("one", "two", "three"):
        with recorder.session("demo", name) as session:
            for number in range(5):
                session.step("assistant", content={"text": f"{name} {number}"})
    return recorder


def tamper(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def test_a_changed_value_is_found_where_it_is(recorder: Recorder) -> None:
    sid, path = next(recorder.home.sessions())
    word = b"two 2" if b"two 2" in path.read_bytes() else b"one 2" if b"one 2" in path.read_bytes() else b"three 2"
    tamper(path, word, word[:-1] + b"9")
    verdict = verify_store(recorder.home)
    assert verdict.first_bad is not None
    assert (verdict.first_bad.session, verdict.first_bad.n, verdict.first_bad.rule) == (sid, 3, "fields")
    assert verdict.exit_code == 2
    assert verdict.steps == 7 + 7 + 3


def test_a_deleted_session_shows_in_the_ledger(recorder: Recorder) -> None:
    sid, path = next(recorder.home.sessions())
    path.unlink()
    verdict = verify_store(recorder.home)
    assert (verdict.exit_code, verdict.completeness, verdict.first_bad and verdict.first_bad.session) == (
        2,
        "missing",
        sid,
    )


def test_yesterdays_backup_shows_to_whoever_remembers_a_head(tmp_path: Path, recorder: Recorder) -> None:
    shutil.copytree(recorder.home.folder, tmp_path / "backup")
    recorder.session("demo", "four").close()
    remembered = recorder.home.note.read_bytes()
    old = Home(tmp_path / "backup")
    assert verify_store(old).exit_code == 0
    verdict = verify_store(old, evidence=StoreEvidence(remembered=remembered))
    assert (verdict.exit_code, verdict.integrity, verdict.completeness) == (2, "cut", "cut")
    assert (
        verify_store(
            recorder.home, evidence=StoreEvidence(remembered=(tmp_path / "backup/heads/ledger.note").read_bytes())
        ).exit_code
        == 0
    )


def test_another_pinned_key_is_a_wrong_key(recorder: Recorder) -> None:
    verdict = verify_store(
        recorder.home, evidence=StoreEvidence(pinned="did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd")
    )
    assert (verdict.exit_code, verdict.authenticity) == (2, "wrong key")
    with pytest.raises(FormatError):
        verify_store(recorder.home, evidence=StoreEvidence(pinned="did:key:nonsense"))


def test_a_store_without_its_head_is_below_a2(recorder: Recorder) -> None:
    recorder.home.note.unlink()
    assert verify_store(recorder.home).exit_code == 3
    assert verify_store(recorder.home, demand=Demand(require=Require.A1)).exit_code == 0


def test_an_open_session_is_sound_but_not_sealed(recorder: Recorder) -> None:
    recorder.session("demo", "open").step("assistant")
    recorder.seal()
    assert verify_store(recorder.home).truncated
    assert verify_store(recorder.home, demand=Demand(require=Require.SEALED)).exit_code == 3


def test_the_index_is_compared_and_never_trusted(recorder: Recorder) -> None:
    sid, _ = next(recorder.home.sessions())
    verdict = verify_store(recorder.home, evidence=StoreEvidence(index=[(sid, 3, "00" * 32)]))
    assert verdict.exit_code == 0
    assert any("stale" in remark for remark in verdict.remarks)
    verdict = verify_store(recorder.home, evidence=StoreEvidence(index=[(sid, 7, "00" * 32)]))
    assert any("differs" in remark for remark in verdict.remarks)


def test_many_sessions_are_checked_by_several_processes_alike(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = verify_store(recorder.home)
    monkeypatch.setattr(verify_module, "_WORTH_PROCESSES", 0)
    assert verify_store(recorder.home) == alone


def test_two_files_of_one_session_are_a_defect(recorder: Recorder) -> None:
    _, path = next(recorder.home.sessions())
    other = recorder.home.journals / "1999" / "01"
    other.mkdir(parents=True)
    shutil.copy(path, other)
    assert verify_store(recorder.home).exit_code == 2


def test_a_lone_file_is_verified_by_itself(tmp_path: Path, recorder: Recorder) -> None:
    _, path = next(recorder.home.sessions())
    assert verify_file(path).exit_code == 0
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes() + b"torn")
    verdict = verify_file(copy)
    assert (verdict.exit_code, verdict.level, verdict.truncated) == (0, "A1", True)
    copy.write_bytes(b"not ours\n")
    assert verify_file(copy).exit_code == 4
    with pytest.raises(NotFoundError):
        verify_file(tmp_path / "none")
    assert is_store(recorder.home.folder)
    assert not is_store(tmp_path / "none")


@each("folder", vector_folders(), ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_what_the_command_runs_gives_the_report_of_every_vector(folder: Path) -> None:
    vector = read_vector(folder)
    path = subject(folder, vector)
    if vector["subject"] == "journal":
        level = Redaction(vector["redaction"]) if vector["redaction"] else None
        verdict = verify_file(path, redaction=level, require=Require(vector["require"] or "A1"))
    else:
        verdict = verify_store(
            Home(path),
            evidence=StoreEvidence(
                pinned=vector["pinned"],
                remembered=(folder / vector["remembered"]).read_bytes() if vector["remembered"] else None,
            ),
            demand=Demand(require=Require(vector["require"] or "A2")),
        )
    assert report(verdict) == our_report(folder)
