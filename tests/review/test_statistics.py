from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.cost import costs
from tallystick.ask.prices import Prices
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.graph.spending import By, UsedFilter
from tallystick.journal.home import Home
from tallystick.review.replay_sources import open_cast
from tallystick.review.statistics import Report, SubAgents, statistics_of
from tallystick.sessions.rates import parse_rates
from tallystick.workspace.indexing import open_index
from tests.agents.headless.test_transcript import GOLDEN, LEGACY
from tests.cli.conftest import DISCOUNT
from tests.support.fixtures import ImportPaths

SONNET = "claude-sonnet-4-20250514"


@pytest.fixture
def store(imported_samples: Path) -> Home:
    return Home(imported_samples / ".tally")


def report(home: Home, *names: str, sub_agents: SubAgents = SubAgents.WITH) -> Report:
    prices = Prices({SONNET: parse_rates("3,15")})
    with open_cast(home, names) as cast:
        found = statistics_of(cast, prices, sub_agents)
        assert cast.failures == []
    return found


def test_the_golden_file_has_its_figures_and_nothing_is_recorded(tmp_path: Path) -> None:
    home = Home(tmp_path / "no store")
    (one,) = report(home, str(GOLDEN)).sessions
    assert not home.folder.exists()
    assert one.origin is not None
    assert one.statistics.reported.total_ms == 17683
    assert one.statistics.models[SONNET].spending.cost_microusd == 33_501
    assert one.title.startswith("<workflow")


def test_sub_agents_are_in_the_figures_unless_they_are_to_stay_out(store: Home) -> None:
    (whole,) = report(store, DISCOUNT).sessions
    (alone,) = report(store, DISCOUNT, sub_agents=SubAgents.WITHOUT).sessions
    assert (len(whole.sub_agents), alone.sub_agents) == (1, ())
    (child,) = report(store, whole.sub_agents[0]).sessions
    assert whole.statistics.spending == alone.statistics.spending.plus(child.statistics.spending)
    assert whole.statistics.spending.cost_microusd == 227_492  # what Claude Code wrote of it
    # What the sub-agent did was done for the first prompt, whose step had started it.
    (first, second), (alone_first, _) = whole.statistics.requests, alone.statistics.requests
    assert first.spending == alone_first.spending.plus(child.statistics.spending)
    assert first.spending.plus(second.spending) == whole.statistics.spending
    assert set(whole.statistics.agents) == {"claude-code", "claude-code/general-purpose"}


def test_several_sessions_have_a_total_in_which_each_counts_once(store: Home) -> None:
    (whole,) = report(store, DISCOUNT).sessions
    both = report(store, DISCOUNT, whole.sub_agents[0], str(GOLDEN))
    assert len(both.sessions) == 3
    assert both.total is not None
    assert both.total.sessions == 3
    golden = both.sessions[2].statistics
    assert both.total.spending == whole.statistics.spending.plus(golden.spending)
    assert both.total.steps == whole.statistics.steps + golden.steps
    assert report(store, DISCOUNT).total is None


def test_the_index_and_the_journals_come_to_the_same_sums(store: Home) -> None:
    prices = Prices()
    with open_index(store) as index:
        sessions = [row.session for row in list_sessions(index.graph, SessionFilter(limit=None))]
        indexed = {one: costs(index, prices, By.MODEL, UsedFilter(sessions=(one,))).total for one in sessions}
    with open_cast(store, sessions) as cast:
        read = {one.session: one.statistics for one in statistics_of(cast, prices, SubAgents.WITHOUT).sessions}
    assert len(indexed) == len(read) >= 8
    for session in sessions:
        assert read[session].spending == indexed[session]


def test_a_session_that_was_told_twice_has_the_figures_of_one(import_paths: ImportPaths, home: Home) -> None:
    """Both forms of the golden log tell of one session; each import revises what differs."""
    folders = [GOLDEN.parents[4], LEGACY.parents[4]]
    import_paths(folders[0])
    (before,) = report(home, "7c1f0a9e").sessions
    import_paths(folders[1])
    (after,) = report(home, "7c1f0a9e").sessions
    for name in ("spending", "tools", "failures", "goals", "models", "reported", "funnel"):
        assert getattr(after.statistics, name) == getattr(before.statistics, name)
