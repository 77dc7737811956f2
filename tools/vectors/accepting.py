"""Vectors in which nothing is wrong: every form, kind and edge that a verifier must take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from tallystick.seal.hashes import commitment, salt
from tallystick.seal.keys import did_key
from tallystick.seal.line import BlobRef, parse_line
from tallystick.seal.note import sign_note
from tallystick.seal.redact import Redaction, line_text, redact, withhold
from tools.vectors.epochs import sound_epochs
from tools.vectors.maker import (
    KEY,
    OTHER_KEY,
    STORE,
    Files,
    Journal,
    Spec,
    Store,
    alpha,
    beta,
    journal_path,
    lone,
    session_id,
)
from tools.vectors.removed import taken_away
from tools.vectors.sessions import interrupted, trees
from tools.vectors.values import values
from tools.vectors.vector import Vector, sound_file, sound_store


def accepting() -> Iterator[Vector]:
    """All of them."""
    yield worked_example()
    yield from plain_stores()
    yield from redacted()
    yield from values()
    yield from trees()
    yield from interrupted()
    yield from taken_away()
    yield from heads()


def worked_example() -> Vector:
    """Section 18: the session, the ledger and the head."""
    session = Journal("000102030405060708090a0b0c0d0e0f")
    session.append(
        Spec(
            {"agent": "demo", "kind": "root", "recorded": "2026-01-02T03:04:05.000006Z", "source": "sdk"}
            | {"type": "session_start"},
            {"personal.cwd": "/home/dev"},
            seed=b"\x01" * 32,
        )
    )
    call = {"corr": "c1", "source": "sdk", "tool": "Bash"}
    session.append(
        Spec(
            call | {"recorded": "2026-01-02T03:04:06.000000Z", "source_id": "c1", "type": "tool_call"},
            {"content.args": {"command": "printf '%s' €", "timeout": 1.5}, "local.note": None},
            seed=b"\x02" * 32,
        )
    )
    session.append(
        Spec(
            call
            | {"recorded": "2026-01-02T03:04:07.000000Z", "source_id": "c1/result", "success": True}
            | {"type": "tool_result"},
            {},
            {"content.part_0": b"\x89PNG"},
            (1,),
            b"\x03" * 32,
        )
    )
    # Section 18 keeps "€" as a blob of 5 bytes, which a writer of ours would not: the line is put together by hand.
    by_hand = _with_json_blob(session, 2, "content.output", "€")
    ledger = Journal(STORE)
    start = {"key": did_key(KEY.public), "recorded": "2026-01-02T03:04:05.000000Z", "type": "store_start"}
    ledger.append(Spec(start, seed=b"\x04" * 32))
    head = {"closed": False, "recorded": "2026-01-02T03:04:08.000000Z", "root": session.root(3), "size": 3}
    ledger.append(Spec(head | {"session": session.sid, "type": "session_head"}, seed=b"\x05" * 32))
    files: Files = {
        "store/ledger.jsonl": ledger.text(),
        "store/heads/ledger.note": sign_note(STORE, 2, bytes.fromhex(ledger.root(2)), [KEY]),
        journal_path(session.sid): session.text(),
        **session.blobs("store/blobs"),
        **by_hand,
    }
    return Vector(
        name="worked-example",
        title="the worked example: a session of three steps, the ledger and its head",
        section="18",
        files=files,
        expect=sound_store(3, completeness="truncated"),
    )


def _with_json_blob(journal: Journal, n: int, name: str, value: str) -> Files:
    """Seal step `n` anew with one value more, kept as a JSON blob whatever its size; the blob's file."""
    spec = journal.specs[n]
    text = f'"{value}"'.encode()
    journal.specs[n:], journal.sealed[n:] = [], []
    journal.append(replace(spec, values={**spec.values, name: value}))
    sealed = journal.sealed[n]
    line = parse_line(sealed.line[:-1])
    assert line.seed is not None
    digest = commitment(name, "json", salt(bytes.fromhex(line.seed), name), text).hex()
    moved = msgspec.structs.replace(
        line,
        fields={key: item for key, item in line.fields.items() if key != name},
        blobs={**line.blobs, name: BlobRef(digest, "json", len(text))},
    )
    journal.sealed[n] = type(sealed)(line_text(moved) + b"\n", sealed.hash, sealed.n, sealed.blobs)
    return {f"store/blobs/{digest[:2]}/{digest}": text}


def plain_stores() -> Iterator[Vector]:
    yield Vector(
        name="store",
        title="two closed sessions, sealed and signed",
        section="14",
        files=Store(alpha(), beta()).seal().files(),
        expect=sound_store(10),
    )
    yield Vector(
        name="store-empty",
        title="a store that nothing was recorded in yet",
        section="9.2",
        files=Store().seal().files(),
        expect=sound_store(0),
    )
    yield Vector(
        name="store-pinned",
        title="the head is signed by the key that the verifier pinned",
        section="9.4",
        files=Store(alpha(), beta()).seal().files(),
        pinned=did_key(KEY.public),
        expect=sound_store(10),
    )
    yield Vector(
        name="store-unsigned",
        title="no head was ever signed: sound, but below A2",
        section="14",
        files=Store(alpha()).head(alpha()).files(),
        expect=sound_store(6, completeness="truncated", authenticity="unsigned", level="A1", unsealed=6, exit=3),
    )
    yield Vector(
        name="store-unsigned-a1",
        title="no head was ever signed, and A1 is all that is asked for",
        section="14",
        files=Store(alpha()).head(alpha()).files(),
        require="A1",
        expect=sound_store(6, completeness="truncated", authenticity="unsigned", level="A1", unsealed=6),
    )
    yield Vector(
        name="store-no-ledger",
        title="journals and no ledger: nothing says which sessions there were",
        section="14",
        files={journal_path(alpha().sid): alpha().text()},
        expect=sound_store(6, completeness="truncated", authenticity="unsigned", level="A1", unsealed=6, exit=3),
    )
    yield Vector(
        name="journal-in-another-month",
        title="readers find a journal by its name, in any month",
        section="1",
        files={path.replace("2026/01", "2031/12"): data for path, data in Store(alpha()).seal().files().items()},
        expect=sound_store(6),
    )
    yield Vector(
        name="lone-journal", title="one journal by itself", section="14", files=lone(alpha()), expect=sound_file(6)
    )
    yield Vector(
        name="lone-journal-a2",
        title="a lone journal can never be A2",
        section="14",
        files=lone(alpha()),
        require="A2",
        expect=sound_file(6, exit=3),
    )
    yield Vector(
        name="lone-ledger",
        title="a ledger by itself is a journal like any other",
        section="9.2",
        files={"journal.jsonl": Store(alpha(), beta()).seal().ledger.text()},
        expect=sound_file(3),
    )


def private() -> Journal:
    """A session with values of every class, a blob and a step of nothing but `meta`."""
    journal = Journal(session_id("private"))
    journal.add(
        "session_start",
        {"personal.cwd": "/home/dev", "personal.user": "dev", "local.source": {"path": "/home/dev/a.jsonl"}},
        agent="demo",
        kind="root",
    )
    journal.add("user", {"content.text": "Read the picture", "content.meta": {"entropy": 0.85}}, source_id="u1")
    journal.add("tool_result", raw={"content.part_0": b"\x89PNG\r\n\x1a\n"}, source_id="c1/result")
    journal.add("feedback", {"local.source": {"path": "/home/dev/b"}}, source_id="f1")
    journal.add("session_end", status="completed")
    return journal


def redacted() -> Iterator[Vector]:
    journal = private()
    for level, withheld in ((Redaction.NONE, 2), (Redaction.CONTENT, 7), (Redaction.FULL, 0)):
        text = b"".join(line_text(redact(parse_line(item.line[:-1]), level)) + b"\n" for item in journal.sealed)
        blobs = journal.blobs("blobs") if level is Redaction.NONE else {}
        yield Vector(
            name=f"redacted-{level.value}",
            title=f"the same journal as in redacted-*, at level {level.value}: same hashes, same root",
            section="10",
            files={"journal.jsonl": text, **blobs},
            redaction=level.value,
            expect=sound_file(5, withheld=withheld),
        )
    forms = [withhold(parse_line(item.line[:-1]), frozenset({"meta"})) for item in journal.sealed[:2]]
    mixed = [line_text(withhold(form, frozenset(form.fields) | frozenset(form.blobs))) + b"\n" for form in forms]
    rest = [line_text(redact(parse_line(item.line[:-1]), Redaction.FULL)) + b"\n" for item in journal.sealed[2:]]
    yield Vector(
        name="redacted-mixed-forms",
        title="opaque and bare lines in one file, with no level promised",
        section="2",
        files={"journal.jsonl": b"".join(mixed + rest)},
        expect=sound_file(5, withheld=7),
    )


def heads() -> Iterator[Vector]:
    store = Store(alpha(), beta())
    older = store.sign()
    store.seal()
    yield Vector(
        name="remembered-head",
        title="the ledger extends the head that the verifier remembers",
        section="14",
        files=store.files(),
        remembered=older,
        expect=sound_store(10),
    )
    yield from rotation()
    yield from sound_epochs()
    cosigned = Store(alpha()).seal()
    assert cosigned.note is not None
    other = sign_note("ab" * 16, 9, b"\x01" * 32, [OTHER_KEY]).decode().splitlines()[-1]
    files = cosigned.files()
    files["store/heads/ledger.note"] = cosigned.note + f"{other}\n".encode()
    yield Vector(
        name="68-unknown-cosignature",
        title="a signature by a key that nobody here knows is ignored, wherever it was taken from",
        case=68,
        section="9.4",
        files=files,
        expect=sound_store(6),
    )


def rotation() -> Iterator[Vector]:
    store = Store(alpha(), beta())
    store.head(alpha())
    store.log("key_add", key=did_key(OTHER_KEY.public))
    store.sign(KEY, OTHER_KEY)
    yield Vector(
        name="key-added",
        title="a second key joins: the head that covers `key_add` carries both signatures",
        section="9.4",
        files={path: data for path, data in store.files().items() if beta().sid not in path},
        expect=sound_store(6),
    )
    store.log("key_retire", key=did_key(KEY.public))
    store.head(beta())
    store.sign(OTHER_KEY)
    yield Vector(
        name="key-rotated",
        title="the first key has retired, the second signs alone",
        section="9.4",
        files=store.files(),
        expect=sound_store(10),
    )
    yield Vector(
        name="key-rotated-pinned",
        title="a verifier that pinned the second key needs no other",
        section="9.4",
        files=store.files(),
        pinned=did_key(OTHER_KEY.public),
        expect=sound_store(10),
    )
