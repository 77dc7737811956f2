"""A set of 32-byte hashes whose memory stays bounded on huge journals.

Owns exact membership. Small sets are Python sets, which are fastest; beyond `SPILL` values they are kept end to end in
buckets, a quarter of the memory (bench/ has the figures).
"""

from __future__ import annotations

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
