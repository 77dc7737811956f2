"""Hermes' rows as links of sessions, and links as rows of Hermes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallystick.sessions.hermes_links import differences, hermes_links, rows_of
from tallystick.sessions.hermes_provenance import SessionRows, build_session_provenance
from tallystick.sessions.provenance import Kind, Link, Links, Way, way_up
from tests.support.cases import each

Store = Mapping[str, Mapping[str, Any]]


def row(parent: str | None = None, end: str | None = None, **more: Any) -> dict[str, Any]:
    return {"parent_session_id": parent, "end_reason": end, **more}


def way(links: Links, current: str) -> Way:
    found = way_up(current, links)
    assert found is not None
    return found


MEANT = {
    "no parent": (row(), Kind.ROOT, None),
    "a clock began it": (row(source="cron"), Kind.SCHEDULED, None),
    "its parent was compressed": (row("compressed"), Kind.CONTINUATION, "compressed"),
    "its parent rolled over": (row("rolled"), Kind.CONTINUATION, "rolled"),
    "a delegate of one that was compressed later": (
        row("compressed", model_config='{"_delegate_from": "compressed"}'),
        Kind.DELEGATE,
        "compressed",
    ),
    "a branch of one that was compressed later": (
        row("compressed", model_config={"_branched_from": "compressed"}),
        Kind.BRANCH,
        "compressed",
    ),
    "a branch without a marker": (row("branched"), Kind.BRANCH, "branched"),
    "a tool's": (row("compressed", source="tool"), Kind.TOOL, "compressed"),
    "a delegate whose parent was deleted": (row(model_config='{"_delegate_from": "gone"}'), Kind.DELEGATE, "gone"),
    "an orphan of a migration": (row(model_config='{"_delegate_from": "__orphaned__"}'), Kind.ROOT, None),
    "anything else": (row("open"), Kind.OTHER, "open"),
    "a marker that is no JSON": (row("open", model_config="{"), Kind.OTHER, "open"),
    "a parent that is no text": (row(7), Kind.ROOT, None),  # type: ignore[arg-type]
}


@each("found, kind, parent", MEANT.values(), ids=MEANT)
def test_a_marker_outweighs_how_the_parent_ended(found: dict[str, Any], kind: Kind, parent: str | None) -> None:
    store = {
        "compressed": row(None, "compression"),
        "rolled": row(None, "turn_boundary_rollover"),
        "branched": row(None, "branched"),
        "open": row(),
        "s": found,
    }
    link = hermes_links(SessionRows(store))("s")
    assert link is not None
    assert (link.kind, link.parent) == (kind, parent)


@each("end, reason", [("compression", "compression"), ("branched", "branched"), (None, None), (7, None)])
def test_why_the_parent_ended_is_told(end: Any, reason: str | None) -> None:
    link = hermes_links(SessionRows({"parent": row(None, end), "s": row("parent")}))("s")
    assert link is not None
    assert link.reason == reason


def test_a_row_that_is_not_there_has_no_link() -> None:
    assert hermes_links(SessionRows({}))("s") is None


CONTINUED = {
    "r": Link(),
    "f": Link(kind=Kind.FORK, parent="r"),
    "c": Link(kind=Kind.CONTINUATION, parent="f"),
    "c~1": Link(kind=Kind.CONTINUATION, parent="c"),
}


def test_any_agents_sessions_can_be_told_in_hermes_words() -> None:
    rows = rows_of(way(CONTINUED.get, "c~1"))
    assert build_session_provenance(rows, "f", "c~1", previous_hermes_session_id="c") == {
        "acpSessionId": "f",
        "currentHermesSessionId": "c~1",
        "rootHermesSessionId": "r",
        "parentHermesSessionId": "c",
        "sessionKind": "continuation",
        "compressionDepth": 2,
        "previousHermesSessionId": "c",
        "reason": "compression",
        "creatorKind": "compression",
    }
    assert build_session_provenance(rows, "x", "x") is None


def test_what_hermes_compacts_in_place_is_one_row_to_it() -> None:
    rows = rows_of(way(CONTINUED.get, "c~1"), in_place=False)
    found = build_session_provenance(rows, "f", "c")
    assert found is not None
    assert (found["parentHermesSessionId"], found["sessionKind"], found["compressionDepth"]) == ("f", "continuation", 1)
    assert build_session_provenance(rows, "f", "c~1") is None


def test_rows_are_named_as_the_agent_names_its_sessions() -> None:
    links = {"01": Link(name="b", kind=Kind.CONTINUATION, parent="00"), "00": Link(name="a")}
    found = build_session_provenance(rows_of(way(links.get, "01")), "a", "b")
    assert found is not None
    assert (found["rootHermesSessionId"], found["parentHermesSessionId"]) == ("a", "a")


def test_rows_of_links_that_go_round_come_to_an_end() -> None:
    links = {"a": Link(kind=Kind.CONTINUATION, parent="b"), "b": Link(kind=Kind.CONTINUATION, parent="a")}
    found = build_session_provenance(rows_of(way(links.get, "a")), "a", "a")
    assert found is not None
    assert found["rootHermesSessionId"] == "b"


# What a store says by now ------------------------------------------------------------------------------------------------

RECORDED = {
    "d": Link(kind=Kind.DELEGATE, parent="b~1"),
    "b~1": Link(kind=Kind.CONTINUATION, parent="b"),
    "b": Link(kind=Kind.CONTINUATION, parent="a"),
    "a": Link(),
}
THEN = {
    "d": row("b", model_config='{"_delegate_from": "b"}'),
    "b": row("a"),
    "a": row(None, "compression"),
}


def test_a_store_that_was_left_alone_says_what_was_recorded() -> None:
    assert differences(way(RECORDED.get, "d"), hermes_links(SessionRows(THEN))) == []


NOW = {
    "a parent that was opened again": (
        {**THEN, "a": row()},
        [
            {
                "session": "b",
                "recorded": {"parent": "a", "kind": "continuation"},
                "now": {"parent": "a", "kind": "other"},
            }
        ],
    ),
    "a session that was deleted, and what hung on it": (
        {"d": THEN["d"], "b": row()},
        [
            {
                "session": "b",
                "recorded": {"parent": "a", "kind": "continuation"},
                "now": {"parent": None, "kind": "root"},
            },
            {"session": "a", "now": "missing"},
        ],
    ),
    "an empty store": ({}, [{"session": name, "now": "missing"} for name in ("d", "b", "a")]),
}


@each("store, found", NOW.values(), ids=NOW)
def test_what_a_store_says_otherwise_is_named(store: Store, found: list[dict[str, Any]]) -> None:
    assert differences(way(RECORDED.get, "d"), hermes_links(SessionRows(store))) == found


def test_a_fork_that_hermes_knows_no_parent_of_and_another_agents_session_are_no_differences() -> None:
    links = {
        "f": Link(kind=Kind.FORK, parent="a", agent="hermes"),
        "a": Link(kind=Kind.OTHER, parent="run", agent="hermes"),
        "run": Link(agent="run"),
    }
    store = SessionRows({"f": row(), "a": row()})
    assert differences(way(links.get, "f"), hermes_links(store)) == []
