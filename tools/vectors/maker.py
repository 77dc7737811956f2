"""Journals and stores made to order, byte for byte the same each time.

Owns the fixed keys, clock and seeds that the vectors are made with. Must not know what any vector is about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from tallystick.seal.canonical import canonical
from tallystick.seal.hashes import genesis
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.line import Sealed, Slot, seal_texts
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note

KEY_SECRET, OTHER_SECRET = bytes(range(32)), bytes(range(32, 64))
KEY = SigningKey(KEY_SECRET)
OTHER_KEY = SigningKey(OTHER_SECRET)
STORE = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
MIDNIGHT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

Files = dict[str, bytes]
"""The files of one vector, by their path below its folder."""


class Held:
    """Lines in memory, with a torn tail."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.torn = 0

    def __iter__(self) -> Iterator[bytes]:
        *lines, rest = self._text.split(b"\n")
        yield from lines
        self.torn = len(rest)


def session_id(word: str) -> str:
    """A session's id, made from a word."""
    return sha256(f"session {word}".encode()).hexdigest()[:32]


def moment(seconds: int) -> str:
    """A time so many seconds after the clock's start."""
    return (MIDNIGHT + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True)
class Spec:
    """One step before it is sealed. A parent is the `n` of an earlier step, or text that goes in as it is."""

    meta: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)
    raw: Mapping[str, bytes] = field(default_factory=dict)
    parents: tuple[int | str, ...] = ()
    seed: bytes | None = None


class Journal:
    """A journal that seals each step as it is added."""

    def __init__(self, sid: str, specs: Iterable[Spec] = ()) -> None:
        self.sid = sid
        self.specs: list[Spec] = []
        self.sealed: list[Sealed] = []
        for spec in specs:
            self.append(spec)

    def append(self, spec: Spec) -> int:
        """Seal a step after the others; its number."""
        n = len(self.sealed)
        self.specs.append(spec)
        self.sealed.append(
            seal_texts(
                Slot(
                    self.sid,
                    n,
                    self.sealed[-1].hash if n else genesis(self.sid),
                    tuple(self.hash(item) if isinstance(item, int) else item for item in spec.parents),
                ),
                seed=spec.seed or sha256(f"seed {self.sid} {n}".encode()).digest(),
                json={
                    name: canonical(value)
                    for name, value in {"meta": {"recorded": moment(n), **spec.meta}, **spec.values}.items()
                },
                raw=spec.raw,
            )
        )
        return n

    def add(
        self,
        kind: str,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        parents: tuple[int | str, ...] = (),
        raw: Mapping[str, bytes] | None = None,
        seed: bytes | None = None,
        **meta: Any,
    ) -> int:
        """Add a session's step of some type, with these members of `meta`."""
        members = {"type": kind, "source": "sdk", **meta}
        return self.append(Spec(members, values or {}, raw or {}, parents, seed))

    def hash(self, n: int) -> str:
        return self.sealed[n].hash.hex()

    def reference(self, n: int) -> str:
        """How another session names step `n`."""
        return f"{self.sid}#{self.hash(n)}"

    def root(self, size: int) -> str:
        return merkle_root([line.hash for line in self.sealed[:size]]).hex()

    def text(self, size: int | None = None) -> bytes:
        """The file's bytes."""
        return b"".join(line.line for line in self.sealed[:size])

    def blobs(self, folder: str) -> Files:
        """The blob files, below `folder`."""
        return {
            f"{folder}/{blob.commitment[:2]}/{blob.commitment}": blob.data
            for line in self.sealed
            for blob in line.blobs
        }

    def rewritten(self, change: Callable[[list[Spec]], list[Spec]]) -> Journal:
        """What an attacker makes who changes the steps and seals them all anew: the chain is whole again."""
        return Journal(self.sid, change(list(self.specs)))


class Store:
    """A store: sessions, the ledger over them, and signed heads over the ledger."""

    def __init__(self, *journals: Journal, keys: tuple[SigningKey, ...] = (KEY,), key: str | None = None) -> None:
        self.journals = {journal.sid: journal for journal in journals}
        self.keys = keys
        self.ledger = Journal(STORE)
        self.note: bytes | None = None
        self.log("store_start", key=key or did_key(keys[0].public))

    def log(self, kind: str, values: Mapping[str, Any] | None = None, /, **meta: Any) -> int:
        """Append a ledger entry."""
        return self.ledger.append(Spec({"type": kind, **meta}, values or {}))

    def head(self, journal: Journal, size: int | None = None) -> Store:
        """Append the `session_head` of a journal, all of it unless `size` says how much."""
        size = len(journal.sealed) if size is None else size
        closed = size > 0 and journal.specs[size - 1].meta["type"] == "session_end"
        root = journal.root(size)
        self.log("session_head", session=journal.sid, size=size, root=root, closed=closed)
        return self

    def sign(self, *keys: SigningKey) -> bytes:
        """Sign a head over the ledger as it is; it becomes the store's note."""
        size = len(self.ledger.sealed)
        self.note = sign_note(STORE, size, bytes.fromhex(self.ledger.root(size)), keys or self.keys)
        return self.note

    def seal(self) -> Store:
        """A head for every journal, and a signature over all."""
        for journal in self.journals.values():
            self.head(journal)
        self.sign()
        return self

    def files(self) -> Files:
        found: Files = {"store/ledger.jsonl": self.ledger.text()}
        if self.note is not None:
            found["store/heads/ledger.note"] = self.note
        for journal in self.journals.values():
            found[journal_path(journal.sid)] = journal.text()
            found |= journal.blobs("store/blobs")
        return found | self.ledger.blobs("store/blobs")


def journal_path(sid: str) -> str:
    """Where the store keeps a journal."""
    return f"store/journals/2026/01/{sid}.jsonl"


def lone(journal: Journal, name: str = "journal.jsonl") -> Files:
    """A journal by itself, with its blobs beside it."""
    return {name: journal.text(), **journal.blobs("blobs")}


# Three sessions that most vectors start from --------------------------------------------------------------------------


def alpha() -> Journal:
    """Six steps: a prompt, an answer, a tool call and its result, closed."""
    journal = Journal(session_id("alpha"))
    journal.add("session_start", {"personal.cwd": "/home/dev/notes"}, agent="demo", kind="root", source_session="s-1")
    journal.add("user", {"content.text": "Count the words in notes.txt"}, source_id="u1")
    journal.add(
        "assistant",
        {"content.text": "I will count them.", "content.thinking": "wc does that"},
        source_id="a1",
        model="demo-1",
        tokens={"input": 12, "output": 7},
    )
    journal.add(
        "tool_call",
        {"content.args": {"command": "wc -w notes.txt", "retries": 1, "timeout": 1.5}},
        source_id="c1",
        corr="c1",
        tool="Bash",
    )
    journal.add(
        "tool_result",
        {"content.output": "42 notes.txt\n", "content.error": ""},
        parents=(3,),
        source_id="c1/result",
        corr="c1",
        success=True,
    )
    journal.add("session_end", status="completed")
    return journal


def beta() -> Journal:
    """Four steps, closed."""
    journal = Journal(session_id("beta"))
    journal.add("session_start", {"personal.user": "dev"}, agent="demo", kind="root", source_session="s-2")
    journal.add("user", {"content.text": "What is 6 times 7?"}, source_id="u1")
    journal.add("assistant", {"content.text": "42"}, source_id="a1", model="demo-1")
    journal.add("session_end", status="completed")
    return journal


def open_session(steps: int = 3) -> Journal:
    """A session that goes on: a start and prompts."""
    journal = Journal(session_id("open"))
    journal.add("session_start", agent="demo", kind="root", source_session="s-3")
    for number in range(1, steps):
        journal.add("user", {"content.text": f"prompt {number}"}, source_id=f"u{number}")
    return journal


# Tampering ------------------------------------------------------------------------------------------------------------


def edited(text: bytes, n: int, old: bytes, new: bytes) -> bytes:
    """`text` with `old` replaced, once, by `new` in line `n`."""
    lines = text.splitlines(keepends=True)
    if old not in lines[n]:
        raise ValueError(f"line {n} has no {old!r}")
    lines[n] = lines[n].replace(old, new, 1)
    return b"".join(lines)


def changed(text: bytes, n: int, change: Callable[[dict[str, Any]], None]) -> bytes:
    """`text` with line `n` parsed, changed and written in canonical form again. Its hash no longer fits."""
    lines = text.split(b"\n")
    value = json.loads(lines[n])
    change(value)
    lines[n] = canonical(value)
    return b"\n".join(lines)


def with_spec(n: int, **members: Any) -> Callable[[list[Spec]], list[Spec]]:
    """A rewriting that replaces members of spec `n`."""

    def change(specs: list[Spec]) -> list[Spec]:
        specs[n] = replace(specs[n], **members)
        return specs

    return change
