"""Inclusion and consistency proofs, good and bad (RFC 9162 2.1.3 and 2.1.4), for `proofs.json`."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tallystick.seal.merkle import consistency_proof, inclusion_proof, merkle_root
from tools.vectors.maker import Store, alpha, beta

SIZES = (1, 2, 3, 7, 8, 13)


def leaf(number: int) -> bytes:
    """A leaf hash: of nothing but its number."""
    return sha256(b"\x00" + number.to_bytes(2, "big")).digest()


def proofs() -> dict[str, Any]:
    """The content of `proofs.json`."""
    return {
        "about": "Leaf i is SHA-256(00, i as u16be). Hashes are hex; `valid` is what a verifier must say.",
        "roots": {str(size): root(size).hex() for size in (0, *SIZES)},
        "inclusion": [*good_inclusion(), *bad_inclusion(), session_head()],
        "consistency": [*good_consistency(), *bad_consistency()],
    }


def leaves(size: int) -> list[bytes]:
    return [leaf(number) for number in range(size)]


def root(size: int) -> bytes:
    return merkle_root(leaves(size))


def _inclusion(
    why: str, index: int, size: int, proof: list[bytes], *, valid: bool, of: int | None = None
) -> dict[str, Any]:
    return {
        "why": why,
        "leaf": leaf(index if of is None else of).hex(),
        "index": index,
        "size": size,
        "proof": [node.hex() for node in proof],
        "root": root(min(size, 13)).hex(),
        "valid": valid,
    }


def good_inclusion() -> Iterator[dict[str, Any]]:
    for size in SIZES:
        for index in range(size):
            yield _inclusion("as made", index, size, list(inclusion_proof(leaves(size), index)), valid=True)


def bad_inclusion() -> Iterator[dict[str, Any]]:
    path = list(inclusion_proof(leaves(13), 5))
    yield _inclusion("a node too few", 5, 13, path[:-1], valid=False)
    yield _inclusion("a node too many", 5, 13, [*path, path[-1]], valid=False)
    yield _inclusion("padded with a node of zeros", 5, 13, [*path, bytes(32)], valid=False)
    yield _inclusion("a node of 31 bytes", 5, 13, [path[0][:31], *path[1:]], valid=False)
    yield _inclusion("nodes in another order", 5, 13, path[::-1], valid=False)
    yield _inclusion("another leaf", 5, 13, path, valid=False, of=4)
    yield _inclusion("another index", 4, 13, path, valid=False, of=5)
    yield _inclusion("an index beyond the tree", 13, 13, path, valid=False)
    yield _inclusion("a larger tree than the proof is for", 5, 2**53 - 1, path, valid=False)
    yield _inclusion("no proof at all", 5, 13, [], valid=False)
    yield _inclusion("an empty tree", 0, 0, [], valid=False)


def session_head() -> dict[str, Any]:
    """Level `head` of a session: its ledger entry, and that the signed ledger holds it (9.5)."""
    store = Store(alpha(), beta()).seal()
    hashes = [item.hash for item in store.ledger.sealed]
    return {
        "why": "level `head`: the session head of accept/store, under that store's note",
        "leaf": hashes[1].hex(),
        "index": 1,
        "size": 3,
        "proof": [node.hex() for node in inclusion_proof(hashes, 1)],
        "root": merkle_root(hashes).hex(),
        "valid": True,
    }


def _consistency(why: str, old: int, new: int, proof: list[bytes], *, valid: bool, **other: str) -> dict[str, Any]:
    return {
        "why": why,
        "old_size": old,
        "new_size": new,
        "old_root": root(min(old, 13)).hex(),
        "new_root": root(min(new, 13)).hex(),
        "proof": [node.hex() for node in proof],
        "valid": valid,
    } | other


def good_consistency() -> Iterator[dict[str, Any]]:
    for new in SIZES:
        for old in range(1, new + 1):
            yield _consistency("as made", old, new, list(consistency_proof(leaves(new), old)), valid=True)


def bad_consistency() -> Iterator[dict[str, Any]]:
    path = list(consistency_proof(leaves(13), 7))
    yield _consistency("a node too few", 7, 13, path[:-1], valid=False)
    yield _consistency("a node too many", 7, 13, [*path, path[-1]], valid=False)
    yield _consistency("a node of 33 bytes", 7, 13, [path[0] + b"\0", *path[1:]], valid=False)
    yield _consistency("an empty proof between two sizes", 7, 13, [], valid=False)
    yield _consistency("another old root", 7, 13, path, valid=False, old_root=root(8).hex())
    yield _consistency("another new root", 7, 13, path, valid=False, new_root=root(8).hex())
    yield _consistency("another old size", 8, 13, path, valid=False, old_root=root(7).hex())
    yield _consistency("sizes that fall", 13, 7, path, valid=False)
    yield _consistency("from nothing", 0, 13, [], valid=False)
    yield _consistency("two roots of one size", 7, 7, [], valid=False, new_root=root(8).hex())
    yield _consistency("a proof where none is due", 7, 7, path, valid=False)
