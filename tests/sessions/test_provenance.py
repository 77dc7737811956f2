"""Hermes' payload against what Hermes 0.19.0 answered, row by row; and our own account, where that one goes wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.provenance import (
    Kind,
    Link,
    Rotation,
    Rule,
    Sealed,
    hermes_links,
    hermes_meta,
    provenance,
    rows_of,
    session_provenance,
)

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
    return session_provenance(acp, current, store.get, **more)


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


@pytest.mark.parametrize(("store", "acp", "current", "previous", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_the_payload_is_what_hermes_answered(
    store: Store, acp: str, current: str, previous: str | None, expected: dict[str, Any] | None
) -> None:
    found = said(store, acp, current, previous=previous)
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


@pytest.mark.parametrize(("store", "current", "expected"), CASES.values(), ids=CASES)
def test_kind_depth_root_and_parent_are_hermes_own(
    store: Store, current: str, expected: tuple[str, int, str, str | None]
) -> None:
    found = said(store, "acp", current)
    assert found is not None
    names = ("sessionKind", "compressionDepth", "rootHermesSessionId", "parentHermesSessionId")
    assert tuple(found[name] for name in names) == expected
    assert not {"previousHermesSessionId", "reason", "creatorKind"} & found.keys()


def test_a_previous_id_that_has_nothing_to_do_with_it_is_still_called_a_compression() -> None:
    found = said({"A": row()}, "A", "A", previous="other")
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"]) == ("root", 0)
    assert (found["previousHermesSessionId"], found["reason"], found["creatorKind"]) == (
        "other",
        "compression",
        "compression",
    )


@pytest.mark.parametrize("previous", ["", None])
def test_no_previous_id_is_no_rotation(previous: str | None) -> None:
    found = said(chain("B", 2), "B0", "B1", previous=previous)
    assert found is not None
    assert "previousHermesSessionId" not in found


def test_rows_that_cannot_be_read_are_rows_that_are_not_there() -> None:
    store = chain("B", 3)

    def rows(session: str) -> Mapping[str, Any] | None:
        if session == "B1":
            raise OSError("locked")
        return store.get(session)

    found = session_provenance("B0", "B2", rows)
    assert found is not None
    assert (found["rootHermesSessionId"], found["sessionKind"], found["parentHermesSessionId"]) == ("B2", "root", "B1")
    assert session_provenance("B0", "B1", rows) is None


# Its seven tests, and the two of the later rule ---------------------------------------------------------------------------


def test_a_root_session_has_no_compression() -> None:
    found = said({"s": row()}, "s", "s")
    assert found is not None
    assert found["currentHermesSessionId"] == found["rootHermesSessionId"] == found["acpSessionId"] == "s"
    assert found["parentHermesSessionId"] is None
    assert (found["sessionKind"], found["compressionDepth"]) == ("root", 0)
    assert "reason" not in found


def test_a_split_by_compression_is_a_continuation() -> None:
    found = said(chain("s", 2), "s0", "s1", previous="s0")
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
    found = said(chain("s", 2), "s0", "s1", previous="s1")
    assert found is not None
    assert found["previousHermesSessionId"] == "s1"
    assert not {"reason", "creatorKind"} & found.keys()


def test_an_unknown_session_gives_nothing_at_all() -> None:
    assert said({}, "s", "s") is None
    assert hermes_meta("s", "s", lambda session: None) is None


def test_the_wrapper_holds_the_one_key() -> None:
    found = hermes_meta("s", "s", {"s": row()}.get)
    assert found is not None
    assert list(found) == ["hermes"]
    assert list(found["hermes"]) == ["sessionProvenance"]
    assert found["hermes"]["sessionProvenance"] == said({"s": row()}, "s", "s")


@pytest.mark.parametrize("reason", ["turn_boundary_rollover", "turn_boundary_rollover_recovered"])
def test_by_the_later_rule_a_rollover_continues_without_being_a_compression(reason: str) -> None:
    store = {"s0": row(None, reason), "s1": row("s0")}
    found = said(store, "s0", "s1", previous="s0", rule=Rule.LATER)
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"]) == ("continuation", 0)
    assert (found["reason"], found["creatorKind"]) == (reason, "rollover")
    released = said(store, "s0", "s1", previous="s0")
    assert released is not None
    assert (released["sessionKind"], released["reason"]) == ("root", "compression")


def test_by_the_later_rule_a_rotation_without_a_reason_has_none() -> None:
    found = said({"s0": row(None, "idle"), "s1": row("s0")}, "s0", "s1", previous="s0", rule=Rule.LATER)
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
        ours = provenance("hermes", "acp", name, hermes_links(store.get))
        assert ours is not None
        assert ours["lineageRoot"] in store
        assert {"cycle", "missing"} & ours.keys()  # every chain of these ends in one of the two


# Our own account ------------------------------------------------------------------------------------------------------


def ours(store: Store, current: str, **more: Any) -> dict[str, Any]:
    found = provenance("hermes", "acp", current, hermes_links(store.get), **more)
    assert found is not None
    return found


def test_our_account_of_a_root() -> None:
    assert ours({"A": row()}, "A") == {
        "version": 1,
        "agent": "hermes",
        "acpSessionId": "acp",
        "currentSessionId": "A",
        "parentSessionId": None,
        "kind": "root",
        "depth": 0,
        "continuationRoot": "A",
        "lineageRoot": "A",
    }


def test_what_nobody_knows_gives_no_account() -> None:
    assert provenance("hermes", "acp", "X", lambda session: None) is None


def test_a_marker_outweighs_how_the_parent_ended() -> None:
    store = {
        "F0": row(None, "compression"),
        "F1": row("F0", model_config='{"_delegate_from": "F0"}'),
        "F2": row("F0", model_config={"_branched_from": "F0"}),
        "F3": row("F0", source="tool"),
        "F4": row("F0"),
    }
    kinds = {name: ours(store, name)["kind"] for name in store}
    assert kinds == {"F0": "root", "F1": "delegate", "F2": "branch", "F3": "tool", "F4": "continuation"}
    assert [ours(store, name)["depth"] for name in store] == [0, 0, 0, 0, 1]


def test_depth_counts_the_continuations_of_this_session_alone() -> None:
    store = {"G0": row(None, "compression"), "G1": row("G0", "branched"), "G2": row("G1", model_config="{}")}
    found = ours(store, "G2")
    assert (found["kind"], found["depth"], found["continuationRoot"], found["lineageRoot"]) == ("branch", 0, "G2", "G0")
    assert (ours(store, "G1")["depth"], ours(store, "G1")["continuationRoot"]) == (1, "G0")


def test_a_chain_of_any_length_is_walked_to_its_root() -> None:
    found = ours(chain("L", 5000, digits=4), "L4999")
    assert (found["depth"], found["lineageRoot"]) == (4999, "L0000")


def test_what_ends_the_walk_is_said() -> None:
    assert ours({"I0": row("I1"), "I1": row("I0")}, "I1")["cycle"] is True
    assert ours({"S": row("S", "compression")}, "S")["cycle"] is True
    assert ours({"T": row("gone")}, "T")["missing"] == "gone"
    assert not {"cycle", "missing"} & ours(chain("B", 2), "B1").keys()


def test_every_rotation_of_a_turn_is_told_with_the_reason_that_is_known() -> None:
    rotations = [Rotation(before="a", after="b", reason="compression"), Rotation(before="b", after="c")]
    assert ours({"A": row()}, "A", rotations=rotations)["rotations"] == [
        {"from": "a", "to": "b", "reason": "compression"},
        {"from": "b", "to": "c"},
    ]


def test_where_it_is_recorded_and_who_began_it_are_told() -> None:
    link = Link(kind=Kind.DELEGATE, parent="p", call="call_1", claimed=True)
    found = provenance(
        "codex",
        "acp",
        "s",
        {"s": link, "p": Link()}.get,
        sealed=Sealed(session="ab" * 16, size=3, head="cd" * 32),
    )
    assert found is not None
    assert (found["kind"], found["toolCallId"], found["claimed"]) == ("delegate", "call_1", True)
    assert found["sealed"] == {"session": "ab" * 16, "size": 3, "head": "cd" * 32}


def test_any_agents_sessions_can_be_told_in_hermes_words() -> None:
    links = {
        "r": Link(),
        "f": Link(kind=Kind.FORK, parent="r"),
        "c": Link(kind=Kind.CONTINUATION, parent="f"),
        "c2": Link(kind=Kind.CONTINUATION, parent="c"),
    }.get
    found = session_provenance("f", "c2", rows_of(links, "c2"), previous="c")
    assert found == {
        "acpSessionId": "f",
        "currentHermesSessionId": "c2",
        "rootHermesSessionId": "r",
        "parentHermesSessionId": "c",
        "sessionKind": "continuation",
        "compressionDepth": 2,
        "previousHermesSessionId": "c",
        "reason": "compression",
        "creatorKind": "compression",
    }
    assert session_provenance("x", "x", rows_of(links, "x")) is None


def test_rows_of_links_that_go_round_come_to_an_end() -> None:
    links = {"a": Link(kind=Kind.CONTINUATION, parent="b"), "b": Link(kind=Kind.CONTINUATION, parent="a")}.get
    found = session_provenance("a", "a", rows_of(links, "a"))
    assert found is not None
    assert found["rootHermesSessionId"] == "b"
