from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.lines import LineFile
from tallystick.model.verdict import Require
from tallystick.recording.recorder import Recorder
from tallystick.recording.store_identity import read_store
from tallystick.seal import standalone
from tallystick.seal.keys import SigningKey
from tallystick.seal.line import hash_of, parse_line
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import parse_note, sign_note
from tallystick.seal.redact import Redaction
from tallystick.trust.prove import prove, prove_extension, verify_extension, verify_proof
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


def test_the_newest_head_is_proved_to_extend_every_older_one(samples: Home, tmp_path: Path) -> None:
    key, newest = read_store(samples).key, read_note(samples)
    assert newest is not None
    leaves = [hash_of(parse_line(text).entry) for text in LineFile(samples.ledger)]
    file, old = tmp_path / "heads.proof", b""
    for size in range(newest.size + 1):
        old = sign_note(newest.store_id, size, merkle_root(leaves[:size]), [SigningKey(bytes(32))])
        for since in (size, parse_note(old)):
            file.write_bytes(prove_extension(samples, since))
            found = verify_extension(file, old, pinned=key, require=None)
            assert (found.exit, found.old_size, found.ledger_size) == (0, size, newest.size)
        assert standalone.verify_proof(file.read_bytes(), remembered=old, pinned=key)["exit"] == 0
    with pytest.raises(UsageError, match="covers"):
        prove_extension(samples, newest.size + 1)
    with pytest.raises(UsageError, match="of the store"):
        prove_extension(samples, parse_note(sign_note("0" * 32, 1, leaves[0], [SigningKey(bytes(32))])))
    with pytest.raises(JournalError, match="does not extend"):
        prove_extension(samples, parse_note(sign_note(newest.store_id, 1, bytes(32), [SigningKey(bytes(32))])))
    with pytest.raises(UsageError, match="older one"):
        verify_proof(file, pinned=key, require=None)
    session, n = next(steps(samples))
    file.write_bytes(prove(samples, session, n))
    with pytest.raises(UsageError, match="prove --from"):
        verify_extension(file, old, pinned=key, require=None)
    with pytest.raises(UsageError, match="never A4"):
        verify_extension(file, old, pinned=key, require=Require.A4)
