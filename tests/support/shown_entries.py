"""Ledgers as a signer is shown them: lines that follow from one another, and requests to have them signed."""

from __future__ import annotations

import base64
from functools import lru_cache
from hashlib import sha256

from tallystick.model.step import Json
from tallystick.seal.extension import Request
from tallystick.seal.hashes import genesis
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.line import Sealed, Slot, seal_line, skim
from tallystick.seal.merkle import merkle_root

STORE = "ab" * 16
NOW = "2026-01-01T00:00:00.000000Z"
STORE_KEY = SigningKey(b"\x17" * 32)
"""The key that the ledger begins with."""


def hashes(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The leaves of the tree."""
    found = [skim(line) for line in lines]
    assert all(found)
    return tuple(entry.hash for entry in found if entry is not None)


def root(lines: tuple[bytes, ...]) -> bytes:
    return merkle_root(hashes(lines))


def more(
    before: tuple[bytes, ...], meta: dict[str, Json], *, store: str = STORE, salt: int = 0, **values: Json
) -> Sealed:
    """The entry after some others. `values` are called by their names below `content`."""
    prev = hashes(before[-1:])[0] if before else genesis(store)
    seed = sha256(prev + salt.to_bytes(4, "big") + repr(meta).encode()).digest()
    named = {f"content.{name}": value for name, value in values.items()}
    return seal_line(Slot(store, len(before), prev), seed=seed, values={"meta": {"recorded": NOW, **meta}, **named})


def grown(before: tuple[bytes, ...], *metas: dict[str, Json], store: str = STORE, salt: int = 0) -> tuple[bytes, ...]:
    """A ledger with some more entries."""
    for meta in metas:
        before = (*before, more(before, meta, store=store, salt=salt).line[:-1])
    return before


def head(size: int, session: str = "5e" * 16) -> dict[str, Json]:
    return {"type": "session_head", "session": session, "size": size, "root": "0" * 64, "closed": False}


@lru_cache(maxsize=256)
def ledger(count: int, seed: int = 0, after: tuple[bytes, ...] = (), store: str = STORE) -> tuple[bytes, ...]:
    """The first so many lines of a ledger; those of another seed are others, from the end of `after` on."""
    for n in range(len(after), count):
        start: dict[str, Json] = {"type": "store_start", "key": did_key(STORE_KEY.public)}
        after = grown(after, start if n == 0 else head(n), store=store, salt=seed)
    return after


def asked(lines: tuple[bytes, ...], old: int, known: bytes | None = None, *, store: str = STORE) -> Request:
    """A request to have a ledger signed that had `old` entries when it was signed last."""
    return Request(store_id=store, old_size=old, size=len(lines), root=root(lines), entries=lines[old:], known=known)


def asked_by_hashes(lines: tuple[bytes, ...], old: int) -> bytes:
    """A request as a recorder of before makes it."""
    text = b"".join(base64.b64encode(leaf) + b"\n" for leaf in hashes(lines[old:]))
    head_text = f"tallystick/{STORE}\n{len(lines)}\n{base64.b64encode(root(lines)).decode()}\n".encode()
    return b"old %d\n%b\n%b\n" % (old, text, head_text)
