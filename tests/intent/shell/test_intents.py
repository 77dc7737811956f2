"""The list of intents that is built, and how data moves between them."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.intents import Plumbing
from tallystick.model.intent import Flow

EDGES = st.lists(st.tuples(st.integers(-6, 5), st.integers(-6, 5)), max_size=20)


def plumbing(edges: list[tuple[int, int]]) -> Plumbing:
    found = Plumbing()
    for source, target in edges:
        found.connect(source, target)
    return found


def reaches(edges: list[tuple[int, int]], source: int, target: int) -> bool:
    """Whether there is a way from one intent to another over pipes only."""
    reached, left = {source}, [source]
    while left:
        here = left.pop()
        for start, end in edges:
            if start == here and start != end:
                if end == target:
                    return True
                if end < 0 and end not in reached:
                    reached.add(end)
                    left.append(end)
    return False


@given(EDGES)
def test_data_flows_where_pipes_lead(edges: list[tuple[int, int]]) -> None:
    expected = {
        Flow(source, target)
        for source in range(6)
        for target in range(6)
        if source != target and reaches(edges, source, target)
    }
    found = plumbing(edges)
    assert set(found.flows()) == expected
    for target in range(6):
        assert {flow.source for flow in expected if flow.target == target} == found.before(target) - {target}


def test_pipes_are_all_different() -> None:
    found = Plumbing()
    assert len({found.pipe() for _ in range(9)}) == 9


def test_too_many_flows_are_cut_and_it_is_said() -> None:
    edges = [(source, -9) for source in range(40)] + [(-9, target) for target in range(40, 80)]
    found = plumbing(edges)
    assert len(found.flows()) <= 1000
    assert found.is_cut
    assert not plumbing([(0, 1)]).is_cut
