"""What an attacker can do with a store's files and this program's own code: make lines, chains, ledgers and heads anew.

Runs as the agent's user, in a process of its own, with nothing but the library beside it.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.journal.home import Home
from tallystick.seal.hashes import genesis
from tallystick.seal.keys import SigningKey
from tallystick.seal.line import Slot, parse_line, seal_line
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import parse_note, sign_note

Values = dict[str, Any]
Edit = Callable[[int, Values], Values | None]
"""What becomes of the values of entry n; None: the entry is left out."""


def same(_: int, values: Values) -> Values:
    return values


class Forged:
    """A journal made anew: its lines, and the hash of each entry."""

    def __init__(self, sid: str, lines: Iterable[bytes], edit: Edit, renamed: dict[str, str] | None = None) -> None:
        self.sid = sid
        self.lines: list[bytes] = []
        self.hashes: list[bytes] = []
        self.renamed = renamed if renamed is not None else {}
        """Old hash to new hash, over all journals that are made anew."""
        prev = genesis(sid)
        for text in lines:
            line = parse_line(text)
            values = edit(line.entry.n, dict(line.fields))
            if values is None:
                continue
            parents = tuple(
                f"{session}#{self.renamed.get(digest, digest)}" if mark else self.renamed.get(session, session)
                for session, mark, digest in (parent.partition("#") for parent in line.entry.parents)
            )
            sealed = seal_line(
                Slot(sid, len(self.lines), prev, parents), seed=bytes.fromhex(line.seed or "00" * 32), values=values
            )
            self.renamed[_hash(text).hex()] = sealed.hash.hex()
            self.lines.append(sealed.line)
            self.hashes.append(sealed.hash)
            prev = sealed.hash

    def root(self, size: int | None = None) -> bytes:
        return merkle_root(self.hashes[: len(self.hashes) if size is None else size])

    def write(self, path: Path) -> None:
        path.write_bytes(b"".join(self.lines))


def _hash(text: bytes) -> bytes:
    from tallystick.seal.line import hash_of

    return hash_of(parse_line(text).entry)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def journals(home: Home) -> list[tuple[str, Path]]:
    return sorted((str(sid), path) for sid, path in home.sessions())


class Thief:
    """The agent's user: what it can reach of a store, and how it signs."""

    def __init__(self, folder: str, seed: int) -> None:
        self.home = Home(Path(folder))
        self.seed = seed
        self.store = parse_line(lines_of(self.home.ledger)[0]).entry.sid

    def key(self) -> SigningKey:
        """The store's key if it can be read, else one of the attacker's own."""
        if self.home.key.exists():
            return SigningKey(bytes.fromhex(self.home.key.read_text("ascii")))
        return SigningKey(sha256(b"attacker %d" % self.seed).digest())

    def pick(self, count: int, salt: str = "") -> int:
        return int.from_bytes(sha256(f"{self.seed}/{salt}".encode()).digest()[:4], "big") % count

    def rewrite(self, edits: dict[str, Edit], ledger: Edit = same) -> None:
        """Rewrite journals, then the ledger over them, then have it signed by whatever key there is."""
        renamed: dict[str, str] = {}
        forged: dict[str, Forged] = {}
        for sid, path in journals(self.home):
            forged[sid] = Forged(sid, lines_of(path), edits.get(sid, same), renamed)
            forged[sid].write(path)

        def follow(n: int, values: Values) -> Values | None:
            edited = ledger(n, values)
            meta = edited.get("meta", {}) if edited is not None else {}
            if edited is None or meta.get("type") != "session_head":
                return edited
            found = forged.get(meta["session"])
            if found is None:
                return None
            size = min(meta["size"], len(found.hashes))
            return {**edited, "meta": {**meta, "size": size, "root": found.root(size).hex()}}

        made = Forged(self.store, lines_of(self.home.ledger), follow)
        made.write(self.home.ledger)
        self.sign(made)

    def sign(self, ledger: Forged | None = None) -> None:
        """Sign the ledger as it is."""
        found = ledger or Forged(self.store, lines_of(self.home.ledger), same)
        self.home.note.write_bytes(sign_note(self.store, len(found.hashes), found.root(), [self.key()]))

    def ask_signer(self, data: bytes) -> bytes:
        """Ask the store's signer, as any process of this user may."""
        place = json.loads((self.home.key.parent / "signer.json").read_bytes())["socket"]
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(10)
            connection.connect(place)
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    @property
    def signed_size(self) -> int:
        return parse_note(self.home.note.read_bytes()).size


class Register(dict[str, Callable[[Thief], None]]):
    """Attacks by name: it decorates each, and knows what its first line says."""

    def __call__(self, function: Callable[[Thief], None]) -> Callable[[Thief], None]:
        self[function.__name__] = function
        return function

    def told(self, name: str) -> str:
        return (self[name].__doc__ or "").strip().rstrip(".")
