"""Making the proof of a step from a store.

Owns which head proves a step, and what of the step is shown. Files are read as they are; what comes of them is verified
before it is handed out.
"""

from __future__ import annotations

from pathlib import Path

from tallystick.errors import FormatError, JournalError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.lines import LineFile
from tallystick.model.verdict import Require
from tallystick.seal.keys import parse_did_key
from tallystick.seal.line import Line, legible_entry, parse_line
from tallystick.seal.merkle import inclusion_proof
from tallystick.seal.proof import MOST_BYTES, Proof, ProofVerdict, check_proof, proof_text
from tallystick.seal.redact import Redaction, line_text, redact, withhold


def prove(home: Home, session: str, n: int, *, redaction: Redaction = Redaction.FULL) -> bytes:
    """The proof that entry `n` of a session is in the record, below the store's newest signed head.

    Args:
        redaction: how much of the step the proof shows; FULL shows its hash alone.

    Raises:
        JournalError: the step is under no signed head yet, or the store does not hold: `tally verify` says where.
    """
    note = read_note(home)
    path = home.journal(session)
    if note is None or path is None:
        raise JournalError(f"no signed head covers step {session[:8]}:{n} yet", hint="try again in a few seconds")
    leaves, head = _ledger(home, session, note.size)
    if head is None or head.meta["size"] <= n:
        raise JournalError(f"no signed head covers step {session[:8]}:{n} yet", hint="try again in a few seconds")
    entries, step = _session(path, int(head.meta["size"]), n)
    shown = redact(step, redaction)
    proof = proof_text(
        Proof(
            index=head.entry.n,
            path=inclusion_proof(leaves, head.entry.n),
            note=home.note.read_bytes(),
            head=line_text(redact(head, Redaction.CONTENT)),
            step=line_text(withhold(shown, frozenset(shown.blobs))),
            step_path=inclusion_proof(entries, n),
        )
    )
    found = check_proof(proof, require=Require.A1)
    if found.first_bad is not None:
        raise _broken(f"a proof from these files does not verify: {found.first_bad['why']}")
    return proof


def _ledger(home: Home, session: str, size: int) -> tuple[list[bytes], Line | None]:
    """The hashes of the first `size` entries of the ledger, and the newest head of a session among them."""
    leaves: list[bytes] = []
    newest: bytes | None = None
    for text in LineFile(home.ledger):
        if len(leaves) == size:
            break
        leaves.append(_hash(home.ledger, text))
        if b'"session_head"' in text and session.encode() in text:
            newest = text
    if len(leaves) < size:
        raise _broken(f"{home.ledger} is shorter than its head says")
    return leaves, None if newest is None else _parsed(home.ledger, newest)


def _session(path: Path, size: int, n: int) -> tuple[list[bytes], Line]:
    """The hashes of the first `size` entries of a journal, and the line of entry `n`."""
    entries: list[bytes] = []
    step = b""
    for text in LineFile(path):
        if len(entries) == size:
            break
        if len(entries) == n:
            step = text
        entries.append(_hash(path, text))
    if len(entries) < size:
        raise _broken(f"{path} is shorter than its head says")
    return entries, _parsed(path, step)


def _hash(path: Path, text: bytes) -> bytes:
    digest = legible_entry(text)
    if digest is None:
        raise _broken(f"{path} has a line that is not an entry")
    return digest


def _parsed(path: Path, text: bytes) -> Line:
    try:
        return parse_line(text)
    except FormatError as error:
        raise _broken(f"{path}: {error}") from error


def _broken(why: str) -> JournalError:
    return JournalError(why, hint="run `tally verify` on the store")


def verify_proof(path: Path, *, pinned: str | None, require: Require | None) -> ProofVerdict:
    """The verdict on a file that holds a proof. No store is read.

    Raises: FormatError: `pinned` is not a did:key. UsageError: a level is required that a proof cannot reach.
    """
    if require not in (None, Require.A1, Require.A2):
        raise UsageError(f"a proof reaches A1 or A2, never {require.value}", hint="verify the store for more")
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    key = None
    if pinned is not None:
        key = parse_did_key(pinned)
    return check_proof(text, pinned=key, require=require or Require.A2)
