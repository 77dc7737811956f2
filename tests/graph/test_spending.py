from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.graph.spending import By, UsedFilter, names_of, steps_query, used_models, used_sums
from tallystick.graph.sql import ask
from tallystick.journal.home import Home
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index


@pytest.fixture
def index(imported_samples: Path) -> Iterator[Index]:
    with open_index(Home(imported_samples / ".tally")) as index:
        yield index


@pytest.mark.parametrize("by", By)
def test_whatever_is_asked_for_the_sums_are_those_of_the_sessions(index: Index, by: By) -> None:
    sums = used_sums(index.graph, by, UsedFilter())
    sessions = list_sessions(index.graph, SessionFilter(limit=None))
    for kind in ("input", "output", "cache_read", "cache_write", "reasoning"):
        assert sum(getattr(used, kind) for used in sums) == sum(getattr(row.tokens, kind) for row in sessions)
    assert sum(used.input for used in sums) > 0


def test_models_are_those_that_used_something(index: Index) -> None:
    sums = used_sums(index.graph, By.MODEL, UsedFilter())
    assert {used.key for used in sums if used.input + used.output + used.cache_read} == set(used_models(index.graph))


def test_sums_are_split_where_prompts_are_long(index: Index) -> None:
    whole = used_sums(index.graph, By.MODEL, UsedFilter())
    split = used_sums(index.graph, By.MODEL, UsedFilter(), lengths=[5_000, 15_000])
    assert {used.length for used in whole} == {0}
    assert {used.length for used in split} == {0, 1, 2}
    assert sum(used.calls for used in split) == sum(used.calls for used in whole)


def test_sessions_and_times_are_filtered(index: Index) -> None:
    every = used_sums(index.graph, By.SESSION, UsedFilter())
    keys = sorted({str(used.key) for used in every})
    some = used_sums(index.graph, By.SESSION, UsedFilter(sessions=(keys[0], keys[1])))
    assert {used.key for used in some} == set(keys[:2])
    assert used_sums(index.graph, By.SESSION, UsedFilter(sessions=())) == []
    middle = "2026-11-21T22:40:00.000000Z"
    before, after = (
        used_sums(index.graph, By.MODEL, wanted) for wanted in (UsedFilter(until=middle), UsedFilter(since=middle))
    )
    assert sum(used.calls for used in (*before, *after)) == sum(used.calls for used in every)
    assert before
    assert after
    with pytest.raises(UsageError):
        used_sums(index.graph, By.MODEL, UsedFilter(since="yesterday"))


@pytest.mark.parametrize("by", By)
def test_the_statement_of_a_sum_lists_its_steps(index: Index, by: By) -> None:
    wanted = UsedFilter(until="2026-12-01T00:00:00.000000Z")
    sums = used_sums(index.graph, by, wanted)
    for key in sorted({used.key for used in sums}, key=str):
        found = ask(index.graph.path, steps_query(by, [key], wanted), limit=10_000, seconds=30)
        place = found.columns.index("tokens_output")
        mine = [used for used in sums if used.key == key]
        assert len(found.rows) == sum(used.calls for used in mine)
        assert sum(int(row[place] or 0) for row in found.rows) == sum(used.output for used in mine)


def test_a_statement_is_no_way_in() -> None:
    text = steps_query(By.MODEL, ["x' OR 1=1; --"], UsedFilter(sessions=("a'b",)))
    assert "'x'' OR 1=1; --'" in text
    assert "'a''b'" in text


def test_sessions_and_requests_have_names(index: Index) -> None:
    used = used_sums(index.graph, By.REQUEST, UsedFilter())
    names = names_of(index.graph, By.REQUEST, [str(one.key) for one in used])
    assert any(
        label and label.startswith("A customer says") and agent == "claude-code" for label, agent in names.values()
    )
    assert names_of(index.graph, By.SESSION, ["no such session"]) == {}
    assert names_of(index.graph, By.MODEL, ["gpt-4o"]) == {}
