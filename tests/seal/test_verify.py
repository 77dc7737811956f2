"""From a ledger's word and a journal's lines to a verdict; the vectors hold the whole, these the parts and their edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.model.verdict import (
    Authenticity,
    Completeness,
    Defect,
    Disclosure,
    Level,
    Require,
    Rule,
    SessionVerdict,
    Verdict,
)
from tallystick.seal.hashes import genesis
from tallystick.seal.ledger import LedgerView
from tallystick.seal.ledgercheck import LedgerCheck
from tallystick.seal.line import parse_line
from tallystick.seal.merkle import EMPTY_ROOT
from tallystick.seal.redact import Redaction, line_text, redact
from tallystick.seal.verify import (
    Said,
    SessionCheck,
    check_lone,
    check_session,
    conclude,
    contained,
    ledger_with_foreign_parents,
    two_files,
    wanted_entries,
    with_foreign_parents,
)
from tests.seal.sentences import reads_well
from tests.support.cases import each
from tools.vectors.maker import STORE, Held, Journal, Spec, Store, alpha, beta, edited, open_session
from tools.vectors.removed import erase_lines

A = alpha().sid


def view_of(journal: Journal, *sizes: int, **other: Any) -> LedgerView:
    view = LedgerView()
    for size in sizes:
        root = journal.root(size) if size else EMPTY_ROOT.hex()
        head = {"session": journal.sid, "size": size, "root": root, "closed": True}
        view.feed({"type": "session_head"} | head | other)
    return view


def check(
    text: bytes | None, view: LedgerView, *, sid: str = A, is_signed: bool = True, **other: Any
) -> SessionVerdict:
    said = Said(view, is_signed, other.pop("tail", None))
    found = check_session(sid, None if text is None else Held(text), said, **other)
    assert found.verdict.session == sid
    assert all(map(reads_well, (*found.remarks, *([found.verdict.defect.why] if found.verdict.defect else []))))
    return found.verdict


def outcome(verdict: SessionVerdict) -> tuple[int, str, int, str, tuple[int | None, str] | None]:
    bad = verdict.defect
    return (
        verdict.steps,
        verdict.completeness.value,
        verdict.unsealed,
        verdict.authenticity.value,
        None if bad is None else (bad.n, bad.rule.value),
    )


# A session of a store ------------------------------------------------------------------------------------------------


def test_a_closed_session_under_its_head_is_sealed() -> None:
    assert outcome(check(alpha().text(), view_of(alpha(), 6))) == (6, "sealed", 0, "signed", None)
    assert outcome(check(alpha().text(), view_of(alpha(), 0, 2, 6))) == (6, "sealed", 0, "signed", None)


def test_without_a_signed_head_nothing_is_sealed() -> None:
    assert outcome(check(alpha().text(), view_of(alpha(), 6), is_signed=False)) == (6, "truncated", 6, "unsigned", None)
    assert outcome(check(alpha().text(), LedgerView())) == (6, "truncated", 6, "unsigned", None)


def test_entries_beyond_the_last_head_are_unsealed() -> None:
    assert outcome(check(alpha().text(), view_of(alpha(), 2, 5))) == (6, "truncated", 1, "signed", None)
    assert outcome(check(alpha().text(5), view_of(alpha(), 5))) == (5, "truncated", 0, "signed", None)


def test_a_session_shorter_than_its_largest_head_is_cut() -> None:
    assert outcome(check(alpha().text(5), view_of(alpha(), 2, 6))) == (5, "cut", 0, "signed", (5, "cut"))
    assert outcome(check(b"", view_of(alpha(), 6))) == (0, "cut", 0, "signed", (0, "cut"))
    assert outcome(check(alpha().text(5), view_of(alpha(), 6), is_signed=False)) == (
        5,
        "cut",
        5,
        "unsigned",
        (5, "cut"),
    )


def test_a_journal_without_lines_and_heads_has_no_defect() -> None:
    assert outcome(check(b"", LedgerView())) == (0, "truncated", 0, "unsigned", None)
    assert outcome(check(b"{", LedgerView())) == (0, "truncated", 0, "unsigned", None)
    assert outcome(check(b"", view_of(alpha(), 0))) == (0, "truncated", 0, "signed", None)


def test_another_root_is_found_at_the_last_entry_of_its_size() -> None:
    for size in (1, 3, 6):
        view = view_of(alpha(), size, root="0" * 64)
        assert outcome(check(alpha().text(), view)) == (size - 1, "truncated", 0, "signed", (size - 1, "head"))
    assert outcome(check(alpha().text(), view_of(alpha(), 0, root="0" * 64))) == (
        0,
        "truncated",
        0,
        "signed",
        (0, "head"),
    )
    assert outcome(check(b"", view_of(alpha(), 0, root="0" * 64))) == (0, "truncated", 0, "signed", (0, "head"))


def test_two_heads_of_one_size_must_have_one_root() -> None:
    view = view_of(alpha(), 3, 3)
    assert check(alpha().text(), view).defect is None
    view.feed({"type": "session_head", "session": A, "size": 3, "root": "0" * 64, "closed": False})
    assert outcome(check(alpha().text(), view))[4] == (2, "head")


def test_of_two_defects_the_earlier_entry_is_told() -> None:
    broken = edited(alpha().text(), 4, b"42 notes", b"43 notes")
    wrong = view_of(alpha(), 3, root="0" * 64)
    assert outcome(check(broken, wrong))[4] == (2, "head")
    assert outcome(check(edited(alpha().text(), 1, b"Count", b"count"), wrong))[4] == (1, "fields")
    assert outcome(check(broken, view_of(alpha(), 6))) == (4, "truncated", 0, "signed", (4, "fields"))
    # At entry 0 the line comes before the head of nothing.
    first = edited(alpha().text(), 0, b"notes", b"Notes")
    assert outcome(check(first, view_of(alpha(), 0, root="0" * 64)))[4] == (0, "fields")


def test_a_broken_journal_can_be_cut_too() -> None:
    broken = edited(alpha().text(4), 2, b"count them", b"count us")
    assert outcome(check(broken, view_of(alpha(), 6))) == (2, "cut", 0, "signed", (2, "fields"))
    assert outcome(check(broken, view_of(alpha(), 4))) == (2, "truncated", 0, "signed", (2, "fields"))
    assert outcome(check(broken, view_of(alpha(), 1))) == (2, "truncated", 1, "signed", (2, "fields"))


def test_a_session_that_is_gone_is_missing_or_dropped() -> None:
    view = view_of(alpha(), 6)
    assert outcome(check(None, view)) == (0, "missing", 0, "signed", (None, "missing"))
    assert outcome(check(None, view, is_signed=False)) == (0, "missing", 0, "unsigned", (None, "missing"))
    view.feed({"type": "retention", "action": "drop_session", "session": A, "size": 6, "root": alpha().root(6)})
    assert outcome(check(None, view)) == (0, "dropped", 0, "signed", None)
    kept = check_session(A, Held(alpha().text()), Said(view, True))
    assert outcome(kept.verdict) == (6, "sealed", 0, "signed", None)
    assert len(kept.remarks) == 1


def test_what_the_ledger_says_is_erased_may_be_withheld() -> None:
    view = view_of(alpha(), 6)
    erased = erase_lines(alpha(), 1, 1, frozenset({"content.text"}))
    assert outcome(check(erased, view))[4] == (1, "withheld")
    view.feed({"type": "erasure", "session": A, "n": 1, "entry": alpha().hash(1), "names": ["content.text"]})
    found = check_session(A, Held(erased), Said(view, True))
    assert outcome(found.verdict) == (6, "sealed", 0, "signed", None)
    assert (found.verdict.disclosure, found.remarks) == (Disclosure(withheld=1, erased=1), ())
    assert len(check_session(A, Held(alpha().text()), Said(view, True)).remarks) == 1


def test_what_is_worth_saying_is_said() -> None:
    def remarks(text: bytes, **other: Any) -> int:
        found = check_session(A, Held(text), Said(view_of(alpha(), 2), True, **other)).remarks
        assert all(map(reads_well, found))
        return len(found)

    assert remarks(alpha().text()) == 0
    assert remarks(alpha().text() + b"{") == 1
    assert remarks(alpha().text(5), tail=view_of(alpha(), 5)) == 0
    assert remarks(alpha().text(5), tail=view_of(alpha(), 6)) == 1
    assert remarks(alpha().text(5), tail=view_of(beta(), 4)) == 0
    backwards = Journal(A)
    backwards.add("session_start", recorded="2026-01-02T03:04:09.000000Z")
    backwards.add("user", recorded="2026-01-02T03:04:08.000000Z")
    found = check_session(A, Held(backwards.text()), Said(LedgerView(), True))
    assert len(found.remarks) == 1


def test_the_last_sound_entry_is_told_for_an_index_to_be_compared() -> None:
    found = check_session(A, Held(alpha().text()), Said(LedgerView(), False))
    assert found.last == alpha().hash(5)
    assert check_session(A, Held(b""), Said(LedgerView(), False)).last == genesis(A).hex()
    assert check_session(A, None, Said(view_of(alpha(), 6), True)).last == ""


def with_blob() -> Journal:
    return Journal(A, [Spec({"type": "session_start", "source": "sdk"}, {}, {"content.part_0": b"png"})])


def test_blobs_are_asked_for() -> None:
    journal = with_blob()
    assert check(journal.text(), LedgerView()).defect is not None
    assert check(journal.text(), LedgerView(), read_blob=lambda name: [b"png"]).defect is None


def test_of_two_files_of_one_session_none_is_read() -> None:
    found = two_files(A, 2, view_of(alpha(), 6), is_signed=True)
    assert outcome(found.verdict) == (0, "truncated", 0, "signed", (0, "sid"))
    assert (found.verdict.session, found.foreign, found.remarks, found.last) == (A, (), (), "")
    assert two_files(A, 2, view_of(alpha(), 6), is_signed=False).verdict.authenticity is Authenticity.UNSIGNED
    assert two_files(A, 2, view_of(beta(), 4), is_signed=True).verdict.authenticity is Authenticity.UNSIGNED
    assert "3 files" in str(two_files(A, 3, LedgerView(), is_signed=True).verdict.defect)


# References between sessions -----------------------------------------------------------------------------------------


def referring(*references: str, view: LedgerView | None = None) -> SessionCheck:
    """A check of a session whose entry 1, 2, … refers to these."""
    journal = open_session(1)
    for reference in references:
        journal.add("user", parents=(reference,))
    return check_session(journal.sid, Held(journal.text()), Said(view or LedgerView(), view is not None))


TO_3, TO_4 = alpha().reference(3), alpha().reference(4)
LOST = f"{A}#{'5' * 64}"


def test_the_entries_wanted_are_gathered_by_session() -> None:
    other = beta().reference(1)
    checks = [referring(TO_3, other), referring(TO_4, TO_3)]
    assert wanted_entries(checks) == {A: {alpha().hash(3), alpha().hash(4)}, beta().sid: {beta().hash(1)}}
    assert wanted_entries([]) == {}
    ledger = LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), foreign=((1, LOST),))
    assert wanted_entries(checks[:1], ledger)[A] == {alpha().hash(3), "5" * 64}


def test_entries_are_found_in_a_journal_whatever_else_is_wrong_with_it() -> None:
    wanted = frozenset((alpha().hash(0), alpha().hash(3), "5" * 64))
    assert contained(Held(alpha().text()), wanted) == {alpha().hash(0), alpha().hash(3)}
    assert contained(Held(alpha().text(3)), wanted) == {alpha().hash(0)}
    for broken in (
        edited(alpha().text(), 3, b"notes.txt", b"novel.txt"),
        b"prose\n\n[]\n{}\n" + alpha().text(),
        b"\xff\n" + b"[" * 65 + b"\n" + alpha().text(),
        b"x" * 1_048_577 + b"\n" + alpha().text(),
    ):
        assert contained(Held(broken), wanted) == {alpha().hash(0), alpha().hash(3)}
    assert contained(Held(alpha().text().replace(b'"v":1', b'"v":"1"')), wanted) == frozenset()
    assert contained(Held(alpha().text()), frozenset()) == frozenset()


def test_a_line_that_is_too_long_or_too_deep_is_not_read_for_its_entry() -> None:
    line = alpha().text().split(b"\n")[3]
    wanted = frozenset((alpha().hash(3),))
    room = 1_048_576 - len(line)
    assert contained([line + b" " * room], wanted) == wanted
    assert contained([line + b" " * (room + 1)], wanted) == frozenset()
    deep = line[:-1] + b',"x":' + b"[" * 63 + b"]" * 63 + b"}"
    deeper = line[:-1] + b',"x":' + b"[" * 64 + b"]" * 64 + b"}"
    assert contained([deep], wanted) == wanted
    assert contained([deeper], wanted) == frozenset()


def test_reading_ends_when_all_were_found() -> None:
    taken: list[bytes] = []

    def lines() -> Iterator[bytes]:
        for text in alpha().text().splitlines():
            taken.append(text)
            yield text

    assert len(contained(lines(), frozenset((alpha().hash(1), alpha().hash(2))))) == 2
    assert len(taken) == 3


def test_a_reference_that_is_found_or_dropped_is_fine() -> None:
    check = referring(TO_3, TO_4)
    known = {A: frozenset((alpha().hash(3), alpha().hash(4)))}
    assert with_foreign_parents(check, known, ()) is check
    assert with_foreign_parents(check, {}, [A]) is check
    assert with_foreign_parents(check, {A: frozenset((alpha().hash(3),))}, [A]) is check


def test_a_reference_that_is_nowhere_is_a_defect_of_its_entry() -> None:
    journal = open_session(1)
    journal.add("user", parents=(TO_3,))
    journal.add("user", parents=(LOST,))
    journal.add("session_end")
    known = {A: frozenset((alpha().hash(3),))}
    made = check_session(journal.sid, Held(journal.text()), Said(LedgerView(), True))
    cases: list[tuple[tuple[int, ...], int]] = [((4,), 0), ((1,), 1), ((2,), 0), ((), 2)]
    for sizes, sealed in cases:
        made = check_session(journal.sid, Held(journal.text()), Said(view_of(journal, *sizes), True))
        found = with_foreign_parents(made, known, [beta().sid]).verdict
        assert (found.defect is not None, found.steps, found.unsealed) == (True, 2, sealed)
        assert found.defect is not None
        assert (found.defect.session, found.defect.n, found.defect.rule) == (journal.sid, 2, Rule.PARENT)
        assert found.completeness is Completeness.TRUNCATED
    first = with_foreign_parents(made, {beta().sid: known[A]}, ()).verdict
    assert (first.steps, first.defect and first.defect.n) == (1, 1)


def test_an_earlier_defect_stands_before_a_lost_reference() -> None:
    def with_defect(n: int | None, rule: Rule, completeness: Completeness = Completeness.TRUNCATED) -> SessionCheck:
        found = session(A, completeness=completeness, defect=Defect(A, n, rule, "so"))
        return msgspec.structs.replace(found, foreign=((3, LOST),))

    for before in (with_defect(2, Rule.HEAD), with_defect(3, Rule.FIELDS), with_defect(3, Rule.PARENT)):
        assert with_foreign_parents(before, {}, ()) is before
    for later in (with_defect(3, Rule.SEED), with_defect(4, Rule.LIMIT), with_defect(5, Rule.CUT, Completeness.CUT)):
        found = with_foreign_parents(later, {}, ()).verdict
        assert found.defect is not None
        assert (found.defect.rule, found.defect.n, found.steps) == (Rule.PARENT, 3, 3)
        assert found.completeness is later.verdict.completeness


def test_a_lost_reference_of_the_ledger_is_a_defect_of_the_ledger() -> None:
    ledger = LedgerCheck(
        store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=2, foreign=((1, TO_3), (2, LOST), (3, LOST))
    )
    known = {A: frozenset((alpha().hash(3),))}
    found = ledger_with_foreign_parents(ledger, known)
    assert [(item.session, item.n, item.rule) for item in found.defects] == [(STORE, 2, Rule.PARENT)]
    assert found.is_signed
    assert ledger_with_foreign_parents(ledger, {A: known[A] | {"5" * 64}}).defects == ()
    ledger.view.feed({"type": "retention", "action": "drop_session", "session": A, "size": 1, "root": "0" * 64})
    assert ledger_with_foreign_parents(ledger, {}) is ledger
    for n, rule, expected in (
        (1, Rule.FIELDS, Rule.FIELDS),
        (4, Rule.FIELDS, Rule.PARENT),
        (None, Rule.SIGNATURE, None),
    ):
        earlier = LedgerCheck(
            store_id=STORE,
            view=LedgerView(),
            tail=LedgerView(),
            foreign=((2, LOST),),
            defects=(Defect(STORE, n, rule, "so"),),
        )
        (first,) = ledger_with_foreign_parents(earlier, known).defects
        assert first.rule is (expected or rule)


# The conclusion ------------------------------------------------------------------------------------------------------


def session(
    sid: str = A,
    *,
    completeness: Completeness = Completeness.SEALED,
    authenticity: Authenticity = Authenticity.SIGNED,
    defect: Defect | None = None,
    remarks: tuple[str, ...] = (),
) -> SessionCheck:
    verdict = SessionVerdict(
        session=sid, steps=3, completeness=completeness, unsealed=1, authenticity=authenticity, defect=defect
    )
    return SessionCheck(verdict=verdict, last="", remarks=remarks)


def ledger(*, signed: bool = True, **other: Any) -> LedgerCheck:
    return LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=3 if signed else None, **other)


def test_authenticity_of_a_store_is_that_of_all_its_sessions() -> None:
    signed, unsigned = session("0a" * 16), session("0b" * 16, authenticity=Authenticity.UNSIGNED)
    assert conclude(ledger(), [signed]).authenticity is Authenticity.SIGNED
    assert conclude(ledger(), []).authenticity is Authenticity.SIGNED
    assert conclude(ledger(), [signed, unsigned]).authenticity is Authenticity.PARTLY_SIGNED
    assert conclude(ledger(), [unsigned]).authenticity is Authenticity.PARTLY_SIGNED
    assert conclude(ledger(signed=False), [signed]).authenticity is Authenticity.UNSIGNED
    wrong = conclude(ledger(signed=False, wrong_key=True), [unsigned])
    assert wrong.authenticity is Authenticity.WRONG_KEY
    assert [item.authenticity for item in wrong.sessions] == [Authenticity.WRONG_KEY]
    assert not wrong.valid


def test_the_level_is_a2_if_a_head_covers_the_ledger() -> None:
    for signed, level in ((True, Level.A2), (False, Level.A1)):
        verdict = conclude(ledger(signed=signed), [])
        assert verdict.level is level
        assert verdict.why_not_higher
    assert conclude(ledger(), []).why_not_higher != conclude(ledger(pinned=True), []).why_not_higher


@each("worst", Completeness)
def test_completeness_of_a_store_is_that_of_its_worst_session(worst: Completeness) -> None:
    order = [Completeness.SEALED, Completeness.DROPPED, Completeness.TRUNCATED, Completeness.CUT, Completeness.MISSING]
    others = order[: order.index(worst) + 1]
    checks = [session(f"{number:032x}", completeness=value) for number, value in enumerate(others)]
    assert conclude(ledger(), checks).completeness is worst
    assert conclude(ledger(), checks[::-1]).completeness is worst
    cut = ledger(defects=(Defect(STORE, 1, Rule.CUT, "so"),))
    assert conclude(cut, checks).completeness is (worst if worst is Completeness.MISSING else Completeness.CUT)
    head = ledger(defects=(Defect(STORE, 1, Rule.HEAD, "so"),))
    assert conclude(head, checks).completeness is worst


def test_defects_come_in_order_and_remarks_are_gathered() -> None:
    one, other = Defect("0a" * 16, 1, Rule.PREV, "so"), Defect("0b" * 16, 0, Rule.N, "so")
    own = Defect(STORE, 9, Rule.FIELDS, "so")
    checks = [session("0b" * 16, defect=other, remarks=("two",)), session("0a" * 16, defect=one, remarks=("three",))]
    verdict = conclude(ledger(defects=(own,), remarks=("one",)), checks, remarks=("four",))
    assert verdict.defects == (own, one, other)
    assert [item.session for item in verdict.sessions] == ["0a" * 16, "0b" * 16]
    assert sorted(verdict.remarks) == ["four", "one", "three", "two"]
    assert verdict.remarks[0] == "one"
    assert (verdict.steps, verdict.unsealed) == (6, 2)
    nothing = conclude(ledger(), [])
    assert (nothing.completeness, nothing.steps, nothing.unsealed, nothing.exit_code) == (Completeness.SEALED, 0, 0, 0)
    assert nothing.require is Require.A2
    assert conclude(ledger(), [], require=Require.SEALED).require is Require.SEALED


# A lone file ---------------------------------------------------------------------------------------------------------


def lone(text: bytes, **other: Any) -> Verdict:
    found = check_lone(Held(text), **other)
    assert all(map(reads_well, (*found.remarks, found.why_not_higher, *(item.why for item in found.defects))))
    return found


def test_a_lone_file_is_unsigned_and_all_of_it_unsealed() -> None:
    verdict = lone(alpha().text())
    assert (verdict.completeness, verdict.authenticity, verdict.level) == ("truncated", "unsigned", "A1")
    assert (verdict.steps, verdict.unsealed, verdict.defects, verdict.exit_code) == (6, 6, (), 0)
    (only,) = verdict.sessions
    assert outcome(only) == (6, "truncated", 6, "unsigned", None)
    assert only.session == A
    assert verdict.why_not_higher
    assert verdict.require is Require.A1
    assert lone(alpha().text(), require=Require.A2).exit_code == 3


def test_a_name_of_a_file_counts_before_what_is_in_it() -> None:
    assert lone(alpha().text(), file_sid=A).defects == ()
    verdict = lone(alpha().text(), file_sid=beta().sid)
    assert [(item.session, item.n, item.rule) for item in verdict.defects] == [(beta().sid, 0, Rule.SID)]
    assert verdict.sessions[0].session == beta().sid


@each("text", [b"", b"torn"])
def test_a_lone_file_without_a_line_is_no_journal(text: bytes) -> None:
    verdict = lone(text)
    assert [(item.session, item.n, item.rule) for item in verdict.defects] == [(None, 0, Rule.LINE)]
    assert (verdict.exit_code, verdict.sessions[0].session, verdict.steps) == (4, None, 0)
    named = lone(text, file_sid=A)
    assert [named.sessions[0].session, named.defects[0].session] == [A, A]


def test_the_first_defect_of_a_lone_file_is_told() -> None:
    broken = edited(edited(alpha().text(), 4, b"42 notes", b"43 notes"), 2, b"count them", b"count us")
    verdict = lone(broken)
    assert [(item.session, item.n, item.rule) for item in verdict.defects] == [(A, 2, Rule.FIELDS)]
    assert (verdict.steps, verdict.unsealed, verdict.exit_code) == (2, 2, 2)
    prose = lone(b"prose\n" + alpha().text())
    assert [(item.session, item.n, item.rule) for item in prose.defects] == [(None, 0, Rule.LINE)]


def test_a_lone_ledger_is_read_as_one() -> None:
    store = Store(alpha()).seal()
    assert lone(store.ledger.text()).defects == ()
    broken = Store(alpha())
    broken.log("session_head", session="x")
    assert [(item.n, item.rule) for item in lone(broken.ledger.text()).defects] == [(1, Rule.CLASS)]


def test_a_promised_level_is_held_to_and_what_is_withheld_is_counted() -> None:
    text = b"".join(line_text(redact(parse_line(line), Redaction.FULL)) + b"\n" for line in alpha().text().splitlines())
    assert lone(text, redaction=Redaction.FULL).defects == ()
    assert lone(text).defects == ()
    assert lone(text, redaction=Redaction.CONTENT).integrity == "class"
    verdict = lone(erase_lines(alpha(), 2, 2, frozenset({"content.text", "content.thinking"})))
    assert (verdict.disclosure, verdict.defects) == (Disclosure(withheld=2), ())


def test_blobs_beside_a_lone_file_are_read() -> None:
    journal = with_blob()
    assert lone(journal.text()).disclosure == Disclosure(absent_blobs=1)
    assert lone(journal.text(), read_blob=lambda name: [b"png"]).disclosure == Disclosure()
    assert lone(journal.text(), read_blob=lambda name: [b"gnp"]).integrity == "blob"


def test_what_is_worth_saying_of_a_lone_file_is_said() -> None:
    assert lone(open_session().text()).remarks == ()
    assert len(lone(alpha().text()).remarks) == 1  # it ends, but who knows
    assert len(lone(open_session().text() + b"{").remarks) == 1
    assert len(lone(edited(open_session().text(), 1, b"prompt", b"answer") + b"{").remarks) == 1
    backwards = Journal(A)
    backwards.add("session_start", recorded="2026-01-02T03:04:09.000000Z", parents=(LOST.replace(A, STORE),))
    backwards.add("user", recorded="2026-01-02T03:04:08.000000Z")
    remarks = lone(backwards.text()).remarks
    assert len(remarks) == 2
    assert remarks[1].startswith("1 references")
