"""Lines made to order for the tests of seal.line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from tallystick.seal.canonical import canonical
from tallystick.seal.hashes import commitment, fields_hash, genesis, salt
from tallystick.seal.line import Line, Sealed, Slot, parse_line, seal_line
from tallystick.seal.redact import Redaction, line_text, redact, withhold
from tests.seal.sentences import refusal

SID = "0a" * 16
SEED = b"\x07" * 32
META = {"type": "user", "recorded": "2026-01-02T03:04:05.000000Z", "source": "sdk"}
HASH = "0b" * 32


def seal(values: dict[str, Any] | None = None, raw: dict[str, bytes] | None = None, **other: Any) -> Sealed:
    """A step of these values beside META."""
    seed = other.pop("seed", SEED)
    slot = msgspec.structs.replace(Slot(SID, 0, genesis(SID)), **other)
    return seal_line(slot, seed=seed, values={"meta": META, **(values or {})}, raw=raw)


def text_of(values: dict[str, Any] | None = None, raw: dict[str, bytes] | None = None, **other: Any) -> bytes:
    """Its line, without LF."""
    return seal(values, raw, **other).line[:-1]


def value_of(text: bytes) -> dict[str, Any]:
    """A line as a JSON value."""
    value: dict[str, Any] = json.loads(text)
    return value


def refused(value: Any) -> str:
    """The rule by which a line, written in canonical form, is refused."""
    return refusal(lambda: parse_line(canonical(value)))


GOOD = value_of(text_of({"content.text": "hi"}))
BLOBBED = value_of(text_of({"content.text": "hi"}, {"content.part_0": b"raw"}))
PARTIAL = value_of(line_text(redact(parse_line(text_of({"content.text": "hi"})), Redaction.CONTENT)))
OPAQUE = value_of(line_text(withhold(parse_line(text_of({"content.text": "hi"})), frozenset({"content.text", "meta"}))))
BARE = {"entry": GOOD["entry"]}


def entry_with(**members: Any) -> dict[str, Any]:
    """GOOD with other members of its entry."""
    return GOOD | {"entry": GOOD["entry"] | members}


def without(value: dict[str, Any], *members: str) -> dict[str, Any]:
    """An object less some members."""
    return {key: item for key, item in value.items() if key not in members}


def blob_with(**members: Any) -> dict[str, Any]:
    """BLOBBED with other members of its blob reference."""
    blobs: dict[str, Any] = {"content.part_0": BLOBBED["blobs"]["content.part_0"] | members}
    return BLOBBED | {"blobs": blobs}


def reader(*chunks: bytes) -> Callable[[str], Iterator[bytes]]:
    """A blob reader that has these bytes under every name."""
    return lambda name: iter(chunks)


def json_blob(text: bytes) -> tuple[Line, Callable[[str], Iterator[bytes]]]:
    """A line whose `content.output` is a JSON blob of these bytes, whatever they are."""
    digest = commitment("content.output", "json", salt(SEED, "content.output"), text)
    pairs = {"content.output": digest, "meta": commitment("meta", "json", salt(SEED, "meta"), canonical(META))}
    entry = GOOD["entry"] | {"fields": fields_hash(pairs.items()).hex()}
    blobs = {"content.output": {"commitment": digest.hex(), "kind": "json", "size": len(text)}}
    value = {"blobs": blobs, "entry": entry, "fields": {"meta": META}, "seed": SEED.hex()}
    return parse_line(canonical(value)), reader(text)


def meta_of(size: int) -> dict[str, Any]:
    """A meta of so many canonical bytes."""
    meta: dict[str, Any] = META | {"words": ["w" * 100] * 150, "x": ""}
    room = size - len(canonical(meta))
    meta["words"] += ["v" * ((room - 6) // 2)]
    meta["x"] = "x" * (size - len(canonical(meta)))
    assert len(canonical(meta)) == size
    return meta
