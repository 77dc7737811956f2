"""Ids of what is not a step, as whole numbers that depend on nothing but what they stand for.

Owns one digest. Must not know tables. The same journals give the same ids, in whatever order they are read.
"""

from __future__ import annotations

from hashlib import blake2b

from tallystick.model.paths import identity

_BYTES = 8
_SIGN = (1 << 63) - 1
_MAY_FOLD = ("file:///mnt/", "file:///Users/", "file:///users/")


def digest_id(*parts: str | int) -> int:
    """A number of 63 bits for a tuple of texts and numbers. Of ten million, two are the same in one of 200,000 stores."""
    text = "\0".join([str(part) for part in parts])
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest(), "big") & _SIGN


def thing_id(kind: str, uri: str, session: str = "") -> int:
    """The id of a thing over all its versions; of one that means something in one session alone, with that session."""
    if session:
        return digest_id("thing", kind, uri, session)
    if uri.startswith(_MAY_FOLD):
        uri = f"file://{identity(uri[7:])}"
    return digest_id("thing", kind, uri)


def found_id(thing: int) -> int:
    """The id of the version of a thing that was there before anything was seen of it."""
    return digest_id("found", thing)


def found_again_id(thing: int, step: int, k: int) -> int:
    """The id of the version of a removed thing that intent `k` of a step met: someone made it who was not seen."""
    return digest_id("found", thing, step, k)


def version_id(thing: int, step: int, k: int) -> int:
    """The id of the version that intent `k` of a step made."""
    return digest_id("version", thing, step, k)


def relation_id(src_kind: str, src: int, dst_kind: str, dst: int, relation: str) -> int:
    """The id of an edge."""
    return digest_id("relation", src_kind, src, dst_kind, dst, relation)


def intent_event_id(step: int, k: int) -> int:
    """The id of the event row of intent `k` of a call: below zero, where no step's id is."""
    return -1 - digest_id("intent", step, k)


def observation_id(step: int, k: int) -> int:
    """The id of what intent `k` of a call was seen to write."""
    return digest_id("observation", step, k)
