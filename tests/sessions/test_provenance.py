"""Our own account of where a session comes from, where Hermes' goes wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.provenance import Entry, Kind, Known, Link, Rotation, Sealed, Way, provenance, way_up


def chain(count: int) -> dict[str, Link]:
    """s0 … that each continue the one before."""
    return {f"s{n}": Link(kind=Kind.CONTINUATION, parent=f"s{n - 1}") if n else Link() for n in range(count)}


def way(links: dict[str, Link], current: str) -> Way:
    found = way_up(current, links.get)
    assert found is not None
    return found


def ours(links: dict[str, Link], current: str, **more: Any) -> dict[str, Any]:
    most_hops = more.pop("most_hops", None)
    return provenance("some-agent", "acp", way(links, current), Known(**more), most_hops=most_hops)


def test_our_account_of_a_root() -> None:
    assert ours({"A": Link()}, "A") == {
        "version": 1,
        "agent": "some-agent",
        "acpSessionId": "acp",
        "currentSessionId": "A",
        "parentSessionId": None,
        "kind": "root",
        "depth": 0,
        "continuationRoot": "A",
        "lineageRoot": "A",
        "hops": [{"session": "A", "kind": "root"}],
    }


def test_what_nobody_knows_has_no_way() -> None:
    assert way_up("X", lambda session: None) is None


def test_depth_counts_the_continuations_of_this_session_alone() -> None:
    links = {
        "G0": Link(),
        "G1": Link(kind=Kind.CONTINUATION, parent="G0"),
        "G2": Link(kind=Kind.BRANCH, parent="G1"),
        "G3": Link(kind=Kind.CONTINUATION, parent="G2"),
    }
    told = {name: ours(links, name) for name in links}
    assert [told[name]["depth"] for name in links] == [0, 1, 0, 1]
    assert [told[name]["continuationRoot"] for name in links] == ["G0", "G0", "G2", "G2"]
    assert {told[name]["lineageRoot"] for name in links} == {"G0"}
    assert [hop["session"] for hop in told["G3"]["hops"]] == ["G3", "G2", "G1", "G0"]


def test_a_chain_of_any_length_is_walked_to_its_root() -> None:
    found = ours(chain(5000), "s4999", most_hops=3)
    assert (found["depth"], found["lineageRoot"]) == (4999, "s0")
    assert [hop["session"] for hop in found["hops"]] == ["s4999", "s4998", "s4997"]
    assert found["hopsLeftOut"] == 4997


def test_what_ends_the_walk_is_said_and_where() -> None:
    circle = {"I0": Link(kind=Kind.CONTINUATION, parent="I1"), "I1": Link(kind=Kind.CONTINUATION, parent="I0")}
    found = ours(circle, "I1")
    assert (found["cycle"], found["cutAt"], found["depth"]) == (True, "I0", 1)
    assert [hop["session"] for hop in found["hops"]] == ["I1", "I0"]
    alone = ours({"S": Link(kind=Kind.CONTINUATION, parent="S")}, "S")
    assert (alone["cycle"], alone["cutAt"], alone["depth"], alone["parentSessionId"]) == (True, "S", 0, "S")
    cut = ours({"T": Link(kind=Kind.FORK, parent="gone"), "U": Link(kind=Kind.CONTINUATION, parent="T")}, "U")
    assert (cut["missing"], cut["cutAt"], cut["lineageRoot"]) == ("gone", "T", "T")
    assert not {"cycle", "missing", "cutAt"} & ours(chain(2), "s1").keys()


def test_each_hop_says_where_it_began_and_whether_that_is_sealed() -> None:
    entry = Entry(journal="ab" * 16, hash="cd" * 32, n=7, type="compaction")
    links = {
        "1": Link(kind=Kind.CONTINUATION, parent="0", name="s~1", journal="1", began=entry, reason="compression"),
        "0": Link(kind=Kind.DELEGATE, parent="p", name="s", journal="0", claimed=True, call="call_1", task=2),
        "p": Link(name="parent", agent="other"),
    }
    assert ours(links, "1")["hops"] == [
        {
            "session": "s~1",
            "kind": "continuation",
            "journal": "1",
            "reason": "compression",
            "standing": "sealed",
            "began": {"entry": f"{'ab' * 16}#{'cd' * 32}", "n": 7, "type": "compaction"},
        },
        {
            "session": "s",
            "kind": "delegate",
            "journal": "0",
            "toolCallId": "call_1",
            "taskIndex": 2,
            "standing": "claimed",
        },
        {"session": "parent", "kind": "root", "agent": "other"},
    ]
    told = ours(links, "1")
    assert (told["currentSessionId"], told["parentSessionId"], told["lineageRoot"]) == ("s~1", "s", "parent")
    assert ours(links, "0")["claimed"] is True


def test_every_rotation_of_a_turn_is_told_with_the_reason_that_is_known() -> None:
    rotations = [Rotation(before="a", after="b", reason="compression"), Rotation(before="b", after="c")]
    assert ours({"A": Link()}, "A", rotations=rotations)["rotations"] == [
        {"from": "a", "to": "b", "reason": "compression"},
        {"from": "b", "to": "c"},
    ]


def test_where_it_is_recorded_and_how_often_it_was_compacted_are_told() -> None:
    sealed = Sealed(session="ab" * 16, size=3, head="cd" * 32)
    found = ours({"s": Link()}, "s", sealed=sealed, compactions={"count": 2}, continued_as="t")
    assert found["continuedAs"] == "t"
    assert found["sealed"] == {"session": "ab" * 16, "size": 3, "head": "cd" * 32}
    assert found["compactions"] == {"count": 2}


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.tuples(st.sampled_from("abcdefx"), st.sampled_from(sorted(Kind))), min_size=1
    )
)
def test_the_walk_ends_whatever_the_links_say_and_meets_no_session_twice(said: dict[str, tuple[str, Kind]]) -> None:
    links = {name: Link(parent=parent, kind=kind) for name, (parent, kind) in said.items()}
    for name in links:
        found = way(links, name)
        names = [key for key, _ in found.hops]
        assert len(set(names)) == len(names)
        assert found.cycle is (found.missing is None)  # every chain of these ends in one of the two
        assert 0 <= found.depth <= len(names)
        assert all(link.kind is Kind.CONTINUATION for _, link in found.hops[: found.depth])
        assert ours(links, name)["lineageRoot"] == names[-1]
