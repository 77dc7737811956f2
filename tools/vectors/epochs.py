"""Vectors in which the log key changes at the end of each epoch (docs/format.md 19.8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.seal.epochs import Epoch, end_epoch
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.merkle import EMPTY_ROOT
from tools.vectors.maker import KEY, OTHER_KEY, STORE, Store, alpha, beta, moment
from tools.vectors.vector import Expected, Vector, bad_head, sound_store

THIRD_KEY = SigningKey(bytes(range(64, 96)))
STRANGER = SigningKey(bytes(range(96, 128)))


def ended(store: Store, number: int, by: SigningKey, to: SigningKey, **said: Any) -> int:
    """The end of an epoch, sealed in a store's ledger; the number of its entry."""
    size = len(store.ledger.sealed)
    end = Epoch(
        epoch=number,
        size=size,
        root=store.ledger.root(size),
        key=did_key(to.public),
        began=moment(3_600 * (number - 1)),
        ended=moment(3_600 * number),
        seconds=3_600,
        signature="",
    )
    end = end_epoch(msgspec.structs.replace(end, **said), STORE, by)
    n = store.log("key_add", **msgspec.to_builtins(end))
    store.log("key_retire", key=did_key(by.public))
    return n


def _first() -> Store:
    store = Store(alpha(), beta())
    store.head(alpha())
    ended(store, 1, KEY, OTHER_KEY)
    store.head(beta())
    return store


def sound_epochs() -> Iterator[Vector]:
    """Those in which nothing is wrong."""
    store = _first()
    ended(store, 2, OTHER_KEY, THIRD_KEY)
    ended(store, 3, THIRD_KEY, STRANGER)
    store.sign(STRANGER)
    yield Vector(
        name="epochs-of-a-second-signer",
        title="another signer begins a row of its own, whose first epoch ends before it has signed anything",
        section="19.8",
        files=_second_signer().files(),
        expect=sound_store(10),
    )
    for name, title, pinned in (
        ("epochs", "three epochs have ended, in the last of which nothing happened", None),
        ("epochs-pinned", "who knows the first epoch's key follows it to the newest", KEY),
        ("epochs-pinned-second", "who knows a later epoch's key follows it from there", OTHER_KEY),
    ):
        did = did_key(pinned.public) if pinned is not None else None
        yield Vector(name=name, title=title, section="19.8", files=store.files(), pinned=did, expect=sound_store(10))


def _second_signer() -> Store:
    store = _first()
    store.log("key_add", key=did_key(THIRD_KEY.public))
    ended(store, 1, THIRD_KEY, STRANGER, size=0, root=EMPTY_ROOT.hex())
    store.log("key_retire", key=did_key(OTHER_KEY.public))
    store.sign(STRANGER)
    return store


def _broken(n: int, rule: str) -> Expected:
    found = {"session": STORE, "n": n, "rule": rule}
    return sound_store(10) | {"exit": 2, "first_bad": found, "integrity": rule}


def broken_epochs() -> Iterator[Vector]:
    """Those in which an end does not follow from the one before it."""
    for name, title, number, by, said, rule in (
        ("epoch-missing", "the second epoch's end is not there", 3, OTHER_KEY, {}, "signature"),
        ("epoch-by-another-key", "an epoch's end is not signed by its key", 2, STRANGER, {}, "signature"),
        ("epoch-by-an-older-key", "an epoch's end is signed by the key of the one before it", 2, KEY, {}, "signature"),
        (
            "epoch-backdated",
            "an epoch began before the one before it ended",
            2,
            OTHER_KEY,
            {"began": moment(1)},
            "signature",
        ),
        ("epoch-ends-early", "an epoch ended before it began", 2, OTHER_KEY, {"ended": moment(1)}, "signature"),
        ("epoch-other-past", "the ledger is not what it was when an epoch ended", 2, OTHER_KEY, {"size": 2}, "head"),
        ("epoch-of-more", "an epoch ended over entries that come after its end", 2, OTHER_KEY, {"size": 6}, "head"),
    ):
        store = _first()
        n = ended(store, number, by, THIRD_KEY, **said)
        store.sign(THIRD_KEY)
        yield Vector(name=name, title=title, section="19.8", level="A2", files=store.files(), expect=_broken(n, rule))
    store = _first()
    store.log("key_add", key=did_key(THIRD_KEY.public))
    store.sign(THIRD_KEY)
    yield Vector(
        name="epoch-left-out-pinned",
        title="a key that no epoch's end leads to, for who pinned the first one",
        section="19.8",
        level="A2",
        files=store.files(),
        pinned=did_key(KEY.public),
        expect=bad_head(None, "signature", steps=10, authenticity="wrong key"),
    )
