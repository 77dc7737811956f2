"""Putting the vectors' files before our verifier.

Owns reading a vector's folder and handing lines, notes and blobs to `tallystick.seal`, independent of the packages above
it, so that what is tested are the pure functions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.journal.blobs import blob_reader
from tallystick.journal.lines import JudgedLines
from tallystick.model.ids import SESSION_ID
from tallystick.model.verdict import Require, Verdict, report
from tallystick.seal.keys import parse_did_key
from tallystick.seal.ledgercheck import LedgerCheck, Outside, check_ledger
from tallystick.seal.redact import Redaction
from tallystick.seal.verify import (
    Said,
    SessionCheck,
    check_lone,
    check_session,
    conclude,
    contained,
    ledger_with_foreign_parents,
    two_files,
    wanted_entries,
    with_foreign_parents,
)

HERE = Path(__file__).resolve().parents[2] / "tests" / "vectors"


def vector_folders() -> list[Path]:
    """The folders of all vectors, in order."""
    return sorted(path.parent for kind in ("accept", "reject") for path in HERE.glob(f"{kind}/*/vector.json"))


def read_vector(folder: Path) -> dict[str, Any]:
    """The content of a vector's `vector.json`."""
    value: dict[str, Any] = json.loads((folder / "vector.json").read_bytes())
    return value


def subject(folder: Path, vector: Mapping[str, Any]) -> Path:
    """What is to be verified: the store's folder, or the one journal."""
    return folder / "store" if vector["subject"] == "store" else next(folder.glob("*.jsonl"))


def our_report(folder: Path) -> dict[str, Any]:
    """The report that our verifier gives on a vector."""
    vector = read_vector(folder)
    path = subject(folder, vector)
    if vector["subject"] == "journal":
        return report(_lone(path, vector))
    remembered = vector["remembered"]
    return report(_store(path, vector, (folder / remembered).read_bytes() if remembered else None))


def _lone(path: Path, vector: Mapping[str, Any]) -> Verdict:
    return check_lone(
        JudgedLines(path),
        file_sid=path.stem if SESSION_ID.match(path.stem) else None,
        redaction=Redaction(vector["redaction"]) if vector["redaction"] else None,
        read_blob=blob_reader(path.parent / "blobs"),
        require=Require(vector["require"] or "A1"),
    )


def _store(store: Path, vector: Mapping[str, Any], remembered: bytes | None) -> Verdict:
    note = store / "heads" / "ledger.note"
    ledger = check_ledger(
        JudgedLines(store / "ledger.jsonl") if (store / "ledger.jsonl").exists() else None,
        note.read_bytes() if note.exists() else None,
        Outside(pinned=parse_did_key(vector["pinned"]) if vector["pinned"] else None, remembered=remembered),
        read_blob=blob_reader(store / "blobs"),
    )
    files: dict[str, list[Path]] = {}
    for path in sorted(store.glob("journals/*/*/*.jsonl")):
        files.setdefault(path.stem, []).append(path)
    wanted = sorted({*files, *ledger.view.heads, *ledger.view.dropped})
    checks = [_session(sid, files.get(sid, []), ledger, store) for sid in wanted]
    known = {
        sid: contained(JudgedLines(files[sid][0]), digests)
        for sid, digests in wanted_entries(checks, ledger).items()
        if len(files.get(sid, [])) == 1
    }
    ledger = ledger_with_foreign_parents(ledger, known)
    checks = [with_foreign_parents(check, known, ledger.view.dropped) for check in checks]
    return conclude(ledger, checks, require=Require(vector["require"] or "A2"))


def _session(sid: str, paths: list[Path], ledger: LedgerCheck, store: Path) -> SessionCheck:
    if len(paths) > 1:
        return two_files(sid, len(paths), ledger.view, is_signed=ledger.is_signed)
    return check_session(
        sid,
        JudgedLines(paths[0]) if paths else None,
        Said(ledger.view, ledger.is_signed, ledger.tail),
        read_blob=blob_reader(store / "blobs"),
    )
