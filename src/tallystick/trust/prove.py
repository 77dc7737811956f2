"""Making proofs from a store: of a step, and that its newest head extends an older one.

Owns which head proves a step, and what of the step is shown. Files are read as they are; what comes of them is verified
before it is handed out.
"""

from __future__ import annotations

from pathlib import Path

from tallystick.errors import FormatError, JournalError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import read_whole
from tallystick.model.verdict import Require
from tallystick.seal.keys import parse_did_key
from tallystick.seal.line import Line, legible_entry, parse_line
from tallystick.seal.merkle import consistency_proof, inclusion_proof, merkle_root
from tallystick.seal.note import Note
from tallystick.seal.proof import (
    MOST_BYTES,
    Consistency,
    ConsistencyVerdict,
    Proof,
    ProofVerdict,
    check_consistency,
    check_proof,
    consistency_text,
    is_consistency,
    proof_text,
)
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
            note=read_whole(home.note),
            head=line_text(redact(head, Redaction.CONTENT)),
            step=line_text(withhold(shown, frozenset(shown.blobs))),
            step_path=inclusion_proof(entries, n),
        )
    )
    found = check_proof(proof, require=Require.A1)
    if found.first_bad is not None:
        raise _broken(f"a proof from these files does not verify: {found.first_bad['why']}")
    return proof


def prove_extension(home: Home, since: Note | int) -> bytes:
    """The proof that the store's newest head extends an older one, which is given, or of which the size is.

    Raises:
        UsageError: the older head is of another store, or covers more than the newest one.
        JournalError: there is no head, or the ledger does not extend the older one: `tally verify` says where.
    """
    note = read_note(home)
    if note is None:
        raise JournalError("the store has no signed head yet", hint="try again in a few seconds")
    root = None
    if isinstance(since, int):
        old_size = since
    else:
        old_size, root = since.size, since.root
        if since.store_id != note.store_id:
            raise UsageError(f"the head is of the store {since.store_id}, this is {note.store_id}")
    if old_size > note.size:
        raise UsageError(f"the newest head covers {note.size} entries, and not {old_size}")
    leaves, _ = _ledger(home, None, note.size)
    if merkle_root(leaves) != note.root or (root is not None and merkle_root(leaves[:old_size]) != root):
        raise _broken("the ledger does not extend this head")
    path: tuple[bytes, ...] = ()
    if old_size:
        path = consistency_proof(leaves, old_size)
    return consistency_text(Consistency(old_size=old_size, path=path, note=read_whole(home.note)))


def _ledger(home: Home, session: str | None, size: int) -> tuple[list[bytes], Line | None]:
    """The hashes of the first `size` entries of the ledger, and the newest head of a session among them."""
    leaves: list[bytes] = []
    newest: bytes | None = None
    for text in LineFile(home.ledger):
        if len(leaves) == size:
            break
        leaves.append(_hash(home.ledger, text))
        if session is not None and b'"session_head"' in text and session.encode() in text:
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
    """The verdict on a file that holds the proof of a step. No store is read.

    Raises: FormatError: `pinned` is not a did:key. UsageError: a level is required that a proof cannot reach.
    """
    level, text, key = _level(require), _text(path), _key(pinned)
    if is_consistency(text):
        raise UsageError(f"{path} proves that a head extends an older one", hint="name that: --remembered NOTE")
    return check_proof(text, pinned=key, require=level)


def verify_extension(
    path: Path, remembered: bytes, *, pinned: str | None, require: Require | None
) -> ConsistencyVerdict:
    """The verdict on a file that holds the proof that a head extends the one that is remembered. No store is read.

    Raises what `verify_proof` raises.
    """
    level, text, key = _level(require), _text(path), _key(pinned)
    if not is_consistency(text):
        raise UsageError(f"{path} is not what `tally prove --from` writes", hint="leave --remembered out for a step")
    return check_consistency(text, remembered, pinned=key, require=level)


def _text(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _key(pinned: str | None) -> bytes | None:
    if pinned is None:
        return None
    return parse_did_key(pinned)


def _level(require: Require | None) -> Require:
    if require not in (None, Require.A1, Require.A2):
        raise UsageError(f"a proof reaches A1 or A2, never {require.value}", hint="verify the store for more")
    return require or Require.A2
