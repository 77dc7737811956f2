"""What one process records live: memory and files while it runs, and at its end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store
from tallystick.workspace.ledger import ledger_entries


def said(session: str) -> Step:
    return Step(session=session, type="assistant", values={"content.text": "x"})


def test_sessions_are_let_go_of_though_something_is_always_waiting_to_be_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SessionWriter(Home(tmp_path / "store"), aside=True) as session_writer:
        session_writer._keeper.stop()
        for number in range(100):
            session_writer.open(Opening(session=f"s{number}", agent="demo"))
        seal = session_writer.archive.seal

        def seal_under_load(*args: Any, **more: Any) -> None:
            seal(*args, **more)
            session_writer.add("demo", said("s0"))

        with monkeypatch.context() as loaded:
            loaded.setattr(session_writer.archive, "seal", seal_under_load)
            session_writer._seal_aside()
        assert len(session_writer.writer.records()) == 64
        assert "s0" in {record.read(0).member("source_session") for record in session_writer.writer.records()}  # type: ignore[union-attr]
        session_writer.add("demo", said("s1"))  # one that was let go of
    assert verify_store(Home(tmp_path / "store")).exit_code == 0


def test_a_scribe_that_cannot_seal_at_its_end_closes_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "store")
    session_writer = SessionWriter(home)
    session_writer.add("demo", said("s"))

    monkeypatch.setattr(session_writer.archive, "seal", _refuse)
    with pytest.raises(JournalError, match="no space left"):
        session_writer.close()
    if Path("/proc/self/fd").is_dir():
        assert not [path for path in open_files() if path.startswith(str(home.folder))]


def open_files() -> Iterable[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            yield str(descriptor.readlink())


def test_what_was_written_here_is_not_called_anothers_after_a_ledger_refused_its_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "store")
    with SessionWriter(home) as session_writer:
        session_writer.add("demo", said("s"))
        with monkeypatch.context() as failing:
            failing.setattr(session_writer.archive.ledger, "append", _refuse)
            with pytest.raises(JournalError):
                session_writer.seal()
        session_writer.add("demo", said("s"))
    heads = [entry for entry in ledger_entries(home) if entry.type == "session_head"]
    assert [head.meta.get("adopted") for head in heads] == [None] * len(heads)


def _refuse(*_: object, **__: object) -> None:
    raise JournalError("no space left on device")


def test_whether_there_is_a_signer_is_not_looked_for_at_each_of_many_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Home] = []
    monkeypatch.setattr("tallystick.recording.session_writer.signer_place", looks.append)
    with SessionWriter(Home(tmp_path / "store"), aside=True) as session_writer:
        taken = session_writer.add("demo", said("s"))
        for _ in range(3):
            session_writer.before_effects(taken.session)
        assert len(looks) == 1
        session_writer._signer_looked_at -= 1
        session_writer.before_effects(taken.session)
        assert len(looks) == 2
