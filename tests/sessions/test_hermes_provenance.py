"""Hermes' payload against what Hermes 0.19.0 answered, row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.capture.hermes_store import HermesStore
from tallystick.sessions.hermes_provenance import Rule, SessionRows, build_session_provenance, session_provenance_meta
from tests.support.cases import cases, each

Store = Mapping[str, Mapping[str, Any]]


def row(parent: str | None = None, end: str | None = None, **more: Any) -> dict[str, Any]:
    return {"parent_session_id": parent, "end_reason": end, **more}


def chain(name: str, count: int, *, digits: int = 1) -> dict[str, dict[str, Any]]:
    """Sessions name0 … that each continue the one before, all but the last ended by compression."""
    ids = [f"{name}{n:0{digits}}" for n in range(count)]
    return {
        session: row(ids[n - 1] if n else None, "compression" if n < count - 1 else None)
        for n, session in enumerate(ids)
    }


def said(store: Store, acp: str, current: str, **more: Any) -> dict[str, Any] | None:
    return build_session_provenance(SessionRows(store), acp, current, **more)


# What Hermes answered: the examples --------------------------------------------------------------------------------------

EXAMPLES: dict[str, tuple[Store, str, str, str | None, dict[str, Any] | None]] = {
    "E1 a root": (
        {"A": row()},
        "A",
        "A",
        None,
        {
            "acpSessionId": "A",
            "currentHermesSessionId": "A",
            "rootHermesSessionId": "A",
            "parentHermesSessionId": None,
            "sessionKind": "root",
            "compressionDepth": 0,
        },
    ),
    "E2 one compression": (
        chain("B", 2),
        "B0",
        "B1",
        None,
        {
            "acpSessionId": "B0",
            "currentHermesSessionId": "B1",
            "rootHermesSessionId": "B0",
            "parentHermesSessionId": "B0",
            "sessionKind": "continuation",
            "compressionDepth": 1,
        },
    ),
    "E3 the second rotation of a conversation, during a prompt": (
        {"U": row(None, "compression"), "S1": row("U", "compression"), "S2": row("S1")},
        "U",
        "S2",
        "S1",
        {
            "acpSessionId": "U",
            "currentHermesSessionId": "S2",
            "rootHermesSessionId": "U",
            "parentHermesSessionId": "S1",
            "sessionKind": "continuation",
            "compressionDepth": 2,
            "previousHermesSessionId": "S1",
            "reason": "compression",
            "creatorKind": "compression",
        },
    ),
    "E4 depth three": (
        chain("C", 4),
        "acp-1",
        "C3",
        None,
        {
            "acpSessionId": "acp-1",
            "currentHermesSessionId": "C3",
            "rootHermesSessionId": "C0",
            "parentHermesSessionId": "C2",
            "sessionKind": "continuation",
            "compressionDepth": 3,
        },
    ),
    "E5 a branch": (
        {"D0": row(None, "branched"), "D1": row("D0", model_config='{"_branched_from": "D0"}')},
        "acp-1",
        "D1",
        None,
        {
            "acpSessionId": "acp-1",
            "currentHermesSessionId": "D1",
            "rootHermesSessionId": "D0",
            "parentHermesSessionId": "D0",
            "sessionKind": "root",
            "compressionDepth": 0,
        },
    ),
    "E6 a session that is not there": ({}, "X", "X", None, None),
    "E7 a circle of two": (
        {"I0": row("I1", "compression"), "I1": row("I0", "compression")},
        "acp-1",
        "I1",
        None,
        {
            "acpSessionId": "acp-1",
            "currentHermesSessionId": "I1",
            "rootHermesSessionId": "I0",
            "parentHermesSessionId": "I0",
            "sessionKind": "continuation",
            "compressionDepth": 1,
        },
    ),
    "E8 a chain of 151": (
        chain("L", 151, digits=3),
        "acp-1",
        "L150",
        None,
        {
            "acpSessionId": "acp-1",
            "currentHermesSessionId": "L150",
            "rootHermesSessionId": "L050",
            "parentHermesSessionId": "L149",
            "sessionKind": "continuation",
            "compressionDepth": 100,
        },
    ),
}


@each("store, acp, current, previous, expected", EXAMPLES.values(), ids=EXAMPLES)
def test_the_payload_is_what_hermes_answered(
    store: Store, acp: str, current: str, previous: str | None, expected: dict[str, Any] | None
) -> None:
    found = said(store, acp, current, previous_hermes_session_id=previous)
    assert found == expected
    assert json.dumps(found) == json.dumps(expected)  # the order of members too


# The other rows of its table ------------------------------------------------------------------------------------------------

CASES: dict[str, tuple[Store, str, tuple[str, int, str, str | None]]] = {
    "a delegate of a live parent": ({"E0": row(), "E1": row("E0")}, "E1", ("root", 0, "E0", "E0")),
    "a delegate whose parent was compressed later": (
        {"F0": row(None, "compression"), "F1": row("F0", model_config='{"_delegate_from": "F0"}')},
        "F1",
        ("continuation", 1, "F0", "F0"),
    ),
    "a branch whose parent was compressed later": (
        {"F0": row(None, "compression"), "F1": row("F0", model_config='{"_branched_from": "F0"}')},
        "F1",
        ("continuation", 1, "F0", "F0"),
    ),
    "a branch off a continuation": (
        {"G0": row(None, "compression"), "G1": row("G0", "branched"), "G2": row("G1")},
        "G2",
        ("root", 1, "G0", "G1"),
    ),
    "its own parent": ({"S": row("S", "compression")}, "S", ("continuation", 0, "S", "S")),
    "a parent that is not there": ({"T": row("gone")}, "T", ("root", 0, "T", "gone")),
    "a parent that was opened again": ({"H0": row(), "H1": row("H0")}, "H1", ("root", 0, "H0", "H0")),
    "a chain whose middle was deleted": (
        {"C0": row(None, "compression"), "C2": row(None, "compression"), "C3": row("C2")},
        "C3",
        ("continuation", 1, "C2", "C2"),
    ),
    "after a restart, by the editor's id": (chain("R", 3), "R0", ("root", 0, "R0", None)),
    "compacted in place": ({"P": row()}, "P", ("root", 0, "P", None)),
}


@each("store, current, expected", CASES.values(), ids=CASES)
def test_kind_depth_root_and_parent_are_hermes_own(
    store: Store, current: str, expected: tuple[str, int, str, str | None]
) -> None:
    found = said(store, "acp", current)
    assert found is not None
    names = ("sessionKind", "compressionDepth", "rootHermesSessionId", "parentHermesSessionId")
    assert tuple(found[name] for name in names) == expected
    assert not {"previousHermesSessionId", "reason", "creatorKind"} & found.keys()


def test_a_previous_id_that_has_nothing_to_do_with_it_is_still_called_a_compression() -> None:
    found = said({"A": row()}, "A", "A", previous_hermes_session_id="other")
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"]) == ("root", 0)
    assert (found["previousHermesSessionId"], found["reason"], found["creatorKind"]) == (
        "other",
        "compression",
        "compression",
    )


@each("previous", ["", None])
def test_no_previous_id_is_no_rotation(previous: str | None) -> None:
    found = said(chain("B", 2), "B0", "B1", previous_hermes_session_id=previous)
    assert found is not None
    assert "previousHermesSessionId" not in found


# Stores that are not as they should be -----------------------------------------------------------------------------------


class Failing(SessionRows):
    """Rows of which some cannot be read: at once, or from the second time on."""

    def __init__(self, rows: Store, *failing: str, after: int = 0) -> None:
        super().__init__(rows)
        self._failing = dict.fromkeys(failing, after)

    def get_session(self, session_id: str, /) -> Mapping[str, Any] | None:
        if session_id in self._failing:
            if self._failing[session_id] == 0:
                raise OSError("locked")
            self._failing[session_id] -= 1
        return super().get_session(session_id)


NAMES = ("sessionKind", "compressionDepth", "rootHermesSessionId", "parentHermesSessionId")


def told(db: SessionRows, current: str, *names: str) -> tuple[Any, ...]:
    found = build_session_provenance(db, "acp", current)
    assert found is not None
    return tuple(found[name] for name in names or NAMES)


def test_nothing_is_said_of_a_row_that_cannot_be_read() -> None:
    db = Failing(chain("B", 3), "B1")
    assert build_session_provenance(db, "B0", "B1") is None
    assert session_provenance_meta(db, "B0", "B1", previous_hermes_session_id="B0") is None


def test_a_row_on_the_way_that_cannot_be_read_ends_the_walk_at_the_last_root() -> None:
    assert told(Failing(chain("B", 4), "B0"), "B3") == ("continuation", 2, "B1", "B2")


def test_a_parent_that_cannot_be_read_makes_no_continuation() -> None:
    assert told(Failing(chain("B", 3), "B1"), "B2") == ("root", 0, "B2", "B1")


def test_a_parent_that_cannot_be_read_the_second_time_makes_none_either() -> None:
    assert told(Failing(chain("B", 3), "B1", after=1), "B2") == ("root", 2, "B0", "B1")


@each("rows, root, depth", [(101, "L000", 100), (102, "L001", 100), (100, "L000", 99)])
def test_a_hundred_ancestors_are_looked_at_and_no_more(rows: int, root: str, depth: int) -> None:
    assert told(SessionRows(chain("L", rows, digits=3)), f"L{rows - 1:03}") == (
        "continuation",
        depth,
        root,
        f"L{rows - 2:03}",
    )


def test_rows_may_be_whatever_becomes_a_mapping() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        database.execute("CREATE TABLE sessions (id, parent_session_id, end_reason)")
        database.executemany("INSERT INTO sessions VALUES (?, ?, ?)", [("a", None, "compression"), ("b", "a", None)])

        class Database:
            def get_session(self, session_id: str, /) -> Any:
                return database.execute("SELECT * FROM sessions WHERE id = ?", (session_id,)).fetchone()

        assert build_session_provenance(Database(), "a", "b") == said(
            {"a": row(None, "compression"), "b": row("a")}, "a", "b"
        )


@each("answer", [7, "text", [1], b"x"])
def test_what_is_no_row_is_none(answer: object) -> None:
    class Odd:
        def get_session(self, session_id: str, /) -> Any:
            return answer

    assert build_session_provenance(Odd(), "a", "a") is None


def test_previous_goes_by_its_name_alone() -> None:
    for function in (build_session_provenance, session_provenance_meta):
        with pytest.raises(TypeError):
            function(SessionRows(chain("B", 2)), "B0", "B1", "B0")  # type: ignore[call-arg]


def test_a_rule_has_a_name_too_and_no_other() -> None:
    store = {"s0": row(None, "turn_boundary_rollover"), "s1": row("s0")}
    assert said(store, "s0", "s1", rule="later") == said(store, "s0", "s1", rule=Rule.LATER)
    with pytest.raises(ValueError, match="newest"):
        said(store, "s0", "s1", rule="newest")


# A real store ---------------------------------------------------------------------------------------------------------

REAL = Path(__file__).parents[3] / "shared" / "data" / "sessions" / "hermes_state.db"
IN_REAL = cases(__file__, "in_real", dict[str, tuple[str, tuple[str, int, str]]])


@pytest.mark.skipif(not REAL.exists(), reason="the shared data is not here")
@each("current, expected", IN_REAL.values(), ids=IN_REAL)
def test_a_real_store_gives_what_hermes_gave(current: str, expected: tuple[str, int, str]) -> None:
    before = REAL.read_bytes()
    found = build_session_provenance(HermesStore(REAL), "acp", current)
    assert found is not None
    assert tuple(found[name] for name in NAMES[:3]) == expected
    assert REAL.read_bytes() == before
    assert [path.name for path in REAL.parent.glob("hermes_state.db*")] == [REAL.name]


# Its seven tests, and the two of the later rule ---------------------------------------------------------------------------


def test_a_root_session_has_no_compression() -> None:
    found = said({"s": row()}, "s", "s")
    assert found is not None
    assert found["currentHermesSessionId"] == found["rootHermesSessionId"] == found["acpSessionId"] == "s"
    assert found["parentHermesSessionId"] is None
    assert (found["sessionKind"], found["compressionDepth"]) == ("root", 0)
    assert "reason" not in found


def test_a_split_by_compression_is_a_continuation() -> None:
    found = said(chain("s", 2), "s0", "s1", previous_hermes_session_id="s0")
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"]) == ("continuation", 1)
    assert found["parentHermesSessionId"] == found["rootHermesSessionId"] == found["previousHermesSessionId"] == "s0"
    assert found["reason"] == found["creatorKind"] == "compression"


def test_a_chain_of_three_counts_two() -> None:
    found = said(chain("s", 3), "s0", "s2")
    assert found is not None
    assert (found["rootHermesSessionId"], found["compressionDepth"]) == ("s0", 2)
    assert found["sessionKind"] == "continuation"


def test_a_parent_that_was_not_compressed_makes_no_continuation() -> None:
    found = said({"p": row(), "s": row("p")}, "s", "s")
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"], found["rootHermesSessionId"]) == ("root", 0, "p")


def test_an_unchanged_head_is_no_rotation() -> None:
    found = said(chain("s", 2), "s0", "s1", previous_hermes_session_id="s1")
    assert found is not None
    assert found["previousHermesSessionId"] == "s1"
    assert not {"reason", "creatorKind"} & found.keys()


def test_an_unknown_session_gives_nothing_at_all() -> None:
    assert said({}, "s", "s") is None
    assert session_provenance_meta(SessionRows({}), "s", "s") is None


def test_the_wrapper_holds_the_one_key() -> None:
    found = session_provenance_meta(SessionRows({"s": row()}), "s", "s")
    assert found is not None
    assert list(found) == ["hermes"]
    assert list(found["hermes"]) == ["sessionProvenance"]
    assert found["hermes"]["sessionProvenance"] == said({"s": row()}, "s", "s")


@each("reason", ["turn_boundary_rollover", "turn_boundary_rollover_recovered"])
def test_by_the_later_rule_a_rollover_continues_without_being_a_compression(reason: str) -> None:
    store = {"s0": row(None, reason), "s1": row("s0")}
    found = said(store, "s0", "s1", previous_hermes_session_id="s0", rule=Rule.LATER)
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"]) == ("continuation", 0)
    assert (found["reason"], found["creatorKind"]) == (reason, "rollover")
    released = said(store, "s0", "s1", previous_hermes_session_id="s0")
    assert released is not None
    assert (released["sessionKind"], released["reason"]) == ("root", "compression")


def test_by_the_later_rule_a_rotation_without_a_reason_has_none() -> None:
    found = said(
        {"s0": row(None, "idle"), "s1": row("s0")}, "s0", "s1", previous_hermes_session_id="s0", rule=Rule.LATER
    )
    assert found is not None
    assert found["previousHermesSessionId"] == "s0"
    assert not {"reason", "creatorKind"} & found.keys()


@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.sampled_from("abcdefx"), st.booleans()), min_size=1))
def test_the_walk_ends_whatever_the_rows_say(links: dict[str, tuple[str, bool]]) -> None:
    store = {name: row(parent, "compression" if ended else None) for name, (parent, ended) in links.items()}
    for name in store:
        found = said(store, "acp", name)
        assert found is not None
        assert 0 <= found["compressionDepth"] < len(store)
        assert found["rootHermesSessionId"] in store


def test_it_is_called_by_hermes_own_names() -> None:
    found = build_session_provenance(
        db=SessionRows(chain("s", 2)),
        acp_session_id="editor",
        current_hermes_session_id="s1",
        previous_hermes_session_id="s0",
    )
    assert found is not None
    assert (found["acpSessionId"], found["reason"]) == ("editor", "compression")
    assert session_provenance_meta(
        db=SessionRows(chain("s", 2)), acp_session_id="editor", current_hermes_session_id="s1"
    ) == {"hermes": {"sessionProvenance": said(chain("s", 2), "editor", "s1")}}


def test_an_empty_row_is_no_session() -> None:
    assert said({"A": {}}, "A", "A") is None
    found = said({"A": {}, "B": row("A")}, "B", "B")
    assert found is not None
    assert (found["rootHermesSessionId"], found["parentHermesSessionId"]) == ("B", "A")


def test_ids_that_are_not_text_are_taken_as_they_are() -> None:
    rows: dict[Any, Any] = {1: row(None, "compression"), 2: {**row(), "parent_session_id": 1}}
    found = said(rows, "A", cast("str", 2))
    assert found is not None
    assert (found["currentHermesSessionId"], found["rootHermesSessionId"], found["compressionDepth"]) == (2, 1, 1)
    assert found["sessionKind"] == "continuation"
    odd: dict[Any, Any] = {"A": {**row(), "parent_session_id": ["a", "list"]}}
    alone = said(odd, "A", "A")
    assert alone is not None
    assert alone["rootHermesSessionId"] == "A"
