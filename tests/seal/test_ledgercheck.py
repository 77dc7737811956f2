"""What a ledger and its heads are worth: covered, cut, another history, another key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from tallystick.errors import FormatError
from tallystick.model.verdict import Defect, Level, Require, Rule, report
from tallystick.seal.keys import LOW_ORDER, PublicKey, SigningKey, did_key
from tallystick.seal.ledger import LedgerView
from tallystick.seal.ledgercheck import (
    KnownHead,
    LedgerCheck,
    Outside,
    check_ledger,
    found_defect,
    level_of,
    why_not_higher,
)
from tallystick.seal.merkle import EMPTY_ROOT
from tallystick.seal.note import sign_note
from tallystick.seal.verify import conclude
from tests.seal.sentences import reads_well
from tests.support.cases import each, each_case
from tools.vectors.maker import KEY, OTHER_KEY, STORE, Held, Journal, Spec, Store, alpha, beta, moment

A = alpha().sid
THIRD_KEY = SigningKey(b"\x03" * 32)


def store() -> Store:
    return Store(alpha(), beta()).seal()


def check(ledger: bytes | None, note: bytes | None, **other: Any) -> LedgerCheck:
    read_blob = other.pop("read_blob", None)
    return check_ledger(None if ledger is None else Held(ledger), note, Outside(**other), read_blob=read_blob)


def bad(found: LedgerCheck) -> tuple[str | None, int | None, str] | None:
    """The defect, and that nothing is signed that must not be."""
    if not found.defects:
        return None
    (defect,) = found.defects
    assert reads_well(defect.why)
    assert all(map(reads_well, found.remarks))
    return defect.session, defect.n, defect.rule.value


def head_over(ledger: Journal, size: int, *keys: SigningKey) -> bytes:
    return sign_note(STORE, size, bytes.fromhex(ledger.root(size)), keys or (KEY,))


def test_a_signed_ledger_is_covered() -> None:
    made = store()
    found = check(made.ledger.text(), made.note)
    assert bad(found) is None
    assert (found.store_id, found.head_size, found.is_signed, found.wrong_key, found.pinned) == (
        STORE,
        3,
        True,
        False,
        False,
    )
    assert (found.view.size, found.tail.size) == (3, 0)
    assert found.view.covered(A) == 6
    assert (found.foreign, found.remarks) == ((), ())


def test_entries_beyond_the_head_are_the_tail() -> None:
    made = store()
    found = check(made.ledger.text(), head_over(made.ledger, 2))
    assert (found.head_size, found.view.size, found.tail.size) == (2, 2, 1)
    assert (list(found.view.heads), list(found.tail.heads)) == ([A], [beta().sid])
    assert bad(found) is None


def test_a_head_of_size_0_covers_nothing_and_is_sound() -> None:
    made = store()
    note = sign_note(STORE, 0, EMPTY_ROOT, [KEY])
    found = check(made.ledger.text(), note)
    assert (bad(found), found.head_size, found.is_signed) == (None, 0, True)
    assert (found.view.size, found.tail.size) == (0, 3)
    wrong = check(made.ledger.text(), sign_note(STORE, 0, bytes(32), [KEY]))
    assert bad(wrong) == (STORE, None, "head")
    assert not wrong.is_signed
    both = check(made.ledger.text(), sign_note(STORE, 0, bytes(32), [OTHER_KEY]))
    assert (bad(both), both.wrong_key) == ((STORE, None, "head"), True)
    by_other = check(made.ledger.text(), sign_note(STORE, 0, EMPTY_ROOT, [OTHER_KEY]))
    assert (bad(by_other), by_other.wrong_key) == ((STORE, None, "signature"), True)


def test_without_a_head_all_entries_count_and_nothing_is_signed() -> None:
    made = store()
    found = check(made.ledger.text(), None)
    assert (bad(found), found.is_signed, found.head_size) == (None, False, None)
    assert (found.view.size, found.tail.size) == (3, 0)
    assert len(found.remarks) == 1


def test_without_a_ledger_nothing_is_said() -> None:
    found = check(None, None)
    assert (found.store_id, bad(found), found.view.size, found.is_signed) == (None, None, 0, False)
    assert len(found.remarks) == 1


def test_a_head_without_its_ledger_is_a_cut() -> None:
    made = store()
    for pinned in (None, KEY.public):
        for ledger in (None, b"", b"torn"):
            found = check(ledger, made.note, pinned=pinned)
            assert bad(found) == (STORE, 0, "cut")
            assert not found.is_signed
            assert not found.wrong_key
    assert bad(check(None, made.note, pinned=OTHER_KEY.public)) == (STORE, None, "signature")


def test_torn_bytes_and_a_clock_that_goes_back_are_said() -> None:
    made = store()
    assert len(check(made.ledger.text() + b"{", made.note).remarks) == 1
    backwards = Journal(
        STORE, [replace(made.ledger.specs[0], meta={**made.ledger.specs[0].meta, "recorded": moment(9)})]
    )
    backwards.append(made.ledger.specs[1])
    found = check(backwards.text(), head_over(backwards, 2))
    assert (bad(found), len(found.remarks)) == (None, 1)


def test_a_ledger_shorter_than_its_head_is_cut() -> None:
    made = store()
    found = check(made.ledger.text(2), made.note)
    assert bad(found) == (STORE, 2, "cut")
    assert (found.is_signed, found.view.size, found.tail.size) == (False, 2, 0)
    assert bad(check(made.ledger.text()[:-1], made.note)) == (STORE, 2, "cut")


def test_another_root_is_another_history() -> None:
    made, other = store(), Store(beta(), alpha()).seal()
    found = check(made.ledger.text(), other.note)
    assert bad(found) == (STORE, 2, "head")
    assert (found.is_signed, found.wrong_key, found.view.size) == (False, False, 3)


def test_a_ledger_that_is_not_sound_is_found_where_it_is() -> None:
    made = store()
    text = made.ledger.text().replace(b'"size":6', b'"size":5')
    found = check(text, made.note)
    assert bad(found) == (STORE, 1, "fields")
    assert (found.is_signed, found.wrong_key, found.view.size) == (False, False, 1)
    assert bad(check(text, None)) == (STORE, 1, "fields")
    # Both broken and cut: the earlier entry is told.
    assert bad(check(b"\n".join(text.split(b"\n")[:2]) + b"\n", made.note)) == (STORE, 1, "fields")
    # A head over the sound part covers.
    good = check(text, head_over(made.ledger, 1))
    assert (bad(good), good.head_size, good.view.size) == ((STORE, 1, "fields"), 1, 1)


def test_a_ledger_whose_beginning_is_not_sound_cannot_say_which_keys_count() -> None:
    made = store()
    text = made.ledger.text().replace(b'"store_start"', b'"store_stort"')
    found = check(text, made.note)
    assert bad(found) == (STORE, 0, "fields")
    assert (found.wrong_key, found.is_signed) == (False, False)
    assert bad(check(text, made.note, pinned=KEY.public)) == (STORE, 0, "fields")
    by_other = check(text, made.note, pinned=OTHER_KEY.public)
    assert (bad(by_other), by_other.wrong_key) == ((STORE, None, "signature"), True)


@each("text", [b"prose\n", b"{}\n", b"\n"])
def test_what_is_no_ledger_at_all_is_told_without_a_store(text: bytes) -> None:
    found = check(text, None)
    defect = found.defects[0]
    assert (defect.session, defect.n, defect.is_malformed) == (None, 0, True)
    assert found.store_id is None


def test_the_ledger_must_begin_with_store_start() -> None:
    journal = Journal(STORE, [Spec({"type": "weather"})])
    assert bad(check(journal.text(), None)) == (STORE, 0, "order")


def test_members_of_ledger_entries_are_asked() -> None:
    made = Store(alpha())
    made.log("session_head", session="x", size=1, root="0" * 64)
    assert bad(check(made.ledger.text(), None)) == (STORE, 1, "class")


def test_sizes_that_fall_below_the_head_are_a_defect_and_in_the_tail_they_are_not() -> None:
    made = Store(alpha())
    made.head(alpha()).head(alpha(), 4).head(alpha(), 5)
    found = check(made.ledger.text(), made.sign())
    assert bad(found) == (STORE, 2, "head")
    assert (found.is_signed, found.view.covered(A)) == (True, 6)
    assert bad(check(made.ledger.text(), head_over(made.ledger, 2))) is None
    assert bad(check(made.ledger.text(), None)) == (STORE, 2, "head")


# Heads ---------------------------------------------------------------------------------------------------------------


def test_a_head_of_another_store_is_no_head_of_this_one() -> None:
    made = store()
    note = sign_note("ab" * 16, 3, bytes.fromhex(made.ledger.root(3)), [KEY])
    found = check(made.ledger.text(), note)
    assert (bad(found), found.wrong_key, found.is_signed) == ((STORE, None, "signature"), False, False)
    assert bad(check(made.ledger.text(), note, pinned=KEY.public)) == (STORE, None, "signature")


def test_a_head_that_is_none_is_refused_with_its_rule() -> None:
    made = store()
    assert bad(check(made.ledger.text(), b"prose")) == (STORE, None, "signature")
    assert bad(check(made.ledger.text(), b"x" * (1 << 20) + b"x")) == (STORE, None, "limit")
    assert bad(check(None, b"prose")) == (None, None, "signature")
    assert not check(made.ledger.text(), b"prose").is_signed


def test_a_head_by_another_key_is_told_as_such() -> None:
    made = store()
    note = head_over(made.ledger, 3, OTHER_KEY)
    found = check(made.ledger.text(), note)
    assert (bad(found), found.wrong_key, found.is_signed) == ((STORE, None, "signature"), True, False)
    assert (found.view.size, found.tail.size) == (3, 0)
    right = check(made.ledger.text(), note, pinned=OTHER_KEY.public)
    assert (bad(right), right.wrong_key, right.is_signed, right.pinned) == (None, False, True, True)


def test_a_pinned_key_alone_counts() -> None:
    made = store()
    found = check(made.ledger.text(), made.note, pinned=KEY.public)
    assert (bad(found), found.is_signed, found.pinned) == (None, True, True)
    other = check(made.ledger.text(), made.note, pinned=OTHER_KEY.public)
    assert (bad(other), other.wrong_key) == ((STORE, None, "signature"), True)


def test_a_signature_of_a_known_key_that_fails_is_not_called_a_wrong_key() -> None:
    made = store()
    assert made.note is not None
    found = check(made.ledger.text(), made.note.replace(b"\n3\n", b"\n2\n"))
    assert (bad(found), found.wrong_key, found.is_signed) == ((STORE, None, "signature"), False, False)


def rotating() -> Journal:
    """KEY from entry 0, OTHER_KEY joins at 1, KEY retires at 2, THIRD_KEY joins at 3."""
    ledger = Store().ledger
    for kind, key in (("key_add", OTHER_KEY), ("key_retire", KEY), ("key_add", THIRD_KEY)):
        ledger.append(Spec({"type": kind, "key": did_key(key.public)}))
    return ledger


@each("size, known", [(0, {KEY}), (1, {KEY}), (2, {KEY, OTHER_KEY}), (3, {OTHER_KEY}), (4, {OTHER_KEY, THIRD_KEY})])
def test_the_keys_that_count_are_those_below_the_heads_size(size: int, known: set[SigningKey]) -> None:
    ledger = rotating()
    for key in (KEY, OTHER_KEY, THIRD_KEY):
        found = check(ledger.text(), head_over(ledger, size, key))
        assert found.is_signed is (key in known)
        assert found.wrong_key is (key not in known)
        remembered = check(ledger.text(), head_over(ledger, 4, OTHER_KEY), remembered=head_over(ledger, size, key))
        assert (bad(remembered) is None) is (key in known)


@each("weak", sorted(LOW_ORDER)[:3])
def test_a_low_order_key_in_the_ledger_signs_nothing(weak: bytes) -> None:
    made = Store(alpha(), key=did_key(PublicKey(weak)))
    note = head_over(made.ledger, 1)
    assert bad(check(made.ledger.text(), note)) == (STORE, None, "signature")
    assert check(made.ledger.text(), note, pinned=KEY.public).is_signed


# Remembered heads ----------------------------------------------------------------------------------------------------


def test_a_remembered_head_that_the_ledger_extends_is_fine() -> None:
    made = store()
    for size in (1, 2, 3):
        found = check(made.ledger.text(), made.note, remembered=head_over(made.ledger, size))
        assert (bad(found), found.head_size) == (None, 3)


@each(
    "remembered, expected",
    [
        (
            lambda made: head_over(Store(alpha(), beta()).head(alpha()).head(beta()).head(beta()).ledger, 4),
            (STORE, 3, "cut"),
        ),
        (lambda made: head_over(Store().head(beta()).ledger, 2), (STORE, 1, "head")),
        (lambda made: sign_note(STORE, 3, bytes(32), [KEY]), (STORE, 2, "head")),
        (lambda made: head_over(made.ledger, 2, OTHER_KEY), (STORE, None, "signature")),
        (lambda made: sign_note("ab" * 16, 1, bytes(32), [KEY]), (STORE, None, "signature")),
        (lambda made: b"prose", (STORE, None, "signature")),
    ],
    ids=["longer", "other history", "other root", "other key", "other store", "no head"],
)
def test_a_remembered_head_that_does_not_fit_is_a_defect_and_takes_nothing_away(
    remembered: Callable[[Store], bytes], expected: tuple[str, int | None, str]
) -> None:
    made = store()
    found = check(made.ledger.text(), made.note, remembered=remembered(made))
    assert bad(found) == expected
    assert (found.is_signed, found.wrong_key, found.head_size) == (True, False, 3)
    alone = check(made.ledger.text(), None, remembered=remembered(made))
    assert bad(alone) == expected
    assert not alone.is_signed


def test_a_remembered_head_alone_signs_nothing() -> None:
    made = store()
    found = check(made.ledger.text(), None, remembered=made.note)
    assert (bad(found), found.is_signed, found.view.size, found.tail.size) == (None, False, 3, 0)


def test_a_remembered_head_without_ledger_or_head_is_a_cut() -> None:
    found = check(None, None, remembered=store().note)
    assert bad(found) == (STORE, 0, "cut")
    assert found.store_id == STORE


def test_both_heads_must_be_of_one_store() -> None:
    other = sign_note("ab" * 16, 3, bytes(32), [KEY])
    found = check(None, store().note, remembered=other)
    assert found.store_id == STORE
    assert bad(found) == (STORE, None, "signature")


# Other ---------------------------------------------------------------------------------------------------------------


def test_of_several_defects_the_first_is_told() -> None:
    made = store()
    text = made.ledger.text().replace(b'"size":4', b'"size":3')  # entry 2
    assert bad(check(text, None)) == (STORE, 2, "fields")
    # A head of no entry comes before any entry.
    assert bad(check(text, b"prose")) == (STORE, None, "signature")
    # The remembered head differs at entry 0, the ledger at 2.
    assert bad(check(text, None, remembered=sign_note(STORE, 1, bytes(32), [KEY]))) == (STORE, 0, "head")


def test_references_of_ledger_entries_are_kept() -> None:
    made = store()
    reference = f"{A}#{'5' * 64}"
    made.ledger.append(Spec({"type": "weather"}, parents=(reference,)))
    assert check(made.ledger.text(), made.note).foreign == ((3, reference),)


def test_blobs_of_the_ledger_are_asked_for() -> None:
    made = store()
    made.ledger.append(Spec({"type": "weather"}, raw={"content.map": b"png"}))
    assert bad(check(made.ledger.text(), made.note)) == (STORE, 3, "blob")
    assert bad(check(made.ledger.text(), made.note, read_blob=lambda name: [b"png"])) is None


def test_an_error_becomes_the_defect_of_its_rule() -> None:
    assert found_defect(A, 5, FormatError("so", rule="prev")) == Defect(A, 5, Rule.PREV, "so")


def test_of_when_the_largest_head_of_those_who_agree_is_first_there_is_known_by_level() -> None:
    made = store()
    root = bytes.fromhex(made.ledger.root(3))
    earlier, later = "2026-11-20T00:00:00.000000Z", "2026-11-21T00:00:00.000000Z"
    known = [
        KnownHead(who="the signer", size=3, root=root, level=Level.A3, at=earlier),
        KnownHead(who="one place", size=3, root=root, level=Level.A4, at=earlier),
        KnownHead(who="another", size=3, root=root, level=Level.A4, at=later),
        KnownHead(who="one that says no time", size=3, root=root, level=Level.A4),
    ]
    assert check(made.ledger.text(), made.note, known=known).newest == {Level.A3: earlier, Level.A4: earlier}
    liar = msgspec.structs.replace(known[2], root=b"\x07" * 32)
    assert check(made.ledger.text(), made.note, known=[known[1], liar]).newest == {Level.A4: earlier}
    old = KnownHead(who="put again", size=2, root=bytes.fromhex(made.ledger.root(2)), level=Level.A4, at=later)
    assert check(made.ledger.text(), made.note, known=[known[1], old]).newest == {Level.A4: earlier}
    assert check(made.ledger.text(), made.note, known=[known[2], old]).newest == {Level.A4: later}
    behind = msgspec.structs.replace(known[0], size=2, root=bytes.fromhex(made.ledger.root(2)))
    assert check(made.ledger.text(), made.note, known=[behind]).newest == {}


@each(
    "head_size, agreed, level, says",
    [
        (None, (Level.A3, Level.A4), Level.A1, "no verified signed head"),
        (1, (), Level.A2, "nothing outside this store vouches for it"),
        (1, (Level.A4,), Level.A2, "anchored off this machine, but no separate signer"),
        (1, (Level.A3,), Level.A3, "nobody off this machine"),
        (1, (Level.A3, Level.A4), Level.A4, "no witness"),
    ],
)
def test_a_level_counts_with_all_below_it(
    head_size: int | None, agreed: tuple[Level, ...], level: Level, says: str
) -> None:
    found = LedgerCheck(
        store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=head_size, agreed=frozenset(agreed)
    )
    assert level_of(found) is level
    assert says in why_not_higher(found)
    assert conclude(found, []).level is level


@each_case("require, newest, code")
def test_a_head_that_is_too_old_is_an_alarm(require: Require, newest: dict[Level, str], code: int) -> None:
    agreed = frozenset((Level.A3, Level.A4))
    found = LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=1, agreed=agreed, newest=newest)
    verdict = conclude(found, [], require=require, since="2026-11-20T00:00:00.000000Z")
    assert verdict.exit_code == code
    assert verdict.valid is (code == 0)
    assert conclude(found, [], require=require).exit_code == 0
    assert all("older than 2026-11-20" in defect.why and reads_well(defect.why) for defect in verdict.defects)


def test_where_nobody_has_a_head_none_is_too_old_and_the_level_is_not_reached() -> None:
    found = LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=1)
    verdict = conclude(found, [], require=Require.A4, since="2026-11-20T00:00:00.000000Z")
    assert (verdict.exit_code, verdict.valid) == (3, True)
    assert verdict.too_old is not None
    assert verdict.too_old in report(verdict)["remarks"]
