"""The tree of a taint as agents write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.taint import Trust
from tallystick.lineage.taint_tree import TaintNode, each_once, found_tree, said_tree

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["block_id", "trust", "source", "tainted_by"]), inner, max_size=4)
    ),
    max_leaves=20,
)


def all_of(nodes: tuple[TaintNode, ...]) -> Iterator[TaintNode]:
    for node in nodes:
        yield node
        yield from all_of(node.children)


def test_a_lineage_is_read_with_the_entries_of_its_blocks() -> None:
    first = {"block_id": "b0001", "trust": "untrusted", "source": "tool:web_fetch"}
    said = [{"block_id": "b0002", "trust": "vetted", "source": "tool:mcp", "tainted_by": [first]}]
    (node,) = said_tree(said, "0123456789abcdef", {"b0001": 14})
    assert (node.block, node.source, node.trust, node.depth, node.step) == ("b0002", "tool:mcp", Trust.VETTED, 1, None)
    (below,) = node.children
    assert (below.block, below.n, below.step, below.depth) == ("b0001", 14, "0123456789ab:14", 2)


@given(json)
def test_whatever_an_agent_wrote_gives_a_tree(said: Any) -> None:
    for node in all_of(said_tree(said, "s", {})):
        assert isinstance(node.source, str)
        assert node.trust in Trust


def test_a_tree_without_end_is_cut() -> None:
    said: list[Any] = []
    for _ in range(500):
        said = [{"block_id": "b", "tainted_by": said}]
    assert len(list(all_of(said_tree(said, "s", {})))) <= 12
    assert len(said_tree([{"block_id": "b"}] * 5_000, "s", {})) <= 200


def test_a_source_that_comes_twice_is_one() -> None:
    one = TaintNode(block=None, step="s:1", kind="file", source="/a", trust=Trust.TRUSTED)
    other = TaintNode(block=None, step="s:2", kind="file", source="/a", trust=Trust.TRUSTED)
    assert list(each_once([one, other, one])) == [one, other]


def test_what_policy_found_is_a_way_from_step_to_step() -> None:
    text = "“make x” stands in a.md (aaaa:7) < https://x.example.net (bbbb:2)"
    node = found_tree(text, {"aaaa": "aaaa1111", "bbbb": "bbbb2222"}.get)
    assert (node.source, node.step, node.block, node.depth) == ("“make x” stands in a.md", "aaaa1111:7", "b0007", 1)
    (page,) = node.children
    assert (page.source, page.session, page.n, page.depth) == ("https://x.example.net", "bbbb2222", 2, 2)


@given(st.text(max_size=200))
def test_whatever_was_found_gives_a_node(text: str) -> None:
    assert found_tree(text, lambda _: None).kind == "finding"
