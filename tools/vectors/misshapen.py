"""Vectors in which the skeleton, the order or the encoding of one journal was tampered with (cases 15 to 45).

What the chain finds needs no head, so most are lone files. What it cannot find stands as an accepted lone file, and as a
refused store beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tools.vectors.altered import A, lone_file, with_change, with_edit
from tools.vectors.maker import (
    Journal,
    Spec,
    Store,
    alpha,
    beta,
    changed,
    edited,
    journal_path,
    open_session,
    session_id,
)
from tools.vectors.sessions import orphan, resumed
from tools.vectors.vector import Vector, bad_file, bad_head, bad_store, sound_file, sound_store


def misshapen() -> Iterator[Vector]:
    """All of them."""
    yield from skeleton()
    yield from order_of_lines()
    yield from parents_and_order()
    yield from encoding()
    yield from limits()


def skeleton() -> Iterator[Vector]:
    hashes = [alpha().hash(n).encode() for n in range(6)]
    yield with_edit(15, "n-edited", "an entry was renumbered", "5", 3, b'"n":3', b'"n":4', "n")
    yield with_edit(16, "prev-edited", "an entry follows from another", "5", 3, hashes[2], hashes[1], "prev")
    yield lone_file(
        17,
        "parents-edited",
        "an entry was given another parent: the entry after it no longer follows",
        "5",
        edited(alpha().text(), 4, b'"parents":["' + hashes[3], b'"parents":["' + hashes[2]),
        5,
        "prev",
    )
    last = edited(alpha().text(), 5, b'"parents":[]', b'"parents":["' + hashes[2] + b'"]')
    yield Vector(
        name="17-last-parents-edited",
        title="nothing follows the last entry, so a lone file cannot tell that its parents changed",
        case=17,
        section="5",
        level="A2",
        files={"journal.jsonl": last},
        expect=sound_file(6),
    )
    yield Vector(
        name="17-last-parents-edited-in-store",
        title="the last entry's parents changed: the ledger has another root",
        case=17,
        section="14",
        level="A2",
        files=Store(alpha()).seal().files() | {journal_path(A): last},
        expect=bad_store(A, 5, "head", steps=5),
    )
    beta_sid = session_id("beta").encode()
    yield with_edit(
        18, "sid-edited", "an entry says that it is of another session", "5", 3, A.encode(), beta_sid, "sid"
    )
    yield with_edit(19, "version", "an entry of version 2", "16", 3, b'"v":1', b'"v":2', "version")
    yield lone_file(
        19,
        "version-first",
        "a journal of version 2",
        "16",
        alpha().text().replace(b'"v":1', b'"v":2'),
        0,
        "version",
        None,
    )

    def grow_entry(line: dict[str, Any]) -> None:
        line["entry"]["time"] = "2026-01-02"

    def grow_line(line: dict[str, Any]) -> None:
        line["note"] = "kept beside the seal"

    yield with_change(20, "entry-member", "a seventh member of the entry", "5", 3, grow_entry, "member")
    yield with_change(21, "line-member", "a member of the line that there is not", "2", 3, grow_line, "member")
    yield lone_file(
        21,
        "line-member-first",
        "entry 0 is no line of ours, so this is no journal",
        "2",
        changed(alpha().text(), 0, grow_line),
        0,
        "member",
        None,
    )


def order_of_lines() -> Iterator[Vector]:
    lines = alpha().text().splitlines(keepends=True)
    foreign = beta().text().splitlines(keepends=True)

    def case(number: int, name: str, title: str, text: list[bytes], n: int, rule: str) -> Vector:
        return lone_file(number, name, title, "5", b"".join(text), n, rule)

    yield case(22, "middle-deleted", "an entry in the middle is gone", [*lines[:2], *lines[3:]], 2, "n")
    yield case(23, "first-deleted", "the first entry is gone", lines[1:], 0, "n")
    yield case(24, "two-swapped", "two entries changed places", [*lines[:2], lines[3], lines[2], *lines[4:]], 2, "n")
    yield case(25, "duplicated", "an entry stands twice", [*lines[:3], *lines[2:]], 3, "n")
    inserted = [*lines[:2], foreign[2], *lines[2:]]
    yield case(26, "foreign-inserted", "an entry of another session was put in", inserted, 2, "sid")
    replaced = [*lines[:2], foreign[2], *lines[3:]]
    yield case(27, "foreign-instead", "an entry of another session in the place of one", replaced, 2, "sid")
    yield case(30, "two-beginnings", "the journal begins again", [*lines, *lines], 6, "n")
    files = Store(alpha(), beta()).seal().files()
    files[journal_path(A).replace("2026/01", "2026/02")] = files[journal_path(A)]
    yield Vector(
        name="30-two-files",
        title="two files of one session",
        case=30,
        section="14",
        level="A2",
        files=files,
        expect=bad_store(A, 0, "sid", steps=4),
    )
    named = f"{session_id('beta')}.jsonl"
    yield Vector(
        name="lone-file-misnamed",
        title="a lone file whose name says another session",
        section="5",
        files={named: alpha().text()},
        expect=bad_file(session_id("beta"), 0, "sid"),
    )


def parents_and_order() -> Iterator[Vector]:
    journal = open_session()
    unborn = journal.rewritten(lambda specs: [*specs[:2], replace(specs[2], parents=("5" * 64,))])
    sid = journal.sid
    text = unborn.text()
    yield lone_file(28, "parent-not-prior", "a parent that is no earlier entry", "5", text, 2, "parent", sid)
    twice = journal.rewritten(lambda specs: [*specs[:2], replace(specs[2], parents=(1, 1))]).text()
    yield lone_file(28, "parent-twice", "a parent that is listed twice", "5", twice, 2, "parent", sid)
    own = f"{sid}#{journal.hash(0)}"
    text = journal.rewritten(lambda specs: [*specs[:2], replace(specs[2], parents=(own,))]).text()
    yield lone_file(
        28, "parent-own-as-foreign", "a parent of this session as if of another", "5", text, 2, "parent", sid
    )
    lost = orphan()
    yield Vector(
        name="29-parent-in-no-session",
        title="a parent in a session that does not exist",
        case=29,
        section="14",
        level="A2",
        files=Store(lost, beta()).seal().files(),
        expect=bad_store(lost.sid, 1, "parent", steps=5),
    )
    wrong = Journal(session_id("wrong"))
    reference = f"{session_id('beta')}#{'5' * 64}"
    wrong.add("session_start", parents=(reference,), agent="demo", kind="fork")
    yield Vector(
        name="29-parent-in-no-entry",
        title="a parent in a session that exists, which has no such entry",
        case=29,
        section="14",
        level="A2",
        files=Store(wrong, beta()).seal().files(),
        expect=bad_store(wrong.sid, 0, "parent", steps=4),
    )
    yield from lost_parents()
    after = beta()
    after.add("user", {"content.text": "one more"}, source_id="u9")
    yield lone_file(31, "after-the-end", "a step after session_end", "7", after.text(), 4, "order", after.sid)
    unmarked = resumed().rewritten(_unmarked)
    yield lone_file(
        31, "start-not-resumed", "a second start not marked as resumed", "7", unmarked.text(), 4, "order", after.sid
    )
    headless = Journal(session_id("headless"))
    headless.add("user", {"content.text": "hello"}, source_id="u1")
    yield lone_file(None, "no-start", "entry 0 is no session_start", "7", headless.text(), 0, "order", headless.sid)


def lost_parents() -> Iterator[Vector]:
    target, fork = alpha(), Journal(session_id("fork"))
    fork.add("session_start", parents=(target.reference(4),), agent="demo", kind="fork")
    fork.add("session_end", status="completed")
    store = Store(target, fork).seal()
    broken = edited(target.text(), 2, b"count them", b"count us")
    yield Vector(
        name="parent-in-broken-session",
        title="a session was tampered with; a fork that hangs on a later entry of it is none the worse",
        section="19.5",
        files=store.files() | {journal_path(target.sid): broken},
        expect=bad_store(target.sid, 2, "fields", steps=4),
    )
    yield Vector(
        name="parent-in-cut-session",
        title="a session was cut: its fork hangs on an entry that is gone",
        section="19.5",
        level="A2",
        files=store.files() | {journal_path(target.sid): target.text(3)},
        expect=bad_store(target.sid, 3, "cut", steps=3),
    )
    lost = Store(alpha())
    lost.head(alpha())
    lost.ledger.append(Spec({"type": "weather"}, parents=(f"{alpha().sid}#{'5' * 64}",)))
    lost.sign()
    yield Vector(
        name="ledger-parent-lost",
        title="a ledger entry refers to an entry that is in no journal",
        section="19.5",
        level="A2",
        files=lost.files(),
        expect=bad_head(2, "parent", steps=6, authenticity="signed", level="A2", completeness="sealed", unsealed=0),
    )
    found = Store(alpha())
    found.head(alpha())
    found.ledger.append(Spec({"type": "weather"}, parents=(alpha().reference(3),)))
    found.sign()
    yield Vector(
        name="ledger-parent",
        title="a ledger entry refers to an entry of a session",
        section="19.5",
        files=found.files(),
        expect=sound_store(6),
    )


def _unmarked(specs: list[Spec]) -> list[Spec]:
    meta = {key: value for key, value in specs[4].meta.items() if key != "resumed"}
    return [*specs[:4], replace(specs[4], meta=meta), *specs[5:]]


def encoding() -> Iterator[Vector]:
    yield with_edit(32, "white-space", "a space after a colon", "3.1", 3, b'"n":3', b'"n": 3', "canonical")
    yield with_edit(
        33, "duplicate-key", "a key that stands twice", "3.1", 3, b'"tool":', b'"tool":"Read","tool":', "canonical"
    )
    yield with_edit(
        34, "key-order", "keys in another order", "3.1", 3, b'"n":3,"parents":[]', b'"parents":[],"n":3', "canonical"
    )
    yield with_edit(35, "escape-alias", "a letter written as an escape", "3.1", 3, b"Bash", b"\\u0042ash", "canonical")
    yield with_edit(36, "number-alias", "1.0 for 1", "3.1", 3, b'"retries":1', b'"retries":1.0', "canonical")
    yield with_edit(36, "minus-zero", "-0 for 0", "3.1", 3, b'"retries":1', b'"retries":-0', "canonical")
    yield with_edit(36, "exponent", "1e0 for 1", "3.1", 3, b'"retries":1', b'"retries":1e0', "canonical")
    bom = b"\xef\xbb\xbf" + alpha().text()
    yield lone_file(37, "byte-order-mark", "a byte order mark before the first line", "1", bom, 0, "canonical", None)
    yield with_edit(37, "nul", "a NUL byte", "1", 3, b'"n":3', b'"n":3\x00', "canonical")
    prev = alpha().hash(2).encode()
    yield with_edit(38, "hex-alias", "a hash in capitals", "2", 3, prev, prev.upper(), "member")
    yield with_edit(40, "not-utf-8", "bytes that are not UTF-8", "3.1", 1, b"Count", b"Co\xffnt", "line")
    yield with_edit(
        40, "surrogate-bytes", "a surrogate in UTF-8 bytes", "3.1", 1, b"Count", b"Co\xed\xa0\x80nt", "line"
    )
    yield with_edit(
        40, "surrogate-escape", "a lone surrogate as an escape", "3.1", 1, b"Count", b"Co\\ud800nt", "canonical"
    )
    composed = Journal(session_id("composed"))
    composed.add("session_start", agent="demo", kind="root")
    composed.add("user", {"content.text": "caf\u00e9"}, source_id="u1")
    text = edited(composed.text(), 1, "caf\u00e9".encode(), "cafe\u0301".encode())
    title = "text in another normalisation, which looks the same"
    yield lone_file(41, "renormalised", title, "3.1", text, 1, "fields", composed.sid)
    big = str(2**53).encode()
    yield with_edit(42, "large-integer", "2^53", "3.1", 3, b'"retries":1', b'"retries":' + big, "canonical")
    yield with_edit(
        42, "huge-integer", "5,000 digits", "3.1", 3, b'"retries":1', b'"retries":' + b"9" * 5000, "canonical"
    )
    yield with_edit(42, "overflow", "1e400", "3.1", 3, b'"retries":1', b'"retries":1e400', "canonical")
    yield with_edit(42, "not-a-number", "NaN, which JSON has not", "3.1", 3, b'"retries":1', b'"retries":NaN', "line")
    text = alpha().text().replace(b"\n", b"\r\n")
    yield lone_file(45, "crlf", "CR LF at the ends of lines", "1", text, 0, "canonical", None)
    lines = alpha().text().splitlines(keepends=True)
    empty = b"".join([*lines[:3], b"\n", *lines[3:]])
    yield lone_file(None, "empty-line", "a line with nothing in it", "1", empty, 3, "line")
    prose = b"# notes\n\n42 words\n"
    yield lone_file(None, "no-journal", "a file that is no journal", "14", prose, 0, "line", None)
    array = b"".join([*lines[:3], b"[]\n", *lines[3:]])
    yield lone_file(None, "no-object", "a line that is JSON and no object", "2", array, 3, "line")


def limits() -> Iterator[Vector]:
    lines = alpha().text().splitlines(keepends=True)
    deep = b"[" * 10_000 + b"]" * 10_000
    buried = edited(alpha().text(), 3, b'"retries":1', b'"retries":' + deep)
    yield lone_file(43, "deep", "nested 10,000 deep", "15", buried, 3, "limit")
    just = edited(alpha().text(), 3, b'"retries":1', b'"retries":' + b"[" * 62 + b"]" * 62)
    yield lone_file(43, "deep-by-one", "nested 65 deep, one more than there may be", "15", just, 3, "limit")
    padding = 1_048_576 + 1 - (len(lines[1]) - 1)
    long = edited(alpha().text(), 1, b"Count", b"Count" + b"." * padding)
    yield lone_file(44, "long-line", "a line of 1 MiB and one byte", "15", long, 1, "limit")
    yield with_change(None, "names-33", "33 names in one entry", "15", 3, _many_names, "limit")
    yield with_change(None, "parents-65", "65 parents", "15", 3, _many_parents, "limit")
    yield with_change(None, "meta-large", "meta of more than 16 KiB", "15", 3, _large_meta, "limit")
    yield _edit_limit("n-large", "n = 2^53", b'"n":3', b'"n":%d' % 2**53)

    def blob(line: dict[str, Any]) -> None:
        line["blobs"] = {"content.x": {"commitment": "0" * 64, "kind": "raw", "size": (1 << 30) + 1}}

    yield with_change(None, "blob-large", "a blob of 1 GiB and one byte", "15", 3, blob, "limit")


def _edit_limit(name: str, title: str, old: bytes, new: bytes) -> Vector:
    return lone_file(None, name, title, "15", edited(alpha().text(), 3, old, new), 3, "limit")


def _many_names(line: dict[str, Any]) -> None:
    line["fields"] |= {f"content.part_{number}": number for number in range(31)}


def _many_parents(line: dict[str, Any]) -> None:
    line["entry"]["parents"] = [f"{number:064x}" for number in range(65)]


def _large_meta(line: dict[str, Any]) -> None:
    line["fields"]["meta"]["words"] = ["w" * 200] * 81
