"""Proofs for someone who has nothing else of a store: that a step is in the record, that a head extends another.

Owns their texts, a C2SP tlog-proof (docs/format.md 21) and what C2SP witnesses are sent (22), and the verdicts on them.
Needs nothing but the text, the key to trust and, of heads, the older one: no store, no journal.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.model.verdict import Authenticity, Level, Require, Rule
from tallystick.seal.ledger import LedgerView, SessionHead
from tallystick.seal.line import Line, check_content, hash_of, parse_line
from tallystick.seal.merkle import EMPTY_ROOT, verify_consistency, verify_inclusion
from tallystick.seal.note import Note, parse_note, strict_base64, verify_note

MAGIC = "c2sp.org/tlog-proof@v1"
MOST_BYTES = 4 << 20
MOST_NODES = 64
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,15})\Z")
_MALFORMED = (Rule.LIMIT, Rule.LINE, Rule.VERSION)
_UNSIGNED = "no key is pinned, so nobody is known to have signed the head"
_NOT_HELD = "the proof does not hold"
_HIGHER = "A3 to A5 (signer, anchors, witnesses) are not in a proof"


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """A proof taken apart: the ledger's entry and its place under the signed head, the step and its place in the session.

    `head` and `step` are lines of journals without LF; paths are of RFC 9162 2.1.3.1, lowest node first.
    """

    index: int
    path: tuple[bytes, ...]
    note: bytes
    head: bytes
    step: bytes
    step_path: tuple[bytes, ...]


class ProofVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a proof proves: that `session` had the entry `entry` as its number `n` when it had `size` entries.

    The ledger of `store` says so in its entry `ledger_n`, below a head of `ledger_size` entries. `shown` are the values that
    the proof discloses. With a defect nothing is proved, and those members are None.
    """

    exit: int
    valid: bool
    session: str | None = None
    n: int | None = None
    entry: str | None = None
    size: int | None = None
    store: str | None = None
    ledger_n: int | None = None
    ledger_size: int | None = None
    authenticity: Authenticity = Authenticity.UNSIGNED
    level: Level = Level.A1
    why_not_higher: str = ""
    shown: Mapping[str, Json] = {}
    withheld: int = 0
    first_bad: Mapping[str, str] | None = None


def proof_text(proof: Proof) -> bytes:
    """The text of a proof."""
    extra = b"\n".join((proof.head, proof.step, *map(base64.b64encode, proof.step_path))) + b"\n"
    lines = [MAGIC, f"extra {_text(extra)}", f"index {proof.index}", *map(_text, proof.path), "", ""]
    return "\n".join(lines).encode() + proof.note


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def parse_proof(text: bytes) -> Proof:
    """Take a proof apart. What its lines and its head hold is not looked at.

    Raises:
        FormatError: rule `limit` or `line`.
    """
    if len(text) > MOST_BYTES:
        raise FormatError(f"a proof of {len(text)} bytes, the limit is {MOST_BYTES}", rule="limit")
    top, separator, note = text.partition(b"\n\n")
    try:
        lines = top.decode("ascii").split("\n")
    except UnicodeDecodeError as error:
        raise _shape("not ASCII above the head") from error
    if not separator or len(lines) < 3 or lines[0] != MAGIC:
        raise _shape(f"not a proof: {MAGIC}, extra, index, nodes, an empty line, a head")
    extra = None
    if lines[1].startswith("extra "):
        extra = strict_base64(lines[1].removeprefix("extra "))
    index = lines[2].removeprefix("index ")
    if not extra or not lines[2].startswith("index ") or not _INDEX.match(index):
        raise _shape("the lines extra and index are not as they should be")
    *held, end = extra.split(b"\n")
    if end or len(held) < 2:
        raise _shape("extra does not hold two lines and a path, each with its LF")
    head, step, *nodes = held
    step_path = _nodes([node.decode("latin-1") for node in nodes])
    return Proof(index=int(index), path=_nodes(lines[3:]), note=note, head=head, step=step, step_path=step_path)


def _nodes(texts: Sequence[str]) -> tuple[bytes, ...]:
    if len(texts) > MOST_NODES:
        raise FormatError(f"a path of {len(texts)} nodes, the limit is {MOST_NODES}", rule="limit")
    nodes = [strict_base64(text) for text in texts]
    if any(node is None or len(node) != 32 for node in nodes):
        raise _shape("a node is not the base64 of 32 bytes")
    return tuple(node for node in nodes if node is not None)


def _shape(why: str) -> FormatError:
    return FormatError(why, rule=Rule.LINE.value)


def check_proof(text: bytes, *, pinned: bytes | None = None, require: Require = Require.A2) -> ProofVerdict:
    """The verdict on the text of a proof.

    Args:
        pinned: the public key that must have signed the head. Without it nothing says whose head it is: level A1.
        require: exit code 3 if the level reached is below.
    """
    try:
        proof = parse_proof(text)
        note = parse_note(proof.note)
        _check_signed(note, pinned)
        head = _ledger_entry(proof, note)
        line = _step(proof, head)
    except FormatError as error:
        return _refused(error)
    reached = _reached(pinned, require)
    return ProofVerdict(
        exit=reached.exit,
        valid=True,
        session=line.entry.sid,
        n=line.entry.n,
        entry=hash_of(line.entry).hex(),
        size=head.size,
        store=note.store_id,
        ledger_n=proof.index,
        ledger_size=note.size,
        authenticity=reached.authenticity,
        level=reached.level,
        why_not_higher=reached.why_not_higher,
        shown=line.fields,
        withheld=len(line.withheld),
    )


class _WrongKey(FormatError):
    """The head is a head, and someone else's."""


class _Reached(msgspec.Struct, frozen=True):
    """What a proof that holds is worth to who pins a key, or none."""

    exit: int
    level: Level
    authenticity: Authenticity
    why_not_higher: str


def _reached(pinned: bytes | None, require: Require) -> _Reached:
    code = 3
    if require is Require.A1 or (pinned is not None and require is Require.A2):
        code = 0
    if pinned is None:
        return _Reached(code, Level.A1, Authenticity.UNSIGNED, _UNSIGNED)
    return _Reached(code, Level.A2, Authenticity.SIGNED, _HIGHER)


class _Refusal(msgspec.Struct, frozen=True):
    """Why a proof does not hold."""

    exit: int
    authenticity: Authenticity
    first_bad: Mapping[str, str]


def _refusal(error: FormatError) -> _Refusal:
    rule, code, authenticity = Rule(error.rule), 2, Authenticity.UNSIGNED
    if rule in _MALFORMED:
        code = 4
    if isinstance(error, _WrongKey):
        authenticity = Authenticity.WRONG_KEY
    return _Refusal(code, authenticity, {"rule": rule.value, "why": str(error)})


def _refused(error: FormatError) -> ProofVerdict:
    found = _refusal(error)
    return ProofVerdict(
        exit=found.exit,
        valid=False,
        authenticity=found.authenticity,
        why_not_higher=_NOT_HELD,
        first_bad=found.first_bad,
    )


def _check_signed(note: Note, pinned: bytes | None) -> None:
    if pinned is not None and not verify_note(note, [pinned]):
        raise _WrongKey("the head is not signed by the pinned key", rule=Rule.SIGNATURE.value)


def _ledger_entry(proof: Proof, note: Note) -> SessionHead:
    """What the ledger's entry says, once it is known to be under the head."""
    line = parse_line(proof.head)
    if line.entry.sid != note.store_id:
        raise FormatError("the ledger's entry is of another store than the head", rule="sid")
    if line.entry.n != proof.index:
        raise FormatError(f"the ledger's entry has the number {line.entry.n}, not {proof.index}", rule="n")
    if line.blobs:
        raise FormatError("a proof has no blobs", rule="blob")
    check_content(line, in_ledger=True)
    view = LedgerView()
    if line.meta.get("type") == "session_head":
        view.feed(line.meta)
    heads = [head for found in view.heads.values() for head in found]
    if not heads:
        raise FormatError("the ledger's entry is not a session_head", rule="class")
    _check_inclusion(line, note.size, proof.path, note.root, "the ledger's entry is not under the head")
    return heads[0]


def _step(proof: Proof, head: SessionHead) -> Line:
    """The step's line, once it is known to be in the session."""
    line, session = parse_line(proof.step), parse_line(proof.head).meta["session"]
    if line.entry.sid != session:
        raise FormatError("the step is of another session than the ledger's entry", rule="sid")
    if not 0 <= line.entry.n < head.size:
        raise FormatError(f"the session had {head.size} entries, none with the number {line.entry.n}", rule="n")
    if line.blobs:
        raise FormatError("a proof has no blobs: what they hold is withheld", rule="blob")
    check_content(line)
    _check_inclusion(line, head.size, proof.step_path, bytes.fromhex(head.root), "the step is not in the session")
    return line


def _check_inclusion(line: Line, size: int, path: Sequence[bytes], root: bytes, why: str) -> None:
    if not verify_inclusion(hash_of(line.entry), line.entry.n, size, path, root):
        raise FormatError(why, rule=Rule.HEAD.value)


# That a head extends another ------------------------------------------------------------------------------------------

_OLD = re.compile(r"old (0|[1-9][0-9]{0,15})\Z")


class Consistency(msgspec.Struct, frozen=True, kw_only=True):
    """A proof that the ledger of `note` extends its own first `old_size` entries; `path` is of RFC 9162 2.1.4.1."""

    old_size: int
    path: tuple[bytes, ...]
    note: bytes


class ConsistencyVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a proof of consistency proves: that the ledger of `store` had these `old_size` entries and only grew since.

    With a defect nothing is proved, and the members are None.
    """

    exit: int
    valid: bool
    store: str | None = None
    old_size: int | None = None
    ledger_size: int | None = None
    authenticity: Authenticity = Authenticity.UNSIGNED
    level: Level = Level.A1
    why_not_higher: str = ""
    first_bad: Mapping[str, str] | None = None


def is_consistency(text: bytes) -> bool:
    """Whether a text means to be a proof of consistency, and not one of a step."""
    return text.startswith(b"old ")


def consistency_text(proof: Consistency) -> bytes:
    """The text of a proof of consistency: what a C2SP tlog-witness is sent with a head to cosign."""
    lines = [f"old {proof.old_size}", *map(_text, proof.path), "", ""]
    return "\n".join(lines).encode() + proof.note


def parse_consistency(text: bytes) -> Consistency:
    """Take a proof of consistency apart. What its head holds is not looked at.

    Raises:
        FormatError: rule `limit` or `line`.
    """
    if len(text) > MOST_BYTES:
        raise FormatError(f"a proof of {len(text)} bytes, the limit is {MOST_BYTES}", rule="limit")
    top, separator, note = text.partition(b"\n\n")
    first, *nodes = top.decode("latin-1").split("\n")
    old = _OLD.match(first)
    if not separator or old is None:
        raise _shape("not a proof of consistency: old, nodes, an empty line, a head")
    return Consistency(old_size=int(old[1]), path=_nodes(nodes), note=note)


def check_consistency(
    text: bytes, remembered: bytes, *, pinned: bytes | None = None, require: Require = Require.A2
) -> ConsistencyVerdict:
    """The verdict on the text of a proof of consistency.

    Args:
        remembered: the older head, as its keeper has it: no one else needs to vouch for it.
        pinned, require: as `check_proof` has them.
    """
    try:
        proof = parse_consistency(text)
        note = parse_note(proof.note)
        _check_signed(note, pinned)
        _check_extends(proof, note, parse_note(remembered))
    except FormatError as error:
        found = _refusal(error)
        return ConsistencyVerdict(
            exit=found.exit,
            valid=False,
            authenticity=found.authenticity,
            why_not_higher=_NOT_HELD,
            first_bad=found.first_bad,
        )
    reached = _reached(pinned, require)
    return ConsistencyVerdict(
        exit=reached.exit,
        valid=True,
        store=note.store_id,
        old_size=proof.old_size,
        ledger_size=note.size,
        authenticity=reached.authenticity,
        level=reached.level,
        why_not_higher=reached.why_not_higher,
    )


def _check_extends(proof: Consistency, note: Note, old: Note) -> None:
    if old.store_id != note.store_id:
        raise FormatError("the remembered head is of another store", rule=Rule.SIGNATURE.value)
    if old.size != proof.old_size:
        why = f"the proof begins at {proof.old_size} entries, the remembered head covers {old.size}"
        raise FormatError(why, rule=Rule.HEAD.value)
    if old.size:
        extends = verify_consistency(old.size, note.size, old.root, note.root, proof.path)
    else:
        extends = not proof.path and old.root == EMPTY_ROOT and (note.size > 0 or note.root == EMPTY_ROOT)
    if not extends:
        raise FormatError("the ledger does not extend what the remembered head covers", rule=Rule.HEAD.value)
