"""What the ledger's entries say, as verification asks it."""

from __future__ import annotations

from typing import Any

from tallystick.seal.keys import PublicKey, SigningKey, did_key
from tallystick.seal.ledger import LedgerView, SessionHead
from tests.seal.sentences import refusal
from tests.support.cases import each

A, B = "0a" * 16, "0b" * 16
ROOT, ENTRY = "0c" * 32, "0d" * 32
KEYS = [SigningKey(bytes([number]) * 32).public for number in range(3)]


def view(*entries: dict[str, Any]) -> LedgerView:
    found = LedgerView()
    for entry in entries:
        found.feed(entry)
    return found


def head(size: int, session: str = A, **other: Any) -> dict[str, Any]:
    return {"type": "session_head", "session": session, "size": size, "root": ROOT, "closed": False} | other


def erasure(n: int, *names: str, session: str = A, entry: str = ENTRY) -> dict[str, Any]:
    return {"type": "erasure", "session": session, "n": n, "entry": entry, "names": list(names)}


def drop(first: int, last: int, *names: str, session: str = A) -> dict[str, Any]:
    return {
        "type": "retention",
        "action": "drop_content",
        "session": session,
        "from": first,
        "to": last,
        "names": [*names],
    }


def key(kind: str, number: int) -> dict[str, Any]:
    return {"type": kind, "key": did_key(KEYS[number])}


def test_nothing_was_said_yet() -> None:
    found = LedgerView()
    assert (found.size, found.heads, found.erasures, found.drops, found.dropped) == (0, {}, {}, {}, {})
    assert (found.keys, found.fallen) == ([], [])
    assert found.covered(A) == 0
    assert not found.releases(A, 0, ENTRY, "content.text")


def test_heads_are_kept_by_session_with_the_entry_that_says_them() -> None:
    found = view({"type": "weather"}, head(3, closed=True), head(2, B), head(3), head(5))
    assert found.size == 5
    assert found.heads == {
        A: [SessionHead(3, ROOT, True, 1), SessionHead(3, ROOT, False, 3), SessionHead(5, ROOT, False, 4)],
        B: [SessionHead(2, ROOT, False, 2)],
    }
    assert (found.covered(A), found.covered(B)) == (5, 2)
    assert found.fallen == []


def test_closed_is_true_or_it_is_not() -> None:
    assert not view(head(3, closed=1)).heads[A][0].closed
    assert not view({key: value for key, value in head(3).items() if key != "closed"}).heads[A][0].closed


def test_a_size_that_falls_is_noted_and_counts_for_nothing() -> None:
    found = view(head(5), head(4), head(9, B), head(4), head(5), head(6))
    assert found.fallen == [1, 3]
    assert [item.size for item in found.heads[A]] == [5, 5, 6]
    assert found.covered(A) == 6
    assert [item.size for item in view(head(1), head(0)).heads[A]] == [1]


def test_an_erasure_is_of_one_entry_and_its_names() -> None:
    found = view(erasure(3, "content.text", "content.args"), erasure(3, "personal.cwd"))
    for name in ("content.text", "content.args", "personal.cwd"):
        assert found.erases(A, 3, ENTRY, name)
        assert found.releases(A, 3, ENTRY, name)
    for session, n, entry, name in (
        (B, 3, ENTRY, "content.text"),
        (A, 2, ENTRY, "content.text"),
        (A, 4, ENTRY, "content.text"),
        (A, 3, ROOT, "content.text"),
        (A, 3, ENTRY, "content.output"),
    ):
        assert not found.erases(session, n, entry, name)
        assert not found.releases(session, n, entry, name)


def test_two_erasures_of_entries_with_one_number_do_not_mix() -> None:
    found = view(erasure(3, "content.text", entry=ENTRY), erasure(3, "content.args", entry=ROOT))
    assert found.erases(A, 3, ENTRY, "content.text")
    assert not found.erases(A, 3, ENTRY, "content.args")
    assert found.erases(A, 3, ROOT, "content.args")


def test_a_drop_of_content_is_of_a_range_and_erases_nothing() -> None:
    found = view(drop(2, 4, "content.text"), drop(9, 9, "content.args"))
    assert [n for n in range(12) if found.releases(A, n, ENTRY, "content.text")] == [2, 3, 4]
    assert [n for n in range(12) if found.releases(A, n, ENTRY, "content.args")] == [9]
    assert not any(found.releases(B, n, ENTRY, "content.text") for n in range(12))
    assert not found.erases(A, 3, ENTRY, "content.text")
    assert not view(drop(4, 2, "content.text")).releases(A, 3, ENTRY, "content.text")


def test_a_drop_of_a_session_is_kept_and_other_actions_say_nothing() -> None:
    gone = {"type": "retention", "action": "drop_session", "session": A, "size": 7, "root": ROOT}
    found = view({"type": "weather"}, gone)
    assert found.dropped == {A: SessionHead(7, ROOT, False, 1)}
    assert found.heads == {}
    other = view({"type": "retention", "action": "polish", "session": A})
    assert (other.dropped, other.drops, other.size) == ({}, {}, 1)


def test_keys_come_and_go() -> None:
    assert view(key("store_start", 0)).keys == [KEYS[0]]
    assert view(key("store_start", 0), key("key_add", 1), key("key_add", 1)).keys == KEYS[:2]
    assert view(key("store_start", 0), key("key_add", 1), key("key_retire", 0)).keys == [KEYS[1]]
    assert view(key("store_start", 0), key("key_retire", 2)).keys == [KEYS[0]]
    assert view(key("store_start", 0), key("key_retire", 0), key("key_add", 0)).keys == [KEYS[0]]


def test_a_key_of_another_kind_counts_for_nothing_and_a_low_order_one_is_kept_to_be_refused() -> None:
    other = {"type": "key_add", "key": "did:key:z" + "Q3sh" * 12}
    assert view(key("store_start", 0), other).keys == [KEYS[0]]
    assert view(key("store_start", 0), other | {"type": "key_retire"}).keys == [KEYS[0]]
    weak = PublicKey(bytes(32))
    assert view({"type": "store_start", "key": did_key(weak)}).keys == [weak]


@each(
    "entry, members",
    [
        (head(3), ("session", "size", "root")),
        (erasure(3, "content.text"), ("session", "n", "entry", "names")),
        (drop(2, 4, "content.text"), ("session", "from", "to", "names")),
        (
            {"type": "retention", "action": "drop_session", "session": A, "size": 7, "root": ROOT},
            ("session", "size", "root"),
        ),
        (key("store_start", 0), ("key",)),
        (key("key_add", 0), ("key",)),
        (key("key_retire", 0), ("key",)),
    ],
    ids=lambda value: value.get("action", value["type"]) if isinstance(value, dict) else "",
)
def test_members_that_are_not_there_are_said(entry: dict[str, Any], members: tuple[str, ...]) -> None:
    view(entry)
    for member in members:
        for wrong in (None, True, [1], -1, 0.5):
            assert refusal(lambda: view(entry | {member: wrong})) == "class"  # noqa: B023 - called at once
        assert refusal(lambda: view({key: item for key, item in entry.items() if key != member})) == "class"  # noqa: B023


def test_a_part_of_the_view_is_what_concerns_one_session() -> None:
    gone = {"type": "retention", "action": "drop_session", "session": A, "size": 7, "root": ROOT}
    of_a = [head(3), erasure(1, "content.text"), drop(2, 4, "content.args"), gone]
    of_b = [entry | {"session": B} for entry in of_a]
    whole = view(*of_a, *of_b, key("key_add", 0))
    part = whole.only(B)
    assert part.size == 9
    assert (list(part.heads), list(part.erasures), list(part.drops), list(part.dropped)) == ([B], [B], [B], [B])
    assert part.covered(B) == 3
    assert part.releases(B, 1, ENTRY, "content.text")
    assert part.releases(B, 3, ENTRY, "content.args")
    assert not part.releases(A, 1, ENTRY, "content.text")
    empty = whole.only("0e" * 16)
    assert (empty.heads, empty.erasures, empty.drops, empty.dropped) == ({}, {}, {}, {})
