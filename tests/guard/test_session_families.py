from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.graph.graph import Graph
from tallystick.guard.session_families import SessionFamilies
from tallystick.workspace.index_live import index_sessions
from tests.support.working import AGENT, Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


def new(work: Work, *, has_index: bool = False) -> SessionFamilies:
    return SessionFamilies(work.home, lambda: Graph(work.home.graph) if has_index else None)


def sources(kin: SessionFamilies, family: tuple[str, str]) -> set[str]:
    return {start.source for start, _ in kin.journals(family)}


def test_a_session_that_is_not_recorded_is_a_family_of_its_own(work: Work) -> None:
    kin = new(work)
    assert kin.family(AGENT, "new") == (AGENT, "new")
    assert kin.journals((AGENT, "new")) == ()


def test_a_session_is_found_as_soon_as_it_is_recorded(work: Work) -> None:
    kin = new(work)
    kin.family(AGENT, "s")
    work.begin("s")
    assert sources(kin, kin.family(AGENT, "s")) == {"s"}


@pytest.mark.parametrize("child", ["s/child", "own-id"])
def test_a_sub_agent_belongs_to_its_parent(work: Work, child: str) -> None:
    work.begin("s")
    work.begin(child, parent="s")
    kin = new(work)
    assert kin.family(AGENT, child) == (AGENT, "s")
    assert sources(kin, kin.family(AGENT, "s")) == {"s", child}


def test_a_sub_agent_that_comes_later_is_found(work: Work) -> None:
    work.begin("s")
    kin = new(work)
    kin.family(AGENT, "s")
    work.begin("late", parent="s")
    assert sources(kin, kin.family(AGENT, "s")) == {"s", "late"}


def test_the_sub_agent_of_a_sub_agent_belongs_to_the_first(work: Work) -> None:
    work.begin("s")
    work.begin("a", parent="s")
    work.begin("b", parent="a")
    assert new(work).family(AGENT, "b") == (AGENT, "s")


def test_the_order_in_which_journals_are_found_does_not_matter(work: Work) -> None:
    everything = new(work)
    for number, (name, parent) in enumerate((("s", None), ("a", "s"), ("b", "a"))):
        work.begin(name, parent=parent)
        (path,) = [path for one, path in everything.journals(everything.family(AGENT, name)) if one.source == name]
        os.utime(path, (9 - number, 9 - number))
    kin = new(work)
    assert sources(kin, kin.family(AGENT, "s")) == {"s", "a", "b"}


def test_the_same_id_at_another_agent_is_another_family(work: Work) -> None:
    work.begin("s")
    work.begin("s", agent="codex")
    kin = new(work)
    assert kin.family(AGENT, "s") != kin.family("codex", "s")


def test_a_continuation_belongs_to_the_first(work: Work) -> None:
    work.begin("s")
    work.begin("s~1")
    kin = new(work)
    assert sources(kin, kin.family(AGENT, "s~1")) == {"s", "s~1"}


def test_an_old_session_is_found_through_the_index(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.begin("old")
    work.begin("child", parent="old")
    everything = new(work)
    for number, name in enumerate(("old", "child", "new")):
        work.call("Bash", {"command": "ls"}, session=name)
        family = everything.family(AGENT, name)
        (path,) = [path for start, path in everything.journals(family) if start.source == name]
        os.utime(path, (number + 1, number + 1))
    monkeypatch.setattr("tallystick.guard.session_families._MOST_AT_FIRST", 1)
    assert sources(new(work), (AGENT, "old")) == set()
    kin = new(work, has_index=True)
    assert sources(kin, kin.family(AGENT, "old")) == {"old", "child"}
    assert kin.family(AGENT, "new") == (AGENT, "new")


@pytest.mark.parametrize("looked_at", [1, 2])
def test_continuations_of_which_the_index_knows_most_are_one_family(
    work: Work, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty sessions, each the continuation of the one before; only the newest of their journals are looked at."""
    names = [f"own-id-{number}" for number in range(20)]
    everything = new(work)
    work.is_indexed = False
    for number, name in enumerate(names):
        work.begin(name, parent=names[number - 1] if number else None)
        work.call("Bash", {"command": "ls"}, session=name, is_judged=False)
        family = everything.family(AGENT, name)
        (path,) = [path for start, path in everything.journals(family) if start.source == name]
        written = 100 - number if number > 17 else number + 1  # the last is read before the one that it goes on from
        os.utime(path, (written, written))
    index_sessions(work.home, sorted(work.home.session_ids()))
    monkeypatch.setattr("tallystick.guard.session_families._MOST_AT_FIRST", looked_at)
    kin = new(work, has_index=True)
    assert kin.newest(4) == [(AGENT, names[0])]
    assert kin.family(AGENT, names[5]) == (AGENT, names[0])
    assert sources(kin, (AGENT, names[0])) == set(names)


def test_more_sessions_than_are_kept_are_forgotten_and_found_again(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.guard.session_families._MOST_KNOWN", 3)
    kin = new(work)
    for number in range(5):
        work.begin(f"s{number}")
        assert sources(kin, kin.family(AGENT, f"s{number}")) == {f"s{number}"}
    assert sources(kin, kin.family(AGENT, "s0")) == {"s0"}


def test_a_journal_without_a_whole_first_line_is_read_when_it_has_one(work: Work) -> None:
    work.begin("s")
    path = next(work.home.journals.rglob("*.jsonl"))
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    kin = new(work)
    assert kin.journals(kin.family(AGENT, "s")) == ()
    path.write_bytes(whole)
    os.utime(path.parent)
    assert sources(kin, kin.family(AGENT, "s")) == {"s"}


def test_a_session_of_the_next_month_is_found(work: Work) -> None:
    work.begin("s")
    kin = new(work)
    kin.family(AGENT, "s")
    work.begin("late")
    path = next(path for start, path in kin.journals(kin.family(AGENT, "late")))
    year, month = path.parent.parent.name, path.parent.name
    later = work.home.journals / str(int(year) + 1) / month
    fresh = new(work)
    aside = path.rename(path.with_suffix(".aside"))
    assert sources(fresh, fresh.family(AGENT, "late")) == set()
    later.mkdir(parents=True)
    shutil.copy(aside, later / path.name)
    assert sources(fresh, fresh.family(AGENT, "late")) == {"late"}
    aside.rename(path)
