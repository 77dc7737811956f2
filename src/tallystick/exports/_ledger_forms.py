"""The hash formulas that a gptme-style ledger may use. Its own description leaves six points open.

Owns every reading of them that is worth trying, named, and the hashes they give. Must not know files or verdicts.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from itertools import product

import msgspec

from tallystick.model.step import Json

PREFIX = "sha256:"


class KeyOrder(enum.StrEnum):
    """In which order the members of a record are written before it is hashed."""

    SORTED = "sorted"
    WRITTEN = "as written"


class Separators(enum.StrEnum):
    """What stands between members."""

    SPACED = "spaced"
    COMPACT = "compact"


class Escapes(enum.StrEnum):
    """How characters beyond ASCII are written."""

    ASCII = "ASCII-escaped"
    UTF8 = "UTF-8"


class Nulls(enum.StrEnum):
    """What becomes of members that are null."""

    KEPT = "kept"
    DROPPED = "dropped"


class HashText(enum.StrEnum):
    """In which form a hash goes into the next one."""

    STORED = "as stored"
    BARE = "bare hex"
    RAW = "32 bytes"


class Genesis(enum.StrEnum):
    """What stands for the context before the first record."""

    EMPTY = "empty"
    ZEROS = "64 zeros"
    PREFIXED_ZEROS = "sha256: and 64 zeros"
    EMPTY_DIGEST = "digest of nothing"
    PREFIXED_EMPTY_DIGEST = "sha256: and digest of nothing"
    RAW_ZEROS = "32 zero bytes"
    RAW_EMPTY_DIGEST = "digest of nothing as bytes"
    SESSION = "session id"


class Root(enum.StrEnum):
    """How a record says that it has no parent. It changes no formula."""

    NULL = "null"
    EMPTY = "empty text"
    ABSENT = "absent"


class BodyForm(msgspec.Struct, frozen=True):
    """How `self_hash` is made."""

    keys: KeyOrder = KeyOrder.SORTED
    separators: Separators = Separators.SPACED
    escapes: Escapes = Escapes.ASCII
    nulls: Nulls = Nulls.KEPT

    def text(self, record: Mapping[str, Json]) -> bytes:
        """What is hashed of a record: all of it but the two hashes that follow from it."""
        body = {
            key: value
            for key, value in record.items()
            if key not in ("self_hash", "context_hash") and not (value is None and self.nulls is Nulls.DROPPED)
        }
        return json.dumps(
            body,
            sort_keys=self.keys is KeyOrder.SORTED,
            separators=(", ", ": ") if self.separators is Separators.SPACED else (",", ":"),
            ensure_ascii=self.escapes is Escapes.ASCII,
        ).encode("utf-8", "surrogatepass")


class ChainForm(msgspec.Struct, frozen=True):
    """How `context_hash` is made."""

    own: HashText = HashText.STORED
    previous: HashText = HashText.STORED
    genesis: Genesis = Genesis.EMPTY

    def context(self, previous: str | None, self_hash: str, session: str) -> str:
        """The digest, in hex. `previous` is the context hash before it as stored, None for the first record.

        Raises:
            ValueError: a hash is none, so that it has no bytes.
        """
        if previous is None:
            before = _start(self.genesis, session)
        else:
            before = _bytes_of(previous, self.previous)
        return digest(before + b"\0" + _bytes_of(self_hash, self.own))


class Variant(msgspec.Struct, frozen=True):
    """One reading of the format's open points."""

    body: BodyForm = BodyForm()
    chain: ChainForm = ChainForm()
    root: Root = Root.NULL

    @property
    def is_primary(self) -> bool:
        """Whether it is the reading that we take first, and write."""
        return self == PRIMARY


PRIMARY = Variant()
BODY_FORMS = tuple(BodyForm(*choice) for choice in product(KeyOrder, Separators, Escapes, Nulls))
"""All, the one we take first in front."""
CHAIN_FORMS = tuple(ChainForm(*choice) for choice in product(HashText, HashText, Genesis))


def digest(data: bytes) -> str:
    """SHA-256, in hex."""
    return hashlib.sha256(data).hexdigest()


def bare(value: str) -> str:
    """A stored hash without its prefix."""
    return value.removeprefix(PREFIX)


def _bytes_of(value: str, form: HashText) -> bytes:
    if form is HashText.RAW:
        return bytes.fromhex(bare(value))
    return (bare(value) if form is HashText.BARE else value).encode("utf-8", "surrogatepass")


def _start(genesis: Genesis, session: str) -> bytes:
    if genesis is Genesis.SESSION:
        return session.encode("utf-8", "surrogatepass")
    return _STARTS[genesis]


_STARTS = {
    Genesis.EMPTY: b"",
    Genesis.ZEROS: b"0" * 64,
    Genesis.PREFIXED_ZEROS: (PREFIX + "0" * 64).encode(),
    Genesis.EMPTY_DIGEST: digest(b"").encode(),
    Genesis.PREFIXED_EMPTY_DIGEST: (PREFIX + digest(b"")).encode(),
    Genesis.RAW_ZEROS: bytes(32),
    Genesis.RAW_EMPTY_DIGEST: hashlib.sha256(b"").digest(),
}


def content_bytes(value: Json) -> bytes:
    """What of a content is hashed: text as UTF-8, anything else as JSON with sorted keys."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value, sort_keys=True).encode("utf-8")


def content_hashes(value: Json) -> frozenset[str]:
    """The digests that a content may have, in hex: ours, and those of writers with other habits."""
    compact = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    spellings = (compact, json.dumps(value, sort_keys=True, ensure_ascii=False), str(value))
    return frozenset(
        digest(text) for text in (content_bytes(value), *(s.encode("utf-8", "surrogatepass") for s in spellings))
    )
