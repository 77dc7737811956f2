"""Vectors in which whole journals, ledgers or heads were rewritten (cases 46 to 76 of the plan).

A chain can be made anew by whoever can write the file, so most of this is invisible in a lone file: it stands there as
accepted, with the level that finds it, and refused in a store beside it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace

from tallystick.seal.keys import PublicKey, did_key, key_id
from tallystick.seal.note import note_text, sign_note
from tools.vectors.epochs import broken_epochs
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
    edited,
    journal_path,
    lone,
    open_session,
    session_id,
)
from tools.vectors.vector import Vector, bad_file, bad_head, bad_store, sound_file, sound_store

A, B = session_id("alpha"), session_id("beta")
LOW_ORDER = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


def rewriting() -> Iterator[Vector]:
    """All of them."""
    yield from truncated()
    yield from rechained()
    yield from taken_back()
    yield from ledgers()
    yield from notes()
    yield from keys()
    yield from broken_epochs()


def _sealed() -> Files:
    return Store(alpha(), beta()).seal().files()


def _with(sid: str, text: bytes) -> Files:
    """The store of alpha and beta with another file for one session."""
    return _sealed() | {journal_path(sid): text}


def _both(
    case: int, name: str, title: str, journal: Journal, found: tuple[int, str], *, end: bool = True
) -> Iterator[Vector]:
    """One rewriting of session alpha: unseen in a lone file, found in the store."""
    n, rule = found
    size = len(journal.sealed)
    yield Vector(
        name=f"{case}-{name}",
        title=f"{title}: a lone file cannot tell",
        case=case,
        section="14",
        level="A2",
        files=lone(journal),
        expect=sound_file(size),
    )
    yield Vector(
        name=f"{case}-{name}",
        title=title,
        case=case,
        section="14",
        level="A2",
        files=_with(A, journal.text()),
        expect=bad_store(A, n, rule, steps=4 + n, unsealed=0),
    )


def long_session() -> Journal:
    """Thirteen steps."""
    journal = open_session(12)
    journal.add("session_end", status="completed")
    return journal


def truncated() -> Iterator[Vector]:
    yield from _both(46, "cut-1", "the last entry was cut off", Journal(A, alpha().specs[:5]), (5, "cut"))
    journal = long_session()
    yield Vector(
        name="47-cut-10",
        title="the last ten entries were cut off: a lone file cannot tell",
        case=47,
        section="14",
        level="A2",
        files={"journal.jsonl": journal.text(3)},
        expect=sound_file(3),
    )
    yield Vector(
        name="47-cut-10",
        title="the last ten entries were cut off",
        case=47,
        section="14",
        level="A2",
        files=Store(journal).seal().files() | {journal_path(journal.sid): journal.text(3)},
        expect=bad_store(journal.sid, 3, "cut", steps=3),
    )
    yield Vector(
        name="39-torn-below-head",
        title="a torn last line where a head says that there was a whole one",
        case=39,
        section="14",
        level="A2",
        files=_with(A, alpha().text()[:-1]),
        expect=bad_store(A, 5, "cut", steps=9),
    )
    yield Vector(
        name="48-empty-file",
        title="an empty file is no journal",
        case=48,
        section="14",
        files={"journal.jsonl": b""},
        expect=bad_file(None, 0, "line"),
    )
    yield Vector(
        name="48-empty-file-in-store",
        title="a journal was emptied",
        case=48,
        section="14",
        level="A2",
        files=_with(A, b""),
        expect=bad_store(A, 0, "cut", steps=4),
    )
    broken = edited(alpha().text(4), 2, b"count them", b"count us")
    yield Vector(
        name="cut-and-edited",
        title="an entry was changed and the end cut off: the change is reported, and the journal is cut",
        section="14",
        files=_with(A, broken),
        expect=bad_store(A, 2, "fields", steps=6, completeness="cut"),
    )


def _edit_prompt(specs: list[Spec]) -> list[Spec]:
    specs[1] = replace(specs[1], values={"content.text": "Count the words in novel.txt"})
    return specs


def rechained() -> Iterator[Vector]:
    extra = Spec({"type": "user", "source": "sdk", "source_id": "u9"}, {"content.text": "and the letters"})
    edits = alpha().rewritten(_edit_prompt)
    yield from _both(49, "edit-rechained", "a prompt was changed and the chain made anew", edits, (5, "head"))
    fewer = alpha().rewritten(lambda specs: [*specs[:2], *specs[3:4], replace(specs[4], parents=(2,)), specs[5]])
    yield from _both(50, "delete-rechained", "an entry was taken out and the chain made anew", fewer, (5, "cut"))
    more = alpha().rewritten(lambda specs: [*specs[:3], extra, specs[3], replace(specs[4], parents=(4,)), specs[5]])
    yield from _both(51, "insert-rechained", "an entry was put in and the chain made anew", more, (5, "head"))
    swapped = alpha().rewritten(lambda specs: [specs[0], specs[2], specs[1], *specs[3:]])
    yield from _both(
        52, "reorder-rechained", "two entries changed places and the chain was made anew", swapped, (5, "head")
    )
    invented = Journal(A)
    invented.add("session_start", agent="demo", kind="root", source_session="s-1")
    for number in range(1, 5):
        invented.add("user", {"content.text": f"nothing {number}"}, source_id=f"u{number}")
    invented.add("session_end", status="completed")
    yield from _both(53, "fabricated", "the whole journal was invented", invented, (5, "head"))
    grown = open_session(5)
    yield Vector(
        name="54-tail-appended",
        title="two entries were appended: no level can tell them from the agent's own; they count as unsealed",
        case=54,
        section="14",
        files=Store(open_session()).seal().files() | {journal_path(grown.sid): grown.text()},
        expect=sound_store(5, completeness="truncated", unsealed=2),
    )


def taken_back() -> Iterator[Vector]:
    gone = {path: data for path, data in _sealed().items() if A not in path}
    yield Vector(
        name="55-session-deleted",
        title="a whole session was deleted",
        case=55,
        section="14",
        level="A2",
        files=gone,
        expect=bad_store(A, None, "missing", steps=4),
    )
    store = Store(alpha(), beta())
    store.head(alpha()).head(beta())
    ledger = store.ledger
    note = store.sign()
    forgotten = Store(beta())
    forgotten.head(beta())
    yield Vector(
        name="55-session-and-ledger-lines-deleted",
        title="a session was deleted and the ledger made anew without it, under the old head",
        case=55,
        section="14",
        level="A2",
        files=forgotten.files() | {"store/heads/ledger.note": note},
        expect=bad_head(2, "cut", steps=4),
    )
    tail_gone = store.files() | {journal_path(A): alpha().text(3), "store/ledger.jsonl": ledger.text(1)}
    del tail_gone["store/heads/ledger.note"]
    what = "the head, the ledger's tail and the journal's tail were deleted together"
    unsigned = {"completeness": "truncated", "authenticity": "unsigned", "level": "A1"}
    yield Vector(
        name="56-head-and-tails-deleted",
        title=f"{what}: what is left is sound, and below A2",
        case=56,
        section="14",
        level="A2+remembered head",
        files=tail_gone,
        expect=sound_store(7, **unsigned, unsealed=7, exit=3),
    )
    yield Vector(
        name="56-head-and-tails-deleted",
        title=f"{what}; the verifier remembers a head",
        case=56,
        section="14",
        level="A2+remembered head",
        files=tail_gone,
        remembered=note,
        expect=bad_head(1, "cut", steps=7),
    )
    yesterday = Store(alpha())
    old_note = yesterday.seal().note
    assert old_note is not None
    yield Vector(
        name="57-backup-restored",
        title="everything was set back to yesterday's backup: sound by itself",
        case=57,
        section="14",
        level="A2+remembered head",
        files=yesterday.files(),
        expect=sound_store(6),
    )
    yield Vector(
        name="57-backup-restored",
        title="everything was set back to yesterday's backup; the verifier remembers today's head",
        case=57,
        section="14",
        level="A2+remembered head",
        files=yesterday.files(),
        remembered=note,
        expect=bad_head(2, "cut", steps=6, authenticity="signed", level="A2", unsealed=0),
    )
    files = _sealed()
    files[journal_path(A)], files[journal_path(B)] = files[journal_path(B)], files[journal_path(A)]
    first = min(A, B)
    yield Vector(
        name="59-files-swapped",
        title="two sessions' files changed names",
        case=59,
        section="5",
        files=files,
        expect=bad_store(first, 0, "sid", steps=0, completeness="cut"),  # the shorter file is where six entries were
    )
    fork = Store(alpha(), beta())
    fork.head(beta()).head(alpha()).sign()
    yield Vector(
        name="remembered-head-of-another-history",
        title="the ledger has the size that the verifier remembers, and another root",
        section="14",
        level="A2+remembered head",
        files=fork.files(),
        remembered=note,
        expect=bad_head(2, "head", steps=10, authenticity="signed", level="A2", completeness="sealed", unsealed=0),
    )


def ledgers() -> Iterator[Vector]:
    files = _sealed()
    first, last = files["store/ledger.jsonl"], Store(alpha(), beta()).seal().ledger
    yield Vector(
        name="ledger-edited",
        title="a session head in the ledger was changed",
        section="14",
        files=files | {"store/ledger.jsonl": edited(first, 1, b'"size":6', b'"size":5')},
        expect=bad_head(1, "fields", steps=10),
    )
    yield Vector(
        name="ledger-deleted",
        title="the ledger was deleted and its head left",
        section="14",
        level="A2",
        files={path: data for path, data in files.items() if path != "store/ledger.jsonl"},
        expect=bad_head(0, "cut", steps=10),
    )
    yield Vector(
        name="ledger-cut",
        title="the ledger's last entry was cut off",
        section="14",
        level="A2",
        files=files | {"store/ledger.jsonl": last.text(2)},
        expect=bad_head(2, "cut", steps=10),
    )
    rewritten = Store(alpha().rewritten(_edit_prompt), beta())
    for journal in rewritten.journals.values():
        rewritten.head(journal)
    yield Vector(
        name="ledger-rechained",
        title="a prompt was changed, its chain, its head and the ledger made anew, under the old signature",
        section="14",
        level="A2",
        files=rewritten.files() | {"store/heads/ledger.note": files["store/heads/ledger.note"]},
        expect=bad_head(2, "head", steps=10),
    )
    falling = Store(alpha())
    falling.head(alpha()).head(alpha(), 4).sign()
    yield Vector(
        name="61-size-falls",
        title="the sizes of one session fall in the ledger",
        case=61,
        section="9.3",
        level="A2",
        files=falling.files(),
        expect=bad_head(2, "head", steps=6, authenticity="signed", level="A2", completeness="sealed", unsealed=0),
    )
    lying = Store(alpha(), beta())
    wrong_root = beta().root(4)
    lying.log("session_head", session=A, size=6, root=wrong_root, closed=True)
    lying.head(beta()).sign()
    yield Vector(
        name="64-head-of-another-session",
        title="a session head with the root of another session",
        case=64,
        section="14",
        level="A2",
        files=lying.files(),
        expect=bad_store(A, 5, "head", steps=9),
    )
    headless = Journal(STORE)
    headless.append(Spec({"type": "session_head", "session": A, "size": 6, "root": alpha().root(6), "closed": True}))
    start = Store(alpha()).files() | {"store/ledger.jsonl": headless.text()}
    yield Vector(
        name="ledger-without-start",
        title="the ledger does not begin with store_start",
        section="7",
        files=start,
        expect=bad_head(0, "order", steps=6),
    )
    shapeless = Store(alpha())
    shapeless.log("session_head", session=A, size="six", root="0" * 64)
    yield Vector(
        name="ledger-member-malformed",
        title="a session head without a number for its size",
        section="9.2",
        files=shapeless.files(),
        expect=bad_head(1, "class", steps=6),
    )


def _note(name: str, title: str, note: bytes, case: int | None, rule: str = "signature", **other: object) -> Vector:
    """The store of alpha and beta under another head."""
    return Vector(
        name=f"{case}-{name}" if case else name,
        title=title,
        case=case,
        section="9.4",
        level="A2",
        files=_sealed() | {"store/heads/ledger.note": note},
        expect=bad_head(None, rule, steps=10, **other),
    )


def notes() -> Iterator[Vector]:
    store = Store(alpha(), beta())
    store.head(alpha())
    old = store.sign()
    store.head(beta())
    note = store.sign()
    signature = note.split(b"\n")[4]
    cut = Store(alpha(), beta())
    cut.head(alpha())
    yield _note("size-lowered", "the head's size was lowered", note.replace(b"\n3\n", b"\n2\n"), 61)
    yield _note("signature-stripped", "a head without a signature", note.replace(signature + b"\n", b""), 62)
    other = sign_note(STORE, 3, bytes.fromhex(store.ledger.root(3)), [OTHER_KEY])
    yield _note("another-key", "a head signed by another key", other, 63, authenticity="wrong key")
    forged = key_id(f"tallystick/{STORE}", KEY.public) + OTHER_KEY.sign(note_text(STORE, 3, b"\0" * 32))
    line = f"— tallystick/{STORE} {base64.b64encode(forged).decode()}".encode()
    yield _note(
        "another-key-same-id", "another key's signature under the store's key id", note.replace(signature, line), 63
    )
    elsewhere = sign_note("ab" * 16, 3, bytes.fromhex(store.ledger.root(3)), [KEY])
    yield _note("another-store", "the head of another store", elsewhere, 64)
    back = {"store/ledger.jsonl": store.ledger.text(2), "store/heads/ledger.note": old, journal_path(A): alpha().text()}
    yield Vector(
        name="65-old-head-cut-ledger",
        title="a genuine older head over a ledger cut to it: sound by itself",
        case=65,
        section="14",
        level="A2+remembered head",
        files=back,
        expect=sound_store(6),
    )
    yield Vector(
        name="65-old-head-cut-ledger",
        title="a genuine older head over a ledger cut to it; the verifier remembers the newer",
        case=65,
        section="14",
        level="A2+remembered head",
        files=back,
        remembered=note,
        expect=bad_head(2, "cut", steps=6, authenticity="signed", level="A2", unsealed=0),
    )
    yield _note("leading-zero", "a size with a leading zero", note.replace(b"\n3\n", b"\n03\n"), 66)
    yield _note("junk-at-the-end", "text after the signatures", note + b"and so on\n", 67)
    yield _note("no-last-newline", "the last line has no LF", note[:-1], 67)
    moved = note.replace(signature, old.split(b"\n")[4])
    yield _note("signature-moved", "the signature of an older head", moved, 68)
    yield _note("extension-line", "a line more in the signed text", note.replace(b"=\n\n", b"=\nmore\n\n"), 69)
    yield _note("control-character", "a tab in the head", note.replace(b"\n3\n", b"\n3\t\n"), 70)
    yield _note("crlf", "CR LF in the head", note.replace(b"\n", b"\r\n"), 70)
    yield _note("65-signatures", "65 signatures", note + (signature + b"\n") * 64, 71)
    padded = note.replace(b"=\n\n", b"\n\n")
    yield _note("root-unpadded", "the root's base64 without its padding", padded, None)
    yield _note("not-utf-8", "a head that is not UTF-8", b"\xff" + note, None)
    empty = sign_note(STORE, 0, bytes.fromhex(store.ledger.root(3)), [KEY])
    yield _note("size-0-with-root", "a head of size 0 with a root that is not that of nothing", empty, 76, "head")
    largest = sign_note(STORE, 2**63 - 1, bytes.fromhex(store.ledger.root(3)), [KEY])
    yield Vector(
        name="74-largest-size",
        title="a head of size 2^63 − 1",
        case=74,
        section="14",
        level="A2",
        files=_sealed() | {"store/heads/ledger.note": largest},
        expect=bad_head(3, "cut", steps=10),
    )


def keys() -> Iterator[Vector]:
    store = Store(alpha(), beta()).seal()
    assert store.note is not None
    signature = store.note.split(b"\n")[4]
    blob = base64.b64decode(signature.rsplit(b" ", 1)[1])
    s = int.from_bytes(blob[36:], "little") + GROUP_ORDER
    for case, name, title, changed in (
        (73, "s-plus-l", "the signature's other face, S + L", blob[:36] + s.to_bytes(32, "little")),
        (72, "low-order-r", "a signature whose R is a point of low order", blob[:4] + LOW_ORDER + blob[36:]),
        (None, "signature-short", "a signature of 63 bytes", blob[:-1]),
    ):
        line = f"— tallystick/{STORE} {base64.b64encode(changed).decode()}".encode()
        yield _note(name, title, store.note.replace(signature, line), case)
    weak = PublicKey(LOW_ORDER)
    bent = Store(alpha(), key=did_key(weak)).head(alpha())
    text = note_text(STORE, 2, bytes.fromhex(bent.ledger.root(2)))
    everybody = key_id(f"tallystick/{STORE}", weak) + LOW_ORDER + bytes(32)
    line = f"\n— tallystick/{STORE} {base64.b64encode(everybody).decode()}\n".encode()
    yield Vector(
        name="72-low-order-key",
        title="a store whose key is a point of low order: anybody can sign for it",
        case=72,
        section="9.4",
        level="A2",
        files=bent.files() | {"store/heads/ledger.note": text + line},
        expect=bad_head(None, "signature", steps=6),
    )
    yield Vector(
        name="pinned-another-key",
        title="the head is signed, but not by the key that the verifier pinned",
        section="9.4",
        level="A2",
        files=_sealed(),
        pinned=did_key(OTHER_KEY.public),
        expect=bad_head(None, "signature", steps=10, authenticity="wrong key"),
    )
    retired = Store(alpha())
    retired.head(alpha())
    retired.log("key_add", key=did_key(OTHER_KEY.public))
    retired.log("key_retire", key=did_key(KEY.public))
    retired.sign(KEY)
    yield Vector(
        name="signed-by-retired-key",
        title="a head signed by a key that has retired",
        section="9.4",
        level="A2",
        files=retired.files(),
        expect=bad_head(None, "signature", steps=6, authenticity="wrong key"),
    )
