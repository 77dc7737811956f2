"""Signed heads: the C2SP signed note that holds a C2SP tlog-checkpoint (docs/format.md 9.4).

Owns the text of a head and what is refused of it. Must not know which keys are trusted: callers pass them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence

import msgspec

from tallystick.errors import FormatError
from tallystick.model.ids import SESSION_ID
from tallystick.model.verdict import Rule
from tallystick.seal.keys import SigningKey, key_id, verify_signature
from tallystick.seal.limits import NOTE_BYTES, SIGNATURES

_ORIGIN = "tallystick/"
_SIZE = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_SIGNATURE_LINE = re.compile(r"— (?P<name>[^\s+]+) (?P<signature>[A-Za-z0-9+/=]+)\Z")


class Signature(msgspec.Struct, frozen=True):
    """One signature line: key name, key id (4 bytes), signature (64 bytes for Ed25519)."""

    name: str
    key_id: bytes
    signature: bytes


class Note(msgspec.Struct, frozen=True):
    """A parsed head: whose ledger, how many entries, their root. `text` is what is signed."""

    store_id: str
    size: int
    root: bytes
    text: bytes
    signatures: tuple[Signature, ...]


def note_text(store_id: str, size: int, root: bytes) -> bytes:
    """The three lines that are signed."""
    return f"{_ORIGIN}{store_id}\n{size}\n{base64.b64encode(root).decode()}\n".encode()


def sign_note(store_id: str, size: int, root: bytes, keys: Sequence[SigningKey]) -> bytes:
    """A head of the ledger `store_id`, signed by each key. The key name is the origin line."""
    text = note_text(store_id, size, root)
    name = _ORIGIN + store_id
    lines = [text, b"\n"]
    for key in keys:
        blob = base64.b64encode(key_id(name, key.public) + key.sign(text)).decode()
        lines.append(f"— {name} {blob}\n".encode())
    return b"".join(lines)


def _refuse(why: str, rule: Rule = Rule.SIGNATURE) -> FormatError:
    return FormatError(f"head: {why}", rule=rule.value)


def parse_note(note: bytes) -> Note:
    """Read a head strictly: no extension line, no junk, canonical numbers and base64.

    Raises:
        FormatError: with rule `limit`, or `signature` (not such a note).
    """
    if len(note) > NOTE_BYTES:
        raise _refuse(f"more than {NOTE_BYTES} bytes", Rule.LIMIT)
    try:
        decoded = note.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refuse("not UTF-8") from error
    if _CONTROL.search(decoded):
        raise _refuse("a control character")
    text, separator, tail = decoded.partition("\n\n")
    if not separator or not tail.endswith("\n"):
        raise _refuse("not a signed note: text, an empty line, signature lines")
    lines = text.split("\n")
    if len(lines) != 3:
        raise _refuse(f"{len(lines)} lines of text instead of 3 (origin, size, root)")
    origin, size_text, root_text = lines
    store_id = origin.removeprefix(_ORIGIN)
    if not origin.startswith(_ORIGIN) or not SESSION_ID.match(store_id):
        raise _refuse(f"the origin {origin[:80]!r} is not tallystick/<store id>")
    if not _SIZE.match(size_text):
        raise _refuse(f"the size {size_text[:40]!r} is no decimal number without leading zeros")
    return Note(store_id, int(size_text), _root(root_text), f"{text}\n".encode(), _signatures(tail))


def _root(text: str) -> bytes:
    root = strict_base64(text)
    if root is None or len(root) != 32:
        raise _refuse("the root is not the base64 of 32 bytes")
    return root


def strict_base64(text: str) -> bytes | None:
    """Decode base64, refusing every spelling but the one an encoder writes."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if base64.b64encode(decoded).decode() == text:
        return decoded
    return None


def _signatures(tail: str) -> tuple[Signature, ...]:
    lines = tail.removesuffix("\n").split("\n")
    if len(lines) > SIGNATURES:
        raise _refuse(f"{len(lines)} signatures, the limit is {SIGNATURES}")
    return tuple(_signature(line) for line in lines)


def _signature(line: str) -> Signature:
    match = _SIGNATURE_LINE.match(line)
    blob = None
    if match:
        blob = strict_base64(match["signature"])
    if match is None or blob is None or len(blob) < 5:
        raise _refuse(f"{line[:80]!r} is no signature line")
    return Signature(match["name"], blob[:4], blob[4:])


def verify_note(note: Note, keys: Sequence[bytes]) -> tuple[bytes, ...]:
    """The keys among `keys` that signed `note`. Signatures of unknown keys are ignored.

    Raises:
        FormatError: a signature of a known key fails, is of a low-order key or has a low-order R (rule `signature`).
    """
    name = _ORIGIN + note.store_id
    signed: list[bytes] = []
    for signature in note.signatures:
        known = [key for key in keys if signature.name == name and key_id(name, key) == signature.key_id]
        fitting = [key for key in known if verify_signature(key, signature.signature, note.text)]
        if known and not fitting:
            raise _refuse("a signature by a known key does not fit the text")
        signed += fitting
    return tuple(signed)
