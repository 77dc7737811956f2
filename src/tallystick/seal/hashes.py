"""Every hash of the format (docs/format.md 4).

Owns the formulas, and a set of hashes whose memory stays bounded on huge journals. The bytes before salt and value are
constant for each name, so they are built once and kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

_PREFIX = b"tallystick/v1/"
ENTRY_START = b"\x00tallystick/v1/entry\n"
_NODE = b"\x01"


def _u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _opening(tag: bytes, parts: int) -> bytes:
    """The constant beginning of what `tagged_hash` hashes: u8 len(T) ‖ T ‖ u32be k."""
    name = _PREFIX + tag
    return bytes([len(name)]) + name + parts.to_bytes(4, "big")


def tagged_hash(tag: str, *parts: bytes) -> bytes:
    """H(tag, p1..pk): SHA-256 over the tag, the number of parts and each part behind its length. 32 bytes."""
    framed = b"".join(_u64(len(part)) + part for part in parts)
    return sha256(_opening(tag.encode("ascii"), len(parts)) + framed).digest()


def genesis(sid: str) -> bytes:
    """The `prev` of entry 0."""
    return tagged_hash("genesis", sid.encode("ascii"))


SALT_START = _opening(b"salt", 2) + _u64(32)
_FIELD = _opening(b"field", 4)
FIELDS_START = {count: _opening(b"fields", 2 * count) for count in range(1, 33)}
HASH_LENGTH = _u64(32)


@lru_cache(maxsize=4096)
def salt_end(name: str) -> bytes:
    """A name behind its length: what follows the seed in a salt, and what precedes a commitment in `fields`."""
    encoded = name.encode("ascii")
    return _u64(len(encoded)) + encoded


@lru_cache(maxsize=4096)
def field_start(name: str, kind: str) -> bytes:
    """What precedes the salt in a commitment."""
    encoded, kind_bytes = name.encode("ascii"), kind.encode("ascii")
    return _FIELD + _u64(len(encoded)) + encoded + _u64(len(kind_bytes)) + kind_bytes + HASH_LENGTH


def salt(seed: bytes, name: str) -> bytes:
    """The salt of one field, from the entry's seed (32 bytes)."""
    return sha256(SALT_START + seed + salt_end(name)).digest()


def commitment(name: str, kind: str, salt_: bytes, value: bytes) -> bytes:
    """C: what stands for a value in the chain. `kind` is `json` or `raw`, `salt_` 32 bytes, `value` the bytes of 3.3."""
    return sha256(field_start(name, kind) + salt_ + len(value).to_bytes(8, "big") + value).digest()


def streamed_commitment(name: str, kind: str, salt_: bytes, size: int, chunks: Iterable[bytes]) -> bytes:
    """`commitment` of `size` bytes that arrive in chunks. The caller checks that as many arrived."""
    state = sha256(field_start(name, kind) + salt_ + _u64(size))
    for chunk in chunks:
        state.update(chunk)
    return state.digest()


def fields_hash(commitments: Iterable[tuple[str, bytes]]) -> bytes:
    """`entry.fields`: over all names and their commitments, in byte order of the names (already sorted)."""
    framed = [salt_end(name) + HASH_LENGTH + value for name, value in commitments]
    return sha256(FIELDS_START[len(framed)] + b"".join(framed)).digest()


def entry_hash(entry: bytes) -> bytes:
    """The hash of an entry's canonical bytes, which is also its RFC 9162 leaf hash."""
    return sha256(ENTRY_START + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """An inner node of the Merkle tree (RFC 9162, 2.1.1)."""
    return sha256(_NODE + left + right).digest()


SPILL = 100_000


class Seen:
    """Exact membership of 32-byte values."""

    __slots__ = ("_buckets", "_few")

    def __init__(self) -> None:
        self._few: set[bytes] | None = set()
        self._buckets: dict[bytes, bytearray] = {}

    def add(self, value: bytes) -> bool:
        """Add a value; False if it was there already."""
        few = self._few
        if few is None:
            return self._add_to_bucket(value)
        before = len(few)
        few.add(value)
        if before >= SPILL:
            self._spill(few)
        return len(few) != before

    def _spill(self, few: set[bytes]) -> None:
        self._few = None
        for value in few:
            self._add_to_bucket(value)

    def _add_to_bucket(self, value: bytes) -> bool:
        bucket = self._buckets.get(value[:2])
        if bucket is None:
            self._buckets[value[:2]] = bytearray(value)
            return True
        if _find(bucket, value):
            return False
        bucket += value
        return True

    def __contains__(self, value: bytes) -> bool:
        if self._few is not None:
            return value in self._few
        bucket = self._buckets.get(value[:2])
        return bucket is not None and _find(bucket, value)


def _find(bucket: bytearray, value: bytes) -> bool:
    position = bucket.find(value)
    while position % 32 and position > 0:
        position = bucket.find(value, position + 1)
    return position >= 0
