"""Showing less of a line: no hash moves, every level verifies, and no level shows more than it promises."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.canonical import canonical
from tallystick.seal.chain import Chain, Place, Terms
from tallystick.seal.hashes import genesis, salt
from tallystick.seal.line import Line, Slot, check_content, field_commitments, hash_of, parse_line, seal_line
from tallystick.seal.redact import Redaction, check_level, line_text, redact, withhold
from tests.seal.sentences import refusal
from tests.support.cases import each

SID = "0a" * 16
SEED = b"\x07" * 32
META = {"type": "session_start", "recorded": "2026-01-02T03:04:05.000000Z", "source": "sdk"}
NAMES = ("content.text", "content.part_0", "personal.cwd", "local.source", "content.args")


def seal(*names: str, in_ledger: bool = False) -> Line:
    """A line with these fields beside meta; `content.part_0` is a raw blob."""
    raw = {name: b"\x89PNG" for name in names if name == "content.part_0"}
    values: dict[str, Any] = {name: f"value of {name}" for name in names if name not in raw}
    meta = {"type": "note", "recorded": META["recorded"]} if in_ledger else META
    sealed = seal_line(Slot(SID, 0, genesis(SID), ()), seed=SEED, values={"meta": meta, **values}, raw=raw)
    return parse_line(sealed.line[:-1])


def read_again(line: Line) -> Line:
    return parse_line(line_text(line))


def disclosed(line: Line) -> set[str]:
    return set(line.fields) | set(line.blobs)


name_sets = st.sets(st.sampled_from(NAMES)).map(sorted)


@given(name_sets, st.sampled_from(Redaction))
def test_redaction_never_moves_a_hash_and_every_level_verifies(names: list[str], level: Redaction) -> None:
    line = seal(*names)
    less = redact(line, level)
    assert hash_of(less.entry) == hash_of(line.entry)
    again = read_again(less)
    assert again == less
    check_content(again)
    check_level(again, level)
    chain = Chain(SID, Terms(Place.LONE, level=level))
    chain.feed(line_text(less))
    assert chain.tree.root() == hash_of(line.entry)


@given(name_sets, st.sets(st.sampled_from((*NAMES, "meta"))), st.sets(st.sampled_from((*NAMES, "meta"))))
def test_withholding_twice_is_withholding_once(names: list[str], first: set[str], second: set[str]) -> None:
    line = seal(*names)
    there = {*names, "meta"}
    once = withhold(line, frozenset((first | second) & there))
    twice = withhold(withhold(line, frozenset(first & there)), frozenset(second & there))
    assert once == twice
    assert disclosed(once) == there - first - second
    assert set(once.withheld) == there & (first | second)
    assert field_commitments(read_again(once)) == field_commitments(line)


def test_levels_show_what_they_promise_and_no_more() -> None:
    line = seal(*NAMES)
    none, content, full = (redact(line, level) for level in Redaction)
    assert disclosed(none) == {"meta", *NAMES} - {"local.source"}
    assert set(none.withheld) == {"local.source"}
    assert disclosed(content) == {"meta"}
    assert set(content.withheld) == set(NAMES)
    assert full == Line(entry=line.entry)
    for less in (none, content):
        assert less.seed is None
        assert less.salts == {name: salt(SEED, name).hex() for name in sorted(disclosed(less))}
    assert SEED.hex() not in line_text(content).decode()


def test_a_line_that_withholds_nothing_keeps_its_seed() -> None:
    line = seal("content.text")
    assert redact(line, Redaction.NONE) is line
    assert withhold(line, frozenset()) is line
    meta_only = seal()
    assert redact(meta_only, Redaction.CONTENT) is meta_only


def test_what_is_withheld_already_stays_so() -> None:
    line = withhold(seal("content.text", "content.args"), frozenset({"content.text"}))
    assert withhold(line, frozenset({"content.text"})) is line
    none = redact(line, Redaction.NONE)
    assert set(none.withheld) == {"content.text"}
    assert set(redact(line, Redaction.CONTENT).withheld) == {"content.text", "content.args"}


def test_withholding_everything_gives_the_opaque_form() -> None:
    line = withhold(seal("content.text"), frozenset({"content.text", "meta"}))
    assert (disclosed(line), line.seed, line.salts) == (set(), None, {})
    assert read_again(line) == line


def test_a_name_that_is_not_there_cannot_be_withheld() -> None:
    for line in (seal("content.text"), Line(entry=seal().entry)):
        refusal(lambda line=line: withhold(line, frozenset({"meta", "content.args"})))  # type: ignore[misc]


def test_a_line_of_the_ledger_is_redacted_like_any_other() -> None:
    line = seal("content.text", in_ledger=True)
    assert set(redact(line, Redaction.CONTENT).withheld) == {"content.text"}


def test_the_text_of_a_line_is_canonical_in_every_form() -> None:
    line = seal(*NAMES)
    for less in (line, *(redact(line, level) for level in Redaction)):
        text = line_text(less)
        assert canonical(msgspec.json.decode(text)) == text
    assert line_text(line).endswith(b'"seed":"%b"}' % SEED.hex().encode())


FORMS = {
    "full": seal("content.text"),
    "full with local": seal("content.text", "local.source"),
    "full with meta only": seal(),
    "partial without local": withhold(seal("content.text", "local.source"), frozenset({"local.source"})),
    "partial with local": withhold(seal("content.text", "local.source"), frozenset({"content.text"})),
    "partial with meta only": redact(seal("content.text"), Redaction.CONTENT),
    "partial without meta": withhold(seal("content.text"), frozenset({"meta"})),
    "opaque": withhold(seal("content.text"), frozenset({"content.text", "meta"})),
    "bare": redact(seal("content.text"), Redaction.FULL),
    "blob": seal("content.part_0"),
    "local blob": withhold(seal("content.part_0"), frozenset({"meta"})),
}
ALLOWED = {
    Redaction.NONE: {
        *("full", "full with meta only", "partial without local", "partial with meta only", "partial without meta"),
        *("blob", "local blob"),
    },
    Redaction.CONTENT: {"full with meta only", "partial with meta only"},
    Redaction.FULL: {"bare"},
}


@each("form, level", list(itertools.product(FORMS, Redaction)), ids=str)
def test_a_level_takes_just_its_own_forms(form: str, level: Redaction) -> None:
    if form in ALLOWED[level]:
        check_level(FORMS[form], level)
        return
    assert refusal(lambda: check_level(FORMS[form], level)) == "class"
