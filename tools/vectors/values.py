"""Vectors on what a value may be: numbers, text, blobs, words that no verifier knows, and how much of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tallystick.model.raw import NumberText
from tallystick.seal.tagged import tag, tag_cut
from tools.vectors.maker import Journal, Spec, Store, beta, lone, session_id
from tools.vectors.vector import Vector, sound_file, sound_store


def values() -> Iterator[Vector]:
    yield _valued("unknown-words", "6.5", "a type, members and names that no verifier knows", telepathy())
    yield _valued("tagged-strings", "3.2", "what JSON cannot hold, as tagged strings", tagged())
    yield _valued("numbers", "3.1", "numbers at the edges of what the format takes", numbers())
    yield _valued("text", "3.1", "Unicode that is not normalised, keys beyond U+FFFF, every escape", text())
    yield _valued("deepest", "15", "a line nested 64 deep, the most there is", deep())
    yield _valued("most-names-and-parents", "15", "32 names in one entry, 64 parents", many())
    blobs = Journal(session_id("blobs"))
    blobs.add("session_start", agent="demo", kind="root")
    blobs.add("tool_result", {"content.output": "x" * 70_000}, source_id="c1/result")
    blobs.add("tool_result", raw={"content.part_0": b"\x89PNG\r\n\x1a\n\x00"}, source_id="c2/result")
    blobs.add("session_end", status="completed")
    yield Vector(
        name="blobs",
        title="a value of more than 64 KiB and raw bytes, each in a file of its own",
        section="8",
        files=Store(blobs).seal().files(),
        expect=sound_store(4),
    )
    stray = Store(beta()).seal().files() | {f"store/blobs/ab/ab{'0' * 62}": b"left over"}
    yield Vector(
        name="blob-left-over",
        title="a blob that no line names is what a crash leaves: no defect",
        section="8",
        files=stray,
        expect=sound_store(4),
    )
    yield Vector(
        name="14-blob-absent-from-lone-file",
        title="a blob that is not at hand cannot be held against a lone file; it is counted",
        case=14,
        section="8",
        files={"journal.jsonl": blobs.text()},
        level="A2",
        expect=sound_file(4),
    )
    twins = Journal(session_id("twins"))
    twins.add("session_start", agent="demo", kind="root")
    twins.add("tool_call", {"content.args": {"\u00e9": 1, "e\u0301": 2}}, source_id="c1", tool="Bash")
    yield Vector(
        name="41-twin-keys",
        title="two keys that look alike, composed and decomposed, are two keys",
        case=41,
        section="3.1",
        files=lone(twins),
        expect=sound_file(2),
    )


def _valued(name: str, section: str, title: str, journal: Journal) -> Vector:
    return Vector(name=name, title=title, section=section, files=lone(journal), expect=sound_file(len(journal.sealed)))


def _started(word: str) -> Journal:
    journal = Journal(session_id(word))
    journal.add("session_start", agent="demo", kind="root")
    return journal


def telepathy() -> Journal:
    journal = _started("unknown words")
    journal.append(Spec({"type": "telepathy", "source": "telescope", "mood": {"calm": True}}, {"content.dream": [1]}))
    journal.add("x", {"personal.totem": "owl", "local.zz_9": "ü"})
    return journal


def tagged() -> Journal:
    journal = _started("tagged")
    hard: dict[str, Any] = {
        "nan": float("nan"),
        "infinities": [float("inf"), float("-inf")],
        "whole": [2**53, -(2**53), 10**30, 1e20],
        "lone": "a\ud800b",
        "lone\udfff key": 1,
        "looks tagged": "\x10tally:nan",
        "ordinary": "\x10 tally",
    }
    journal.add("tool_call", {"content.args": tag(hard)}, source_id="c1", tool="Bash")
    nested: Any = "the innermost"
    for _ in range(70):
        nested = [nested]
    other = {"deep": tag(nested), "too large": tag_cut(5_000_000_000), "literal": tag(NumberText("1e400"))}
    journal.add("tool_result", {"content.output": other}, source_id="c1/result")
    return journal


def numbers() -> Journal:
    journal = _started("numbers")
    floats = [0.5, -0.5, 0.1, 1e-6, 1.5e-6, 1e-7, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]
    floats += [1e21, 1.5e21, -1e21, 1e22, 123456789.125, 0.000001, 4.35, 333333333.3333333, 1e300, 9007199254740991.0]
    floats += [-0.0, 0.0, 1.0, 100.0, -1.0, 4503599627370497.5, 0.30000000000000004]
    whole = [0, 1, -1, 2**53 - 1, -(2**53 - 1), 10**15]
    journal.add("tool_result", {"content.output": floats, "content.raw": whole}, source_id="c1/result")
    return journal


def text() -> Journal:
    journal = _started("text")
    odd: dict[str, Any] = {
        "controls": "".join(map(chr, range(32))) + "\x7f\x80\u2028\u2029",
        "quotes": '"\\/',
        "composed": "\u00e9",
        "decomposed": "e\u0301",
        "astral": "\U0001f600",
        "\U0001f600": "sorts before the next in UTF-16, after it in UTF-8",
        "\ufb33": 1,
        "\u20ac": 2,
        "": "an empty key",
        "1": [],
        "2": {},
    }
    journal.add("user", {"content.text": odd}, source_id="u1")
    return journal


def deep() -> Journal:
    journal = _started("deep")
    nested: Any = {}
    for _ in range(61):
        nested = [nested]
    journal.add("tool_result", {"content.output": nested}, source_id="c1/result")  # the line and `fields` add two
    return journal


def many() -> Journal:
    journal = _started("many")
    for number in range(1, 64):
        journal.add("user", {"content.text": number}, source_id=f"u{number}")
    names = {f"content.part_{number}": number for number in range(31)}
    journal.add("merge", names, parents=tuple(reversed(range(64))), source_id="m1")
    return journal
