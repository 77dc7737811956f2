"""Vectors on which verifiers once differed, and those in which something was made too large or unreadable.

What a head covers is then tampered with, and not malformed: anyone who may write to a store could else turn a finding (exit
2) into a file that is merely broken (4).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from tools.vectors.altered import A
from tools.vectors.maker import Journal, Store, alpha, edited, journal_path, open_session, session_id
from tools.vectors.vector import Vector, bad_file, bad_head, bad_store, sound_store

_DEEP = b"[" * 65 + b"]" * 65


def under_a_head() -> Iterator[Vector]:
    """All of them."""
    yield from entries()
    yield from ledgers()
    yield from tails()
    yield from names_of_keys()
    yield retention()


def _over(text: bytes, n: int) -> bytes:
    """A journal's bytes with line `n` nested too deep."""
    return edited(text, n, b'"parents":[', b'"parents":[' + _DEEP)


def _in_store(name: str, title: str, text: bytes, n: int, rule: str, exit_: int = 2) -> Vector:
    """A sealed session alpha, with other bytes."""
    return Vector(
        name=name,
        title=title,
        section="19.2",
        level="A2",
        files=Store(alpha()).seal().files() | {journal_path(A): text},
        expect=bad_store(A, n, rule, steps=n, exit=exit_),
    )


def entries() -> Iterator[Vector]:
    text = alpha().text()
    yield _in_store("limit-under-head", "an entry that a head covers is over a limit", _over(text, 3), 3, "limit")
    version = edited(text, 3, b'"v":1', b'"v":2')
    yield _in_store("version-under-head", "one entry that a head covers has another version", version, 3, "version")
    later = text.replace(b'"v":1', b'"v":2')
    yield _in_store("version-of-a-whole-session", "a journal of version 2", later, 0, "version", 4)
    prose = text.replace(b"{", b"<", 1)
    yield _in_store("no-journal-under-head", "entry 0 is not a line of ours, and a head covers it", prose, 0, "line")
    grown = open_session(5)
    yield Vector(
        name="limit-beyond-head",
        title="an entry that no head covers yet is over a limit",
        section="19.2",
        files=Store(open_session()).seal().files() | {journal_path(grown.sid): _over(grown.text(), 4)},
        expect=bad_store(grown.sid, 4, "limit", steps=4, exit=4, unsealed=1),
    )


def ledgers() -> Iterator[Vector]:
    store = Store(alpha()).seal()
    files = store.files()
    assert store.note is not None
    yield Vector(
        name="limit-in-ledger",
        title="a ledger entry that the head covers is over a limit",
        section="19.2",
        level="A2",
        files=files | {"store/ledger.jsonl": _over(store.ledger.text(), 1)},
        expect=bad_head(1, "limit", steps=6),
    )
    signature = store.note.splitlines(keepends=True)[-1]
    yield Vector(
        name="note-large",
        title="the head has more than 1 MiB: whatever it said, it is not what was signed",
        section="19.2",
        level="A2",
        files=files | {"store/heads/ledger.note": store.note + signature * ((1 << 20) // len(signature))},
        expect=bad_head(None, "limit", steps=6, exit=2),
    )


def tails() -> Iterator[Vector]:
    text = alpha().text()
    for name, length in (("tail-of-the-most", 1 << 20), ("tail-too-long", (1 << 20) + 1)):
        is_torn = length <= 1 << 20
        yield Vector(
            name=name,
            title="bytes without LF after the last line, as many as a torn line can have"
            + " and one more" * (not is_torn),
            section="19.9",
            files={"journal.jsonl": text + bytes(length)},
            expect=bad_file(A, 6, "limit") | ({"first_bad": None, "integrity": "intact", "exit": 0} if is_torn else {}),
        )


def names_of_keys() -> Iterator[Vector]:
    """What a space is, programming languages do not agree on: the format has Unicode's White_Space."""
    for name, mark, is_space in (("next-line", "\u0085", True), ("zero-width", "\ufeff", False)):
        store = Store(alpha()).seal()
        assert store.note is not None
        line = f"— some{mark}one {base64.b64encode(bytes(68)).decode()}\n".encode()
        expect = bad_head(None, "signature", steps=6) if is_space else sound_store(6)
        yield Vector(
            name=f"key-name-with-{name}",
            title=f"an unknown key's name has U+{ord(mark):04X}, which is {'' if is_space else 'no '}white space",
            section="19.4",
            level="A2" if is_space else None,
            files=store.files() | {"store/heads/ledger.note": store.note + line},
            expect=expect,
        )


def retention() -> Vector:
    journal = Journal(session_id("kept"))
    journal.add("session_start", agent="demo", kind="root")
    journal.add("session_end", status="completed")
    store = Store(journal)
    store.head(journal)
    store.log("retention", rule="after-2-years", action="compress")
    store.sign()
    return Vector(
        name="retention-unknown-action",
        title="a retention of a kind that is not known yet: it releases nothing",
        section="19.3",
        files=store.files(),
        expect=sound_store(2),
    )
