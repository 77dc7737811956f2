"""The quick paths of sealing and reading: the same bytes and verdicts as the plain way, or none at all.

Owns committing to all JSON values of a line at once (half of all work is hash calls: docs/format.md 17), and one
question: is this line, byte for byte, what its own values say it must be at this place of the chain? It builds the line
again from computed values and compares once, which settles v, sid, n, prev, fields, member order and canonical form
together (docs/format.md 17). Whatever it does not accept goes to line.py, which decides and names the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.seal import limits
from tallystick.seal.canonical import fast_dumps, has_astral_key, plain_float_hook
from tallystick.seal.hashes import ENTRY_START, FIELDS_START, HASH_LENGTH, SALT_START, field_start, salt_end
from tallystick.seal.names import check_meta, is_field_name


class _Full(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    entry: msgspec.Raw
    fields: dict[str, Any]
    seed: str


class Accepted(msgspec.Struct, frozen=True):
    """What the chain needs of a line it accepted."""

    hash: bytes
    seed: bytes
    meta: dict[str, Any]
    parents: tuple[str, ...]


_DECODER = msgspec.json.Decoder(_Full, float_hook=plain_float_hook)
_HEX = b"0123456789abcdef"
_META = b'"meta":'
_BELOW_F0 = bytes(range(0xF0))
_PARENTS = re.compile(rb'\["[0-9a-f]{64}"(?:,"[0-9a-f]{64}")*\]')


def accept_full(text: bytes, *, sid: bytes, n: int, prev: bytes, in_ledger: bool) -> Accepted | None:
    """Accept a full line without blobs that stands at `n` after `prev` (64 hex digits), or return None."""
    if len(text) > limits.LINE_BYTES:
        return None
    try:
        line = _DECODER.decode(text)
        seed = bytes.fromhex(line.seed)
        fields = line.fields
        meta = fields["meta"]
        if len(seed) != 32 or len(fields) > limits.NAMES:
            return None
        committed = commit_all(seed, fields, fast_dumps, limits.LINE_BYTES)
        if committed is None:
            return None
        digest, shown = committed
        listed = _listed_parents(text)
        entry = b'{"fields":"%b","n":%d,"parents":%b,"prev":"%b","sid":"%b","v":1}' % (
            digest.encode(),
            n,
            listed,
            prev,
            sid,
        )
        if b'{"entry":%b,"fields":{%b},"seed":"%b"}' % (entry, b",".join(shown), seed.hex().encode()) != text:
            return None
        if not text.isascii() and text.translate(None, _BELOW_F0) and has_astral_key(fields):
            return None
        # Depth is asked of the values: brackets in long strings are many and mean nothing. The line's own object and
        # `fields` are the first two.
        if text.count(b"{") + text.count(b"[") > limits.DEPTH and limits.is_deeper(fields, limits.DEPTH - 1):
            return None
        meta_text = shown[-1]
        if not meta_text.startswith(_META):
            meta_text = next(part for part in shown if part.startswith(_META))
        if len(meta_text) - len(_META) > limits.META_BYTES:
            return None
        check_meta(meta, meta_text[len(_META) :], in_ledger=in_ledger)
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, RecursionError, FormatError):
        return None
    return Accepted(sha256(ENTRY_START + entry).digest(), seed, meta, _split(listed))


def _split(listed: bytes) -> tuple[str, ...]:
    """The parents in a text of them."""
    if listed == b"[]":
        return ()
    return tuple(listed[2:-2].decode().split('","'))


def _listed_parents(text: bytes) -> bytes:
    """The text of the entry's parents, if they are plain hashes; else what no line holds."""
    start = text.find(b'"parents":[', 86, 120) + 10
    if text[start : start + 2] == b"[]":
        return b"[]"
    listed = text[start : text.find(b"]", start) + 1]
    if listed.count(b",") < limits.PARENTS and _PARENTS.fullmatch(listed):
        return listed
    return b"?"


def accept_bare(text: bytes, *, sid: bytes, n: int, prev: bytes) -> bytes | None:
    """Accept a bare line without explicit parents: its entry hash. None: let the plain reading decide."""
    fields = text[20:84]
    entry = b'{"fields":"%b","n":%d,"parents":[],"prev":"%b","sid":"%b","v":1}' % (fields, n, prev, sid)
    if text[9:-1] != entry or text[:9] != b'{"entry":' or text[-1:] != b"}" or fields.translate(None, _HEX):
        return None
    return sha256(ENTRY_START + entry).digest()


Frame: TypeAlias = tuple[bytes, bytes, bytes, bytes]
"""What follows the seed in the salt; what precedes the salt in a `json` commitment; what precedes the commitment in
`fields`; how the field opens in a line."""


@lru_cache(maxsize=4096)
def json_frame(name: str) -> Frame | None:
    """The frame of a field of kind `json`; None for what is not a field name."""
    if not is_field_name(name):
        return None
    return salt_end(name), field_start(name, "json"), salt_end(name) + HASH_LENGTH, b'"%b":' % name.encode()


def commit_all(
    seed: bytes, values: Mapping[str, Json], text_of: Callable[[Json], bytes], limit: int
) -> tuple[str, list[bytes]] | None:
    """Commit to `values`, all of kind `json`, whose canonical bytes `text_of` gives.

    Returns: `entry.fields` in hex, and each field unchanged in a line (`"name":value`), in byte order of the names;
    None if a name is none of ours or a text is longer than `limit`.
    """
    framed: list[bytes] = []
    shown: list[bytes] = []
    salted = SALT_START + seed
    for name in sorted(values):
        frame = json_frame(name)
        text = text_of(values[name])
        if frame is None or len(text) > limit:
            return None
        salt = sha256(salted + frame[0]).digest()
        framed.append(frame[2])
        framed.append(sha256(frame[1] + salt + len(text).to_bytes(8, "big") + text).digest())
        shown.append(frame[3] + text)
    return sha256(FIELDS_START[len(shown)] + b"".join(framed)).hexdigest(), shown
