"""Vectors in which the content of one journal was tampered with (cases 1 to 14), or shows more than its level allows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tallystick.seal.canonical import canonical
from tallystick.seal.line import parse_line
from tallystick.seal.redact import Redaction, line_text, redact
from tools.vectors.accepting import private
from tools.vectors.altered import A, lone_file, with_change, with_edit
from tools.vectors.maker import Files, Journal, Store, alpha, changed, journal_path, lone, session_id
from tools.vectors.removed import erase_lines, log_erasure
from tools.vectors.vector import Vector, bad_file, bad_head, bad_store, sound_file


def tampering() -> Iterator[Vector]:
    """All of them."""
    yield from content()
    yield from names()
    yield from blobs()
    yield from withheld()
    yield from levels()


def content() -> Iterator[Vector]:
    yield with_edit(1, "content-edited", "a prompt was changed", "4", 1, b"notes.txt", b"novel.txt", "fields")
    yield with_edit(2, "metadata-edited", "a tool was renamed", "4", 3, b'"Bash"', b'"Bush"', "fields")
    yield with_edit(3, "time-edited", "a time was changed", "4", 2, b"03:04:07", b"03:04:06", "fields")
    seed = json.loads(alpha().text().splitlines()[4])["seed"]
    flipped = f"{int(seed[0], 16) ^ 1:x}{seed[1:]}"
    yield with_edit(4, "seed-flipped", "one bit of a seed", "4", 4, seed.encode(), flipped.encode(), "fields")

    def swap(line: dict[str, Any]) -> None:
        fields = line["fields"]
        fields["content.text"], fields["content.thinking"] = fields["content.thinking"], fields["content.text"]

    yield with_change(5, "values-swapped", "two values of one entry changed places", "4", 2, swap, "fields")


def names() -> Iterator[Vector]:
    def rename(line: dict[str, Any]) -> None:
        line["fields"]["content.answer"] = line["fields"].pop("content.text")

    def relabel(line: dict[str, Any]) -> None:
        line["fields"]["meta"]["answer"] = "yes"
        del line["fields"]["content.text"]

    def relabel_prose(line: dict[str, Any]) -> None:
        line["fields"]["meta"]["text"] = line["fields"].pop("content.text")

    def disclose_and_withhold(line: dict[str, Any]) -> None:
        line["withheld"] = {"content.text": "0" * 64}
        line["salts"] = {"content.text": "1" * 64, "content.thinking": "2" * 64, "meta": "3" * 64}
        del line["seed"]

    def strange(line: dict[str, Any]) -> None:
        line["fields"]["secret.text"] = line["fields"].pop("content.text")

    yield with_change(6, "field-renamed", "a value under another name", "4", 2, rename, "fields")
    yield with_change(
        7, "field-added", "a value that was never sealed", "4", 2, _set("content.error", "none"), "fields"
    )
    yield with_change(8, "field-dropped", "a value is gone", "4", 2, _without("content.thinking"), "fields")
    yield with_change(
        9, "relabelled", "content moved into meta, where it is a word like any other", "6", 2, relabel, "fields"
    )
    yield replace(
        with_change(9, "", "content moved into meta, where no prose may stand", "6.2", 2, relabel_prose, "class"),
        name="09-relabelled-prose",
    )
    yield with_change(
        10, "shown-and-withheld", "a name both shown and withheld", "2", 2, disclose_and_withhold, "member"
    )
    yield with_change(None, "strange-class", "a name of none of the four classes", "6.1", 2, strange, "class")
    yield with_change(None, "no-type", "meta without a type", "6.2", 2, _set_meta("type", None), "class")
    yield with_change(
        None, "no-source", "a session's meta without a source", "6.2", 2, _set_meta("source", None), "class"
    )
    yield with_change(None, "meta-null", "null in meta", "6.2", 2, _set_meta("model", "NULL"), "class")
    yield with_change(None, "meta-fraction", "a fraction in meta", "6.2", 2, _set_meta("cost", 0.5), "class")
    yield with_change(None, "meta-dots", "two dots in a word of meta", "6.2", 2, _set_meta("model", "a..b"), "class")
    yield with_change(None, "meta-deep", "meta nested five deep", "15", 2, _set_meta("x", [[[[1]]]]), "class")
    yield with_change(
        None, "time-malformed", "a time without its digits", "6.3", 2, _set_meta("ts", "2026-01-02"), "class"
    )
    yield with_change(11, "seed-short", "a seed of 31 bytes", "2", 2, _cut_seed, "member")
    salts = changed(_content_form(alpha()), 2, _cut_salt)
    short = lone_file(11, "salt-short", "a salt of 31 bytes", "2", salts, 2, "member")
    yield replace(short, expect={**short.expect, "withheld": 2})
    same = alpha().rewritten(lambda specs: [*specs[:3], replace(specs[3], seed=b"\x07" * 32), *specs[4:]])
    same = same.rewritten(lambda specs: [*specs[:5], replace(specs[5], seed=b"\x07" * 32)])
    yield lone_file(12, "seed-reused", "two entries share a seed, so one salt opens both", "14", same.text(), 5, "seed")


def _set(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        line["fields"][name] = value

    return change


def _without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        del line["fields"][name]

    return change


def _set_meta(member: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set a member of meta; None takes it away, "NULL" sets null."""

    def change(line: dict[str, Any]) -> None:
        if value is None:
            del line["fields"]["meta"][member]
        else:
            line["fields"]["meta"][member] = None if value == "NULL" else value

    return change


def _cut_seed(line: dict[str, Any]) -> None:
    line["seed"] = line["seed"][:62]


def _cut_salt(line: dict[str, Any]) -> None:
    line["salts"]["meta"] = line["salts"]["meta"][:62]


def _content_form(journal: Journal) -> bytes:
    lines = (line_text(redact(parse_line(item.line[:-1]), Redaction.CONTENT)) + b"\n" for item in journal.sealed)
    return b"".join(lines)


def pictures() -> Journal:
    """A session with a raw blob in entry 1."""
    journal = Journal(session_id("pictures"))
    journal.add("session_start", agent="demo", kind="root")
    journal.add("tool_result", raw={"content.part_0": b"\x89PNG\r\n\x1a\n"}, source_id="c1/result")
    journal.add("session_end", status="completed")
    return journal


def blobs() -> Iterator[Vector]:
    journal = pictures()
    sid = journal.sid
    store, alone = Store(journal).seal().files(), lone(journal)
    raw = next(path for path, data in alone.items() if data.startswith(b"\x89PNG"))
    swapped = b"\x89PNG\r\n\x1a!"
    yield Vector(
        name="13-blob-swapped",
        title="a blob was replaced by another of equal length",
        case=13,
        section="8",
        files=store | {f"store/{raw}": swapped},
        expect=bad_store(sid, 1, "blob", steps=1),
    )
    yield Vector(
        name="13-blob-swapped-beside-lone-file",
        title="a blob beside a lone file was replaced by another of equal length",
        case=13,
        section="8",
        files=alone | {raw: swapped},
        expect=bad_file(sid, 1, "blob"),
    )
    yield Vector(
        name="13-blob-longer",
        title="a blob got a byte more than its line says",
        case=13,
        section="8",
        files=store | {f"store/{raw}": alone[raw] + b"\n"},
        expect=bad_store(sid, 1, "blob", steps=1),
    )
    yield Vector(
        name="14-blob-missing",
        title="a blob is gone and no erasure says so",
        case=14,
        section="8",
        files={path: data for path, data in store.items() if path != f"store/{raw}"},
        expect=bad_store(sid, 1, "blob", steps=1),
    )

    def claim(line: dict[str, Any]) -> None:
        line["blobs"]["content.part_0"]["commitment"] = "0" * 64

    def relabel(line: dict[str, Any]) -> None:
        line["blobs"]["content.part_0"]["kind"] = "json"

    def unknown_kind(line: dict[str, Any]) -> None:
        line["blobs"]["content.part_0"]["kind"] = "cbor"

    def as_meta(line: dict[str, Any]) -> None:
        line["blobs"]["meta"] = line["blobs"].pop("content.part_0")
        line["fields"] = {"content.text": ""}

    lines = journal.text()
    yield lone_file(None, "blob-renamed", "a line names another blob", "8", changed(lines, 1, claim), 1, "fields", sid)
    yield Vector(
        name="blob-of-another-kind",
        title="raw bytes called JSON",
        section="8",
        files=alone | {"journal.jsonl": changed(lines, 1, relabel)},
        expect=bad_file(sid, 1, "blob"),
    )
    other = changed(lines, 1, unknown_kind)
    yield lone_file(None, "blob-of-no-kind", "a kind of blob that there is not", "2", other, 1, "member", sid)
    yield lone_file(None, "meta-as-blob", "meta kept in a blob", "2", changed(lines, 1, as_meta), 1, "member", sid)


def withheld() -> Iterator[Vector]:
    journal = alpha()
    text = erase_lines(journal, 1, 1, frozenset({"content.text"}))
    path = journal_path(A)
    yield Vector(
        name="withheld-without-erasure",
        title="a value is withheld in a store and no erasure was ever logged",
        section="12.2",
        files=Store(journal).seal().files() | {path: text},
        expect=bad_store(A, 1, "withheld", steps=1),
    )
    yield Vector(
        name="withheld-from-lone-file",
        title="a lone file may withhold what it likes: it is counted",
        section="12.2",
        level="A2",
        files={"journal.jsonl": text},
        expect=sound_file(6, withheld=1),
    )
    tail = Store(journal).seal()
    log_erasure(tail, journal, 1, ["content.text"])
    yield Vector(
        name="withheld-by-unsealed-erasure",
        title="the erasure stands in the ledger's tail, which no head covers: it justifies nothing",
        section="12.2",
        files=tail.files() | {path: text},
        expect=bad_store(A, 1, "withheld", steps=1),
    )
    for name, n, what in (("another-entry", 2, ["content.text"]), ("another-name", 1, ["content.thinking"])):
        store = Store(journal).head(journal)
        log_erasure(store, journal, n, what)
        store.sign()
        yield Vector(
            name=f"withheld-by-erasure-of-{name}",
            title=f"the sealed erasure is of {name.replace('-', ' ')}",
            section="12.2",
            files=store.files() | {path: text},
            expect=bad_store(A, 1, "withheld", steps=1),
        )
    bare = [item.line for item in journal.sealed]
    bare[2] = line_text(redact(parse_line(bare[2][:-1]), Redaction.FULL)) + b"\n"
    yield Vector(
        name="bare-line-in-store",
        title="a bare line in a store",
        section="2",
        files=Store(journal).seal().files() | {path: b"".join(bare)},
        expect=bad_store(A, 2, "withheld", steps=2),
    )
    logged = Store(journal).head(journal)
    log_erasure(logged, journal, 1, ["content.text"])
    logged.sign()
    files = logged.files() | {path: text}
    files["store/ledger.jsonl"] = erase_lines(logged.ledger, 2, 2, frozenset({"content.reason"}))
    yield Vector(
        name="withheld-in-ledger",
        title="the ledger withholds nothing, ever",
        section="12.2",
        files=files,
        expect=bad_head(2, "withheld", steps=1, first_bad={"session": logged.ledger.sid, "n": 2, "rule": "withheld"}),
    )


def levels() -> Iterator[Vector]:
    journal = private()
    full = [item.line for item in journal.sealed]
    forms = {level: [line_text(redact(parse_line(line[:-1]), level)) + b"\n" for line in full] for level in Redaction}

    def case(name: str, title: str, level: Redaction, n: int, line: bytes) -> Vector:
        lines = list(forms[level])
        lines[n] = line
        files: Files = {"journal.jsonl": b"".join(lines)}
        expect = dict(bad_file(journal.sid, n, "class"))
        shown = [json.loads(text) for text in lines[:n]]
        expect["withheld"] = sum(len(value.get("withheld", {})) for value in shown)
        return Vector(name=name, title=title, section="10", files=files, redaction=level.value, expect=expect)

    none, content = Redaction.NONE, Redaction.CONTENT
    yield case("level-none-shows-local", "`none` shows a value of local.*", none, 3, full[3])
    yield case("level-content-shows-content", "`content` shows a prompt", content, 1, full[1])
    yield case("level-content-bare", "`content` with a bare line", content, 1, forms[Redaction.FULL][1])
    yield case("level-full-shows-meta", "`full` shows meta", Redaction.FULL, 2, forms[content][2])
    seeded = json.loads(forms[content][1]) | {"seed": json.loads(full[1])["seed"]}
    lines = [forms[content][0], canonical(seeded) + b"\n", *forms[content][2:]]
    yield Vector(
        name="level-content-with-seed",
        title="a seed left in a line that withholds: it would open everything",
        section="2",
        files={"journal.jsonl": b"".join(lines)},
        redaction="content",
        expect=bad_file(journal.sid, 1, "member", withheld=3),
    )
