"""How a session began, read off its first entry and the entry that it hangs on."""

from __future__ import annotations

from typing import Any

from tallystick.model.recorded import Recorded
from tallystick.sessions.origins import claimed_parent, link_of, sealed_parent, task_of
from tallystick.sessions.provenance import Entry, Kind
from tests.support.cases import each

PARENT, HASH = "aa" * 16, "bb" * 32


def entry(journal: str, n: int, type_: str, *parents: str, **meta: Any) -> Recorded:
    digest = HASH if journal == PARENT else "cc" * 32
    return Recorded(
        session=journal, n=n, hash=digest, prev="00" * 32, parents=parents, meta={"type": type_, **meta}, values={}
    )


def first(kind: str, *parents: str, **meta: Any) -> Recorded:
    return entry("dd" * 16, 0, "session_start", *parents, kind=kind, agent="a", source_session="s", **meta)


EDGE = f"{PARENT}#{HASH}"


def test_a_sealed_edge_names_the_entry_that_the_session_began_at() -> None:
    link = link_of(first("continuation", EDGE), "p", entry(PARENT, 7, "compaction", reason="compression"))
    assert link.began == Entry(journal=PARENT, hash=HASH, n=7, type="compaction")
    assert (link.kind, link.parent, link.reason, link.claimed) == (Kind.CONTINUATION, "p", "compression", False)
    assert (link.name, link.agent, link.journal) == ("s", "a", "dd" * 16)


def test_an_edge_to_an_entry_that_cannot_be_read_is_sealed_all_the_same() -> None:
    link = link_of(first("fork", EDGE), "p")
    assert (link.began, link.claimed) == (Entry(journal=PARENT, hash=HASH), False)


def test_a_claim_is_no_edge() -> None:
    start = first("fork", parent_source={"session": "p", "step": "x"})
    assert (sealed_parent(start), claimed_parent(start)) == (None, "p")
    link = link_of(start, "p")
    assert (link.kind, link.began, link.claimed) == (Kind.FORK, None, True)


@each("claim", [None, "p", {}, {"session": 7}, {"session": ""}, {"session": "p", "agent": "run"}])
def test_what_claims_no_session_of_the_agent_claims_nothing(claim: Any) -> None:
    assert claimed_parent(first("child", parent_source=claim)) is None


MEANT: dict[str, tuple[str, dict[str, Any], Kind]] = {
    "a root": ("root", {}, Kind.ROOT),
    "nobody asked for it": ("root", {"surface": "cron"}, Kind.SCHEDULED),
    "a sub-agent": ("child", {}, Kind.DELEGATE),
    "a tool's": ("child", {"relation": "tool"}, Kind.TOOL),
    "the agent does not say": ("child", {"relation": "other"}, Kind.OTHER),
    "a branch": ("fork", {"relation": "branch"}, Kind.BRANCH),
    "a branch that its copies gave away": ("fork", {"relation": "branch", "relation_by": "copies"}, Kind.FORK),
    "a fork": ("fork", {}, Kind.FORK),
    "a continuation": ("continuation", {"relation": "rollover"}, Kind.CONTINUATION),
    "a kind of later days": ("sequel", {}, Kind.OTHER),
}


@each("kind, meta, expected", MEANT.values(), ids=MEANT)
def test_the_agents_own_word_for_it_counts(kind: str, meta: dict[str, Any], expected: Kind) -> None:
    start = first(kind, **({} if kind == "root" else {"parent_source": {"session": "p"}}), **meta)
    assert link_of(start, None if kind == "root" else "p").kind is expected


@each("type_", ["tool_call", "subagent_start"])
def test_a_delegate_names_the_call_that_began_it(type_: str) -> None:
    assert link_of(first("child", EDGE), "p", entry(PARENT, 3, type_, corr="call_1"), task=2).call == "call_1"
    assert link_of(first("child", EDGE), "p", entry(PARENT, 3, "assistant", corr="call_1")).call is None


def test_a_task_is_found_by_its_goal() -> None:
    args = {"tasks": [{"goal": "count"}, {"goal": "sort"}, "draw", 7, {"goal": ""}]}
    assert task_of(args, "Please sort the list") == 1
    assert task_of(args, "draw") == 2
    assert [task_of(args, "sing"), task_of(args, None), task_of({"goal": "x"}, "x"), task_of(None, "x")] == [None] * 4
