"""The chain: every line must follow, and a change is found where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.model.verdict import Disclosure
from tallystick.seal import chain as module
from tallystick.seal.canonical import canonical
from tallystick.seal.chain import Chain, Place, Terms
from tallystick.seal.hashes import genesis
from tallystick.seal.ledger import LedgerView
from tallystick.seal.line import Line, parse_line
from tallystick.seal.merkle import merkle_root
from tallystick.seal.redact import Redaction, line_text, redact, withhold
from tests.seal.sentences import reads_well
from tests.support.cases import each
from tools.vectors.maker import Journal, Spec, alpha, beta, moment, open_session, session_id
from tools.vectors.sessions import resumed
from tools.vectors.tampering import pictures


def lines(journal: Journal) -> list[bytes]:
    return [item.line[:-1] for item in journal.sealed]


def chain_of(sid: str, place: Place, *, in_ledger: bool = False, level: Redaction | None = None, **more: Any) -> Chain:
    return Chain(sid, Terms(place, in_ledger, level), **more)


def fed(texts: list[bytes], sid: str, place: Place = Place.STORE, **other: Any) -> Chain:
    chain = chain_of(sid, place, **other)
    for text in texts:
        chain.feed(text)
    return chain


def found(texts: list[bytes], sid: str, place: Place = Place.STORE, **other: Any) -> tuple[int, str]:
    """Where feeding stops, and by which rule."""
    chain = chain_of(sid, place, **other)
    for text in texts:
        before = chain.head, chain.size, chain.tree.root()
        try:
            chain.feed(text)
        except FormatError as error:
            refused = error
        else:
            continue
        assert (chain.head, chain.size, chain.tree.root()) == before
        assert reads_well(str(refused))
        return chain.size, refused.rule
    raise AssertionError("nothing was found")


@pytest.fixture(params=["quick", "plain"], autouse=True)
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here holds whether or not the shortcuts are taken."""
    if request.param == "plain":
        monkeypatch.setattr(module, "accept_full", lambda *args, **other: None)
        monkeypatch.setattr(module, "accept_bare", lambda *args, **other: None)


def test_a_journal_is_a_chain_and_a_tree() -> None:
    journal = alpha()
    chain = fed(lines(journal), journal.sid)
    hashes = [item.hash for item in journal.sealed]
    assert (chain.size, chain.head) == (6, hashes[-1])
    assert chain.tree.root() == merkle_root(hashes)
    assert chain.tree.size == 6
    assert chain.closed
    assert chain.disclosure == Disclosure()
    assert (chain.clock_steps, chain.foreign, chain.unfinished) == (0, [], [])


def test_common_lines_are_never_read_plainly(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    journal = open_session(4)
    bare = [line_text(redact(parse_line(text), Redaction.FULL)) for text in lines(journal)]
    read: list[bytes] = []

    def counted(text: bytes) -> Line:
        read.append(text)
        return parse_line(text)

    monkeypatch.setattr(module, "parse_line", counted)
    expected = 0 if "quick" in request.node.name else 4
    for texts, place, level in ((lines(journal), Place.STORE, None), (lines(journal), Place.LONE, None)):
        fed(texts, journal.sid, place, level=level)
        assert len(read) == expected
        read.clear()
    for promised in (None, Redaction.FULL):
        fed(bare, journal.sid, Place.LONE, level=promised)
        assert len(read) == expected
        read.clear()


def test_an_empty_chain_begins_at_genesis() -> None:
    chain = Chain("0a" * 16, Terms(Place.STORE))
    assert (chain.size, chain.head, chain.closed) == (0, genesis("0a" * 16), False)


def test_feeding_gives_meta_where_it_is_shown() -> None:
    journal = alpha()
    chain = Chain(journal.sid, Terms(Place.LONE))
    assert chain.feed(lines(journal)[0])["type"] == "session_start"
    bare = line_text(redact(parse_line(lines(journal)[1]), Redaction.FULL))
    assert chain.feed(bare) == {}
    content = line_text(redact(parse_line(lines(journal)[2]), Redaction.CONTENT))
    assert chain.feed(content)["type"] == "assistant"


ALPHA = lines(alpha())
ALPHA_SID = alpha().sid


@given(st.integers(0, 5), st.data())
def test_a_changed_bit_is_found_where_it_is_or_at_the_entry_that_follows(index: int, data: st.DataObject) -> None:
    text = ALPHA[index]
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + bytes([text[place] ^ 1 << data.draw(st.integers(0, 7))]) + text[place + 1 :]
    texts = [*ALPHA[:index], changed, *ALPHA[index + 1 :]]
    if b"\n" in changed:
        return  # two lines: what LineFile makes of it is not a changed line
    value = _entry_of(changed)
    if value is not None and value["parents"] != PARENTS[index]:  # another entry, sound by itself: the next tells
        assert found([*texts, lines(alpha())[0]], ALPHA_SID)[0] in (index, index + 1)
    else:
        assert found(texts, ALPHA_SID)[0] == index


PARENTS = [json.loads(text)["entry"]["parents"] for text in ALPHA]


def _entry_of(text: bytes) -> dict[str, Any] | None:
    try:
        value: Any = json.loads(text)["entry"]
    except (ValueError, KeyError, TypeError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("parents"), list) else None


def rewritten(change: Callable[[list[Spec]], list[Spec]], journal: Journal | None = None) -> tuple[list[bytes], str]:
    other = (journal or open_session(4)).rewritten(change)
    return lines(other), other.sid


def with_last(**members: Any) -> tuple[list[bytes], str]:
    return rewritten(lambda specs: [*specs[:-1], replace(specs[-1], **members)])


def test_an_entry_of_another_session_number_or_predecessor_is_found_in_this_order() -> None:
    other = lines(beta())
    assert found([*ALPHA[:2], other[2]], ALPHA_SID) == (2, "sid")
    assert found([*ALPHA[:2], other[3]], ALPHA_SID) == (2, "sid")
    assert found([*ALPHA[:2], ALPHA[3]], ALPHA_SID) == (2, "n")
    forked = alpha().rewritten(lambda specs: [replace(specs[0], seed=b"\x01" * 32), *specs[1:]])
    assert found([*ALPHA[:2], lines(forked)[2]], ALPHA_SID) == (2, "prev")
    assert found([ALPHA[1]], ALPHA_SID) == (0, "n")
    assert found([ALPHA[0]], "0a" * 16) == (0, "sid")


def test_a_first_entry_that_does_not_follow_from_genesis_is_found() -> None:
    value = json.loads(ALPHA[0])
    value["entry"]["prev"] = "0b" * 32
    assert found([canonical(value)], ALPHA_SID) == (0, "prev")


# Parents, seeds, order -----------------------------------------------------------------------------------------------


def test_parents_are_earlier_entries_of_this_journal() -> None:
    sound: list[tuple[int | str, ...]] = [(0,), (2, 0), (2, 1, 0)]
    for parents in sound:
        texts, sid = with_last(parents=parents)
        assert fed(texts, sid).foreign == []
    wrong: list[tuple[int | str, ...]] = [("5" * 64,), (1, "5" * 64), (1, 1), (0, 1, 0)]
    for parents in wrong:
        texts, sid = with_last(parents=parents)
        assert found(texts, sid) == (3, "parent")


def test_references_to_other_sessions_are_kept_with_the_entry_that_makes_them() -> None:
    reference = f"{session_id('alpha')}#{'5' * 64}"
    texts, sid = with_last(parents=(1, reference, reference.replace("#5", "#6")))
    assert fed(texts, sid).foreign == [(3, reference), (3, reference.replace("#5", "#6"))]


def test_a_reference_to_this_session_as_if_to_another_is_found() -> None:
    journal = open_session(4)
    texts, sid = with_last(parents=(journal.reference(1),))
    assert found(texts, sid) == (3, "parent")
    texts, sid = with_last(parents=(f"{session_id('alpha')}#{'5' * 64}", journal.reference(1)))
    assert found(texts, sid) == (3, "parent")
    texts, sid = with_last(parents=(f"{session_id('alpha')}#{'5' * 64}",) * 2)
    assert found(texts, sid) == (3, "parent")


def test_an_entry_is_no_parent_of_itself() -> None:
    journal = open_session(4)
    value = json.loads(lines(journal)[3])
    value["entry"]["parents"] = [journal.hash(3)]
    assert found([*lines(journal)[:3], canonical(value)], journal.sid) == (3, "parent")


def test_a_seed_is_shown_once_in_a_journal() -> None:
    journal = open_session(4)
    first = bytes.fromhex(json.loads(lines(journal)[1])["seed"])
    texts, sid = with_last(seed=first)
    assert found(texts, sid) == (3, "seed")
    withheld = [*texts[:1], line_text(redact(parse_line(texts[1]), Redaction.CONTENT)), *texts[2:]]
    assert fed(withheld, sid, Place.LONE).size == 4


@each(
    "kind, meta, rule",
    [
        ("recovery", {"bytes": 3}, None),
        ("session_start", {"resumed": True}, None),
        ("session_start", {"resumed": False}, "order"),
        ("session_start", {"resumed": 1}, "order"),
        ("session_start", {}, "order"),
        ("user", {"resumed": True}, "order"),
        ("session_end", {}, "order"),
    ],
)
def test_after_the_end_a_session_can_only_be_resumed_or_recovered(
    kind: str, meta: dict[str, Any], rule: str | None
) -> None:
    journal = beta()
    journal.add(kind, **meta)
    if rule is None:
        chain = fed(lines(journal), journal.sid)
        assert (chain.size, chain.closed) == (5, False)
    else:
        assert found(lines(journal), journal.sid) == (4, rule)


def test_a_recovery_leaves_a_session_ended_and_a_start_does_not() -> None:
    journal = beta()
    journal.add("recovery", bytes=3)
    journal.add("recovery", bytes=4)
    journal.add("user", {"content.text": "more"})
    assert found(lines(journal), journal.sid) == (6, "order")
    again = resumed()
    chain = fed(lines(again), again.sid)
    assert (chain.size, chain.closed) == (7, True)


def test_a_recovery_before_the_end_ends_nothing() -> None:
    journal = open_session(2)
    journal.add("recovery", bytes=3)
    journal.add("user", {"content.text": "more"})
    assert fed(lines(journal), journal.sid).size == 4


@each(
    "place, in_ledger, kind, rule",
    [
        (Place.STORE, False, "session_start", None),
        (Place.STORE, False, "store_start", "order"),
        (Place.STORE, False, "user", "order"),
        (Place.LONE, False, "session_start", None),
        (Place.LONE, False, "user", "order"),
        (Place.LONE, True, "store_start", None),
        (Place.LONE, True, "session_start", "order"),
        (Place.LEDGER, False, "store_start", None),
        (Place.LEDGER, False, "session_start", "order"),
    ],
)
def test_a_journal_begins_as_it_must(place: Place, in_ledger: bool, kind: str, rule: str | None) -> None:
    journal = Journal("0a" * 16)
    journal.add(kind, key="did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", source="sdk")
    journal.add("weather")
    if rule is None:
        assert fed(lines(journal), journal.sid, place, in_ledger=in_ledger).size == 2
    else:
        assert found(lines(journal), journal.sid, place, in_ledger=in_ledger) == (0, rule)


def test_a_line_that_shows_no_type_cannot_be_out_of_order() -> None:
    journal = beta()
    journal.add("user", {"content.text": "more"})
    bare = [line_text(redact(parse_line(text), Redaction.FULL)) for text in lines(journal)]
    assert fed(bare, journal.sid, Place.LONE).size == 5
    assert not fed(bare[:4], journal.sid, Place.LONE).closed
    mixed = [*lines(journal)[:3], bare[3], lines(journal)[4]]
    assert fed(mixed, journal.sid, Place.LONE).size == 5
    after = beta()
    after.add("user", {"content.text": "more"})
    after.add("user", {"content.text": "and more"})
    texts = lines(after)
    texts[4] = line_text(redact(parse_line(texts[4]), Redaction.FULL))
    assert fed(texts, after.sid, Place.LONE).size == 6


def test_a_clock_that_goes_back_is_counted() -> None:
    journal = open_session(1)
    for seconds in (5, 3, 3, 4, 2):
        journal.add("user", recorded=moment(seconds))
    assert fed(lines(journal), journal.sid).clock_steps == 2
    texts = lines(journal)
    texts[2] = line_text(redact(parse_line(texts[2]), Redaction.FULL))
    assert fed(texts, journal.sid, Place.LONE).clock_steps == 2  # 5, not shown, 3, 4, 2
    onward = lines(alpha())
    onward[2] = line_text(redact(parse_line(onward[2]), Redaction.FULL))
    assert fed(onward, ALPHA_SID, Place.LONE).clock_steps == 0


# What is withheld ----------------------------------------------------------------------------------------------------


def view_of(journal: Journal, n: int, *names: str, kind: str = "erasure", entry: str | None = None) -> LedgerView:
    view = LedgerView()
    if kind == "erasure":
        view.feed(
            {"type": kind, "session": journal.sid, "n": n, "entry": entry or journal.hash(n), "names": list(names)}
        )
    else:
        drop = {"action": "drop_content", "session": journal.sid, "from": n, "to": n, "names": list(names)}
        view.feed({"type": "retention"} | drop)
    return view


def with_form(journal: Journal, n: int, names: set[str]) -> list[bytes]:
    texts = lines(journal)
    texts[n] = line_text(withhold(parse_line(texts[n]), frozenset(names)))
    return texts


def test_in_a_store_what_is_withheld_needs_the_ledgers_word() -> None:
    journal = alpha()
    texts = with_form(journal, 2, {"content.text", "content.thinking"})
    assert found(texts, journal.sid) == (2, "withheld")
    assert found(texts, journal.sid, view=view_of(journal, 2, "content.text")) == (2, "withheld")
    assert found(texts, journal.sid, view=view_of(journal, 1, "content.text", "content.thinking")) == (2, "withheld")
    wrong = view_of(journal, 2, "content.text", "content.thinking", entry=journal.hash(1))
    assert found(texts, journal.sid, view=wrong) == (2, "withheld")
    chain = fed(texts, journal.sid, view=view_of(journal, 2, "content.text", "content.thinking"))
    assert chain.disclosure == Disclosure(withheld=2, erased=2)
    assert chain.unfinished == []


def test_what_retention_dropped_is_withheld_and_not_erased() -> None:
    journal = alpha()
    texts = with_form(journal, 2, {"content.text"})
    chain = fed(texts, journal.sid, view=view_of(journal, 2, "content.text", kind="retention"))
    assert chain.disclosure == Disclosure(withheld=1, erased=0)


def test_meta_is_never_withheld_in_a_store() -> None:
    journal = alpha()
    view = view_of(journal, 2, "meta", "content.text", "content.thinking")
    for names in ({"meta"}, {"meta", "content.text", "content.thinking"}):
        assert found(with_form(journal, 2, names), journal.sid, view=view) == (2, "withheld")
    bare = lines(journal)
    bare[2] = line_text(redact(parse_line(bare[2]), Redaction.FULL))
    assert found(bare, journal.sid, view=view) == (2, "withheld")


def test_a_lone_file_may_withhold_what_it_likes() -> None:
    journal = alpha()
    for names in ({"content.text"}, {"meta"}, {"meta", "content.text", "content.thinking"}):
        chain = fed(with_form(journal, 2, names), journal.sid, Place.LONE)
        assert chain.disclosure == Disclosure(withheld=len(names))


def test_an_erased_value_that_is_still_shown_is_said() -> None:
    journal = alpha()
    chain = fed(lines(journal), journal.sid, view=view_of(journal, 2, "content.text"))
    assert (chain.unfinished, chain.disclosure) == ([2], Disclosure())
    half = with_form(journal, 2, {"content.text"})
    chain = fed(half, journal.sid, view=view_of(journal, 2, "content.text", "content.thinking"))
    assert (chain.unfinished, chain.disclosure) == ([2], Disclosure(withheld=1, erased=1))
    other = view_of(journal, 2, "content.text", entry=journal.hash(1))
    assert fed(lines(journal), journal.sid, view=other).unfinished == []


def test_an_erased_value_whose_blob_is_still_there_is_said() -> None:
    journal = pictures()
    texts, view = with_form(journal, 1, {"content.part_0"}), view_of(journal, 1, "content.part_0")
    blobs = journal.blobs("b")
    assert fed(texts, journal.sid, view=view, read_blob=lambda name: None).unfinished == []
    assert fed(texts, journal.sid, view=view).unfinished == []
    reader = lambda name: [blobs[f"b/{name[:2]}/{name}"]]  # noqa: E731 - it is one expression, and used here only
    assert fed(texts, journal.sid, view=view, read_blob=reader).unfinished == [1]


def test_the_ledger_withholds_nothing() -> None:
    journal = Journal("0a" * 16)
    journal.add("store_start", key="did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp")
    journal.add("weather", {"content.reason": "rain"})
    assert fed(lines(journal), journal.sid, Place.LEDGER).size == 2
    texts = with_form(journal, 1, {"content.reason"})
    assert found(texts, journal.sid, Place.LEDGER) == (1, "withheld")


def test_an_absent_blob_needs_the_ledgers_word_too() -> None:
    journal = pictures()
    gone: Any = lambda name: None  # noqa: E731
    assert found(lines(journal), journal.sid, read_blob=gone) == (1, "blob")
    assert found(lines(journal), journal.sid) == (1, "blob")
    chain = fed(lines(journal), journal.sid, view=view_of(journal, 1, "content.part_0"), read_blob=gone)
    assert (chain.disclosure, chain.unfinished) == (Disclosure(absent_blobs=1), [1])
    assert found(lines(journal), journal.sid, view=view_of(journal, 1, "content.text")) == (1, "blob")
    dropped = fed(lines(journal), journal.sid, view=view_of(journal, 1, "content.part_0", kind="retention"))
    assert dropped.disclosure == Disclosure(absent_blobs=1)
    assert fed(lines(journal), journal.sid, Place.LONE).disclosure == Disclosure(absent_blobs=1)


def test_counts_are_of_accepted_entries_only() -> None:
    journal = beta()
    journal.add("user", {"content.text": "more"})
    texts = with_form(journal, 4, {"content.text"})
    chain = Chain(journal.sid, Terms(Place.LONE))
    for text in texts[:4]:
        chain.feed(text)
    with pytest.raises(FormatError):
        chain.feed(texts[4])
    assert chain.disclosure == Disclosure()


# Levels --------------------------------------------------------------------------------------------------------------


@each("level", Redaction)
@each("shown", Redaction)
def test_a_promised_level_is_held_to(level: Redaction, shown: Redaction) -> None:
    journal = open_session(3)
    texts = [line_text(redact(parse_line(text), shown)) for text in lines(journal)]
    if level is shown or (level, shown) == (
        Redaction.NONE,
        Redaction.CONTENT,
    ):  # what was erased is withheld at `none` too
        assert fed(texts, journal.sid, Place.LONE, level=level).size == 3
    else:
        assert found(texts, journal.sid, Place.LONE, level=level)[1] == "class"


def test_where_a_line_stands_is_asked_before_its_level() -> None:
    journal = open_session(3)
    texts = [line_text(redact(parse_line(text), Redaction.FULL)) for text in lines(journal)]
    assert found([texts[0], texts[2]], journal.sid, Place.LONE, level=Redaction.NONE)[1] == "class"
    chain = Chain(journal.sid, Terms(Place.LONE, level=Redaction.NONE))
    with pytest.raises(FormatError) as error:
        chain.feed(texts[1])
    assert error.value.rule == "n"
