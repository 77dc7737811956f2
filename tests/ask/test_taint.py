"""The tree of a taint, and what other sessions' files are worth before a call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.taint import taint_tree
from tallystick.errors import NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.lineage.taint import Trust, Via
from tallystick.lineage.taint_tree import TaintNode
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.support.tainting import PAGE, Tainted, bring_in


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


@pytest.fixture
def told(tmp_path: Path) -> Tainted:
    return bring_in(tmp_path / "store", tmp_path / "work")


@pytest.fixture
def index(home: Home, told: Tainted) -> Iterator[Index]:
    with open_index(home) as index:
        yield index


def all_of(nodes: tuple[TaintNode, ...]) -> Iterator[TaintNode]:
    for node in nodes:
        yield node
        yield from all_of(node.children)


def test_a_guide_leads_over_the_plan_to_the_page(home: Home, index: Index, told: Tainted) -> None:
    tree = taint_tree(home, index, "guide.md", folder=str(told.folder))
    assert tree.trust is Trust.UNTRUSTED
    (guide,) = tree.roots
    assert guide.block == f"b{told.guided:04}"
    assert guide.step == f"{told.second[:12]}:{told.guided}"
    (plan,) = guide.children
    assert (plan.source, plan.via, plan.depth) == (told.path("plan.md"), Via.QUOTE, 1)
    (page,) = plan.children
    assert (page.source, page.via, page.depth) == (PAGE, Via.QUOTE, 2)
    assert (page.session, page.n, page.block) == (told.first, told.fetched, f"b{told.fetched:04}")


def test_a_step_has_what_it_made_and_what_it_took(home: Home, index: Index, told: Tainted) -> None:
    tree = taint_tree(home, index, f"{told.third[:8]}:{told.mixed}", folder=str(told.folder))
    (step,) = tree.roots
    assert step.source == "Bash"
    assert step.trust is Trust.UNTRUSTED
    assert step.children[0].source == told.path("mixed.txt")
    assert step.children[0].depth == 1


def test_shared_sources_are_shown_once_and_referred_to(home: Home, index: Index, told: Tainted) -> None:
    (both,) = taint_tree(home, index, "both.md", folder=str(told.folder)).roots
    plans = [node for node in all_of((both,)) if node.source == told.path("plan.md")]
    assert len(plans) == 2
    assert sorted(node.is_repeat for node in plans) == [False, True]
    assert [bool(node.children) for node in plans if node.is_repeat] == [False]


def test_what_is_in_words_of_its_own_comes_after_the_page(home: Home, index: Index, told: Tainted) -> None:
    tree = taint_tree(home, index, "own.md", folder=str(told.folder))
    assert tree.trust is Trust.VETTED
    assert [node.via for node in tree.roots[0].children if node.source == PAGE] == [Via.MODEL]


def test_the_result_of_a_call_is_the_call(home: Home, index: Index, told: Tainted) -> None:
    tree = taint_tree(home, index, f"{told.third}:{told.mixed + 1}", folder=str(told.folder))
    assert tree.roots[0].n == told.mixed


def test_a_file_that_no_step_names_came_with_its_folder(home: Home, index: Index, told: Tainted) -> None:
    tree = taint_tree(home, index, "lib/src/build.sh", folder=str(told.folder))
    assert tree.trust is Trust.UNTRUSTED
    assert [node.source for node in all_of(tree.roots)] == [
        told.path("lib/src/build.sh"),
        told.path("lib"),
        "https://example.org/lib",
    ]


def test_a_session_has_the_calls_about_which_something_is_found(home: Home, index: Index, told: Tainted) -> None:
    assert taint_tree(home, index, told.first, folder="/").roots == ()
    roots = taint_tree(home, index, told.third, folder="/").roots
    assert told.mixed in [root.n for root in roots]
    assert all(root.children for root in roots)


def test_what_names_nothing_says_so(home: Home, index: Index, told: Tainted) -> None:
    with pytest.raises(NotFoundError):
        taint_tree(home, index, "nothing.md", folder=str(told.folder))
    with pytest.raises(UsageError):
        taint_tree(home, index, "", folder=str(told.folder))


def test_two_stores_of_the_same_calls_have_the_same_blocks(tmp_path: Path, home: Home, told: Tainted) -> None:
    def blocks(store: Home) -> list[str | None]:
        with open_index(store) as index:
            roots = taint_tree(store, index, "both.md", folder=str(told.folder)).roots
            return [node.block for node in all_of(roots)]

    bring_in(tmp_path / "again", told.folder)
    assert blocks(home) == blocks(Home(tmp_path / "again"))
