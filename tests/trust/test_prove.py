from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError, UsageError
from tallystick.journal.home import Home
from tallystick.model.verdict import Require
from tallystick.recording.recorder import Recorder
from tallystick.recording.store_identity import read_store
from tallystick.seal import standalone
from tallystick.seal.redact import Redaction
from tallystick.trust.prove import prove, verify_proof
from tallystick.workspace.ledger import sealed_sizes


def steps(home: Home) -> Iterator[tuple[str, int]]:
    for session, size in sealed_sizes(home).items():
        yield from ((session, n) for n in {0, size // 2, size - 1})


def test_every_sealed_step_can_be_proved_without_the_store(samples: Home, tmp_path: Path) -> None:
    key = read_store(samples).key
    file = tmp_path / "step.tlog-proof"
    for number, (session, n) in enumerate(steps(samples)):
        level = list(Redaction)[number % 3]
        file.write_bytes(prove(samples, session, n, redaction=level))
        found = verify_proof(file, pinned=key, require=None)
        assert (found.exit, found.session, found.n) == (0, session, n)
        assert bool(found.shown) is (level is not Redaction.FULL)
        assert not any(name.startswith("local.") for name in found.shown)
        assert standalone.verify_proof(file.read_bytes(), pinned=key)["exit"] == 0
    assert verify_proof(file, pinned=None, require=None).exit == 3
    assert verify_proof(file, pinned=None, require=Require.A1).exit == 0


def test_a_step_that_no_head_covers_is_not_proved(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        recorder.seal()
        sealed = sealed_sizes(home)[session.id]
        prove(home, session.id, sealed - 1)
        session.prompt("hello")
        with pytest.raises(JournalError, match="no signed head covers"):
            prove(home, session.id, sealed)
        with pytest.raises(JournalError, match="no signed head covers"):
            prove(home, "0" * 32, 0)


def test_a_step_of_a_changed_journal_is_not_proved(samples: Home) -> None:
    session, n = max(steps(samples), key=lambda step: step[1])
    path = samples.journal(session)
    assert path is not None
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-3], lines[-2], lines[-3], lines[-1]]))
    with pytest.raises(JournalError) as refused:
        prove(samples, session, n)
    assert "tally verify" in str(refused.value.hint)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(JournalError, match="shorter than its head"):
        prove(samples, session, 0)


def test_a_level_that_a_proof_cannot_reach_is_refused(tmp_path: Path) -> None:
    (tmp_path / "proof").write_bytes(b"")
    with pytest.raises(UsageError, match="never A4"):
        verify_proof(tmp_path / "proof", pinned=None, require=Require.A4)
