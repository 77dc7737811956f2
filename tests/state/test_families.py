from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.state import families
from tallystick.state.families import Family, Forest, Start

AGENT = "agent"


def forest_of(starts: Iterable[Start]) -> Forest:
    forest = Forest()
    for start in starts:
        forest.add(start)
    return forest


def grouped(forest: Forest) -> dict[Family, set[str]]:
    """The families, each with its sessions."""
    found: dict[Family, set[str]] = {}
    for start in forest.starts():
        found.setdefault(forest.family(start.name), set()).add(start.sid)
    return found


def chain(size: int) -> list[Start]:
    """A session and its continuations, each with an id of its own that goes on from the one before."""
    return [Start(f"{n:05}", AGENT, f"id-{n}", parent=f"{n - 1:05}" if n else None) for n in range(size)]


@st.composite
def some_sessions(draw: st.DrawFn) -> list[Start]:
    """Sessions, some of which belong to others: by our id or by the agent's, to one that is never seen, in a circle."""
    size = draw(st.integers(1, 12))
    names = st.integers(0, size + 1)
    endings = st.sampled_from(("", "~1", "~2", "/sub"))
    made = []
    for n in range(size):
        own = n if draw(st.booleans()) else draw(names)
        parent, claimed = draw(
            st.one_of(
                st.just((None, None)),
                names.map(lambda above: (str(above), None)),
                names.map(lambda above: (None, f"id-{above}")),
            )
        )
        made.append(Start(str(n), AGENT, f"id-{own}{draw(endings)}", parent=parent, claimed=claimed))
    return made


@given(some_sessions(), st.randoms(use_true_random=False))
def test_the_families_do_not_depend_on_the_order_in_which_sessions_come(
    starts: list[Start], chance: random.Random
) -> None:
    others = chance.sample(starts, len(starts))
    one, other = forest_of(starts), forest_of(others)
    assert grouped(one) == grouped(other)
    for start in starts:
        assert one.members(start.name) == other.members(start.name)


@given(some_sessions())
def test_whoever_belongs_to_another_is_in_its_family(starts: list[Start]) -> None:
    forest = forest_of(starts)
    by_sid = {start.sid: start for start in starts}
    for start in starts:
        if start.parent in by_sid:
            assert forest.family(start.name) == forest.family(by_sid[start.parent].name)
        if start.claimed is not None:
            assert forest.family(start.name) == forest.family((AGENT, start.claimed))


@given(some_sessions())
def test_adding_a_session_twice_changes_nothing(starts: list[Start]) -> None:
    assert grouped(forest_of([*starts, *starts])) == grouped(forest_of(starts))


def shuffled(starts: Sequence[Start]) -> list[Start]:
    return random.Random(7).sample(starts, len(starts))


@pytest.mark.parametrize("size", [9, 1_000])
@pytest.mark.parametrize("order", [list, lambda starts: starts[::-1], shuffled], ids=["first", "last", "mixed"])
def test_continuations_of_continuations_are_one_family_however_many(size: int, order: Any) -> None:
    forest = forest_of(order(chain(size)))
    assert list(grouped(forest)) == [(AGENT, "id-0")]
    assert len(forest.members((AGENT, f"id-{size - 1}"))) == size


@pytest.mark.parametrize("order", [list, lambda starts: starts[::-1], shuffled], ids=["first", "last", "mixed"])
def test_a_tree_fifty_deep_is_one_family(order: Any) -> None:
    levels = range(50)
    tree = [
        Start(f"{level}.{n}", AGENT, f"{level}.{n}", parent=f"{level - 1}.{n // 2}" if level else None)
        for level in levels
        for n in range(2 if level else 1)
    ]
    assert list(grouped(forest_of(order(tree)))) == [(AGENT, "0.0")]


def test_each_session_is_moved_to_another_family_a_few_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = 0
    take_in = families._Group.take_in

    def counted(self: Any, other: Any) -> None:
        nonlocal moved
        moved += len(other.names)
        take_in(self, other)

    monkeypatch.setattr(families._Group, "take_in", counted)
    size = 2_000
    for order in (list, shuffled):
        moved = 0
        forest_of(order(chain(size)))
        assert moved <= size * math.log2(size)


def test_a_session_that_claims_one_that_no_one_has_seen_is_named_after_it() -> None:
    forest = forest_of([Start("1", AGENT, "child", claimed="parent"), Start("2", AGENT, "other", claimed="parent")])
    assert list(grouped(forest)) == [(AGENT, "parent")]
