"""The proof that one step is in the record of a store: a C2SP tlog-proof (docs/format.md 21).

Owns its text, and the verdict on it. Needs nothing but the text and the key to trust: no store, no journal.
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
from tallystick.seal.merkle import verify_inclusion
from tallystick.seal.note import Note, parse_note, strict_base64, verify_note

MAGIC = "c2sp.org/tlog-proof@v1"
MOST_BYTES = 4 << 20
MOST_NODES = 64
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,15})\Z")
_MALFORMED = (Rule.LIMIT, Rule.LINE, Rule.VERSION)
_UNSIGNED = "no key is pinned, so nobody is known to have signed the head"
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
        if pinned is not None and not verify_note(note, [pinned]):
            raise _WrongKey("the head is not signed by the pinned key", rule=Rule.SIGNATURE.value)
        head = _ledger_entry(proof, note)
        line = _step(proof, head)
    except FormatError as error:
        return _refused(error)
    level, authenticity, higher = Level.A1, Authenticity.UNSIGNED, _UNSIGNED
    if pinned is not None:
        level, authenticity, higher = Level.A2, Authenticity.SIGNED, _HIGHER
    code = 3
    if require is Require.A1 or (level is Level.A2 and require is Require.A2):
        code = 0
    return ProofVerdict(
        exit=code,
        valid=True,
        session=line.entry.sid,
        n=line.entry.n,
        entry=hash_of(line.entry).hex(),
        size=head.size,
        store=note.store_id,
        ledger_n=proof.index,
        ledger_size=note.size,
        authenticity=authenticity,
        level=level,
        why_not_higher=higher,
        shown=line.fields,
        withheld=len(line.withheld),
    )


class _WrongKey(FormatError):
    """The head is a head, and someone else's."""


def _refused(error: FormatError) -> ProofVerdict:
    rule, code, authenticity = Rule(error.rule), 2, Authenticity.UNSIGNED
    if rule in _MALFORMED:
        code = 4
    if isinstance(error, _WrongKey):
        authenticity = Authenticity.WRONG_KEY
    return ProofVerdict(
        exit=code,
        valid=False,
        authenticity=authenticity,
        why_not_higher="the proof does not hold",
        first_bad={"rule": rule.value, "why": str(error)},
    )


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
