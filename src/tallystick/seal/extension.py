"""What a signer signs: heads that extend the one it signed before, and nothing else (docs/format.md 9.4).

Owns the state of one log, the rule by which it moves on, and the words in which both sides talk. The proof is the entries
themselves: who holds the roots of the complete subtrees of what was signed, and is given every entry since, computes the new
root alone. Shape of the request and its status codes: C2SP tlog-witness, add-checkpoint, with the ledger's lines in place of
a proof of RFC 9162 2.1.4; a signer of before takes their hashes alone (PROTOCOL 1). Must not know where the state is kept,
nor who asks.
"""

from __future__ import annotations

import base64
import binascii
import enum
import re
from collections.abc import Iterator, Sequence

import msgspec

from tallystick.errors import FormatError
from tallystick.model.verdict import Rule
from tallystick.seal.merkle import EMPTY_ROOT, Frontier
from tallystick.seal.note import Note, note_text, parse_note

PROTOCOL = 2
"""Of the requests that this program makes: it shows entries. In the first one there were hashes."""
MOST_LEAVES = 4_096
"""Entries in one request. A log that is further ahead is signed at a size on the way."""
STEP_BYTES = 256 << 10
"""Bytes of entries after which a request begins that is not the first: a signer of before reads no longer one to its end."""
MOST_REQUEST = 2 << 20
"""Bytes of one request: an entry of any length fits."""

_FIRST = re.compile(rb"(?:v2 (recover )?)?old (0|[1-9][0-9]{0,18})\Z")


class Code(enum.IntEnum):
    """What became of a request, in the numbers of C2SP tlog-witness."""

    SIGNED = 200
    KEPT = 202
    """The entries are kept. Nothing is signed before those come that were signed when a signer knew only hashes."""
    MALFORMED = 400
    FORBIDDEN = 403
    """Anyone who asks may not have this log signed."""
    UNKNOWN_LOG = 404
    BEHIND = 409
    """What was signed is not what the request begins at: the answer says the size that was signed."""
    NOT_CONSISTENT = 422
    """The leaves do not lead from what was signed to what is to be signed."""
    UNFIT = 415
    """An entry is none that the ledger of this store can have at its place."""
    OUTDATED = 426
    """The request has hashes where entries are asked for: who asks is older than the signer."""
    BUSY = 429
    ROLLED_BACK = 460
    """The request shows a signature of this key over more than the signer remembers: its state is an old one."""
    FAILED = 500
    """The signer cannot make its state durable, or has lost it."""


class RefusedError(FormatError):
    """The signer does not sign. `code` says why, `size` is what it signed last."""

    def __init__(self, code: Code, why: str, *, size: int | None = None) -> None:
        super().__init__(why, rule=Rule.SIGNATURE.value)
        self.code = code
        self.size = size


class LogState(msgspec.Struct, frozen=True):
    """What was signed of one log: its size, and the roots of its complete subtrees, largest first."""

    store_id: str
    size: int = 0
    subtrees: tuple[bytes, ...] = ()

    @property
    def root(self) -> bytes:
        """The root that was signed; of an empty log that of RFC 9162."""
        if self.size:
            return Frontier(self.size, self.subtrees).root()
        return EMPTY_ROOT


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Sign the log at `size` with `root`: `entries` are its lines from `old_size` on; None: `leaves` are their hashes.

    `known` is the newest head that anyone who asks has, signed; it shows whether the signer's state is an old one. With
    `recovers` a state that is one is to be brought up to that head.
    """

    store_id: str
    old_size: int
    size: int
    root: bytes
    leaves: tuple[bytes, ...] = ()
    entries: tuple[bytes, ...] | None = None
    known: bytes | None = None
    recovers: bool = False


def extend(state: LogState, request: Request) -> LogState:
    """The state after signing.

    Raises:
        RefusedError: the request does not extend what was signed.
    """
    if request.store_id != state.store_id:
        raise RefusedError(Code.UNKNOWN_LOG, f"this is the signer of another log than {request.store_id}")
    if request.old_size != state.size:
        why = f"{state.size} entries were signed; the request begins at {request.old_size}"
        raise RefusedError(Code.BEHIND, why, size=state.size)
    if request.size != state.size + len(request.leaves):
        raise RefusedError(
            Code.NOT_CONSISTENT,
            f"{len(request.leaves)} leaves do not lead from {state.size} entries to {request.size}",
            size=state.size,
        )
    tree = Frontier(state.size, state.subtrees)
    for leaf in request.leaves:
        tree.append(leaf)
    if tree.root() != request.root:
        raise RefusedError(
            Code.NOT_CONSISTENT,
            "the log does not begin with what was signed: another root comes of it",
            size=state.size,
        )
    return LogState(state.store_id, tree.size, tree.subtrees)


# In words ------------------------------------------------------------------------------------------------------------


def request_text(request: Request) -> bytes:
    """A request as it is sent."""
    if request.entries is None:
        lines = [b"old %d\n" % request.old_size]
        lines += [base64.b64encode(leaf) + b"\n" for leaf in request.leaves]
    else:
        lines = [b"v2 %bold %d\n" % (b"recover " if request.recovers else b"", request.old_size)]
        lines += [entry + b"\n" for entry in request.entries]
    text = note_text(request.store_id, request.size, request.root)
    return b"".join((*lines, b"\n", text, b"\n", request.known or b""))


def parse_request(data: bytes) -> Request:
    """Read a request strictly.

    Raises:
        RefusedError: it is none.
    """
    if len(data) > MOST_REQUEST:
        raise RefusedError(Code.MALFORMED, f"{len(data)} bytes; the limit is {MOST_REQUEST}")
    head, separator, rest = data.partition(b"\n\n")
    text, closing, known = rest.partition(b"\n\n")
    if not separator or not closing:
        raise RefusedError(
            Code.MALFORMED, "no request: `v2 old SIZE`, entries, an empty line, the text of a head, an empty line"
        )
    first, *shown = head.split(b"\n")
    old = _FIRST.match(first)
    if old is None or len(shown) > MOST_LEAVES:
        raise RefusedError(Code.MALFORMED, "the first line is not `v2 old SIZE`, or there are too many entries")
    are_entries = first.startswith(b"v2 ")
    try:
        note = parse_note(text + b"\n\n\xe2\x80\x94 x AAAAAAA=\n")
    except FormatError as error:
        raise RefusedError(Code.MALFORMED, str(error)) from error
    return Request(
        store_id=note.store_id,
        old_size=int(old[2]),
        size=note.size,
        root=note.root,
        leaves=() if are_entries else tuple(_leaf(line) for line in shown),
        entries=tuple(shown) if are_entries else None,
        known=known or None,
        recovers=old[1] is not None,
    )


def _leaf(line: bytes) -> bytes:
    try:
        leaf = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        leaf = b""
    if len(leaf) != 32 or base64.b64encode(leaf) != line:
        raise RefusedError(Code.MALFORMED, "a leaf is not the base64 of 32 bytes")
    return leaf


def answer_text(code: Code, said: bytes) -> bytes:
    """An answer as it is sent: the code, then the head that was signed, or why none was."""
    return b"%d\n" % code + said


def parse_answer(data: bytes) -> Note:
    """The head that was signed. It is for the caller to verify it.

    Raises:
        RefusedError: none was, for the reason that the answer has.
    """
    number, separator, said = data.partition(b"\n")
    try:
        if separator:
            code = Code(int(number))
        else:
            code = Code.FAILED
    except ValueError:
        code = Code.FAILED
    if code is Code.SIGNED:
        return parse_note(said)
    text, _, why = said.decode("utf-8", "replace")[:2_000].partition("\n")
    size = None
    if text.isdecimal():
        size = int(text)
    raise RefusedError(code, why or "the signer gave no answer", size=size)


def refusal_text(error: RefusedError) -> bytes:
    """A refusal as it is sent."""
    size = ""
    if error.size is not None:
        size = str(error.size)
    return answer_text(error.code, f"{size}\n{error}".encode())


def in_steps(entries: Sequence[bytes], most_bytes: int = STEP_BYTES) -> Iterator[Sequence[bytes]]:
    """The entries of each request, for a log that is ahead by more than one may hold; one without any for none."""
    begin = size = 0
    for end, entry in enumerate(entries):
        if end > begin and (size + len(entry) > most_bytes or end - begin == MOST_LEAVES):
            yield entries[begin:end]
            begin, size = end, 0
        size += len(entry) + 1
    yield entries[begin:]
