from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tallystick.ask.cost import costs, with_sub_agents
from tallystick.ask.prices import Prices
from tallystick.graph.spending import By, UsedFilter
from tallystick.graph.sql import ask
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.sessions.rates import parse_rates
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session
from tests.cli.conftest import DISCOUNT
from tests.support.fixtures import ImportPaths

NONE = Prices()
PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "public" / "large" / "agentv-codex-2.jsonl"


@pytest.fixture
def index(imported_samples: Path) -> Iterator[Index]:
    with open_index(Home(imported_samples / ".tally")) as index:
        yield index


def test_a_session_costs_what_its_agent_says_that_it_cost(index: Index) -> None:
    """Claude Code keeps account itself, and wrote 0.2274924 dollars for the session with its sub-agent."""
    family = with_sub_agents(index.graph, find_session(index, DISCOUNT))
    assert len(family) == 2
    found = costs(index, NONE, By.SESSION, UsedFilter(sessions=family))
    assert found.total.cost_microusd == 227_492
    assert found.total.calls == 16
    assert [row.key for row in found.rows] == list(family)
    assert found.rows[0].label is not None
    assert found.rows[0].agent == "claude-code"


def test_what_a_sub_agent_did_belongs_to_the_request_that_it_was_started_for(index: Index) -> None:
    session, child = with_sub_agents(index.graph, find_session(index, DISCOUNT))
    whole = {row.key: row for row in costs(index, NONE, By.REQUEST, UsedFilter(sessions=(session, child))).rows}
    alone = {row.key: row for row in costs(index, NONE, By.REQUEST, UsedFilter(sessions=(session,))).rows}
    its = costs(index, NONE, By.REQUEST, UsedFilter(sessions=(child,)))
    assert [row.key for row in its.rows] == [f"{child}:0"]  # the request is not asked about
    assert whole.keys() == alone.keys() == {f"{session}:1", f"{session}:51"}
    assert whole[f"{session}:1"].spending == alone[f"{session}:1"].spending.plus(its.total)
    found = ask(index.graph.path, whole[f"{session}:1"].query, limit=100, seconds=30)
    assert len(found.rows) == whole[f"{session}:1"].spending.calls
    assert {row[0] for row in found.rows} == {session, child}


@pytest.mark.parametrize("by", By)
def test_the_lines_come_to_the_total(index: Index, by: By) -> None:
    found = costs(index, NONE, by, UsedFilter())
    assert sum(row.spending.tokens for row in found.rows) == found.total.tokens > 0
    assert sum(row.spending.cost_picousd or 0 for row in found.rows) == found.total.cost_picousd
    assert found.has_more == 0
    some = costs(index, NONE, by, UsedFilter(), limit=1)
    assert (len(some.rows), some.total) == (1, found.total)
    assert some.has_more == len(found.rows) - 1


def test_the_dearest_comes_first_and_days_come_in_order(index: Index) -> None:
    models = [row.spending.cost_microusd or 0 for row in costs(index, NONE, By.MODEL, UsedFilter()).rows]
    assert models == sorted(models, reverse=True)
    days = [row.key for row in costs(index, NONE, By.DAY, UsedFilter()).rows]
    assert days == sorted(days)
    assert all(day.startswith("20") for day in days)


def test_models_without_a_price_are_named_with_their_tokens(index: Index) -> None:
    found = costs(index, NONE, By.MODEL, UsedFilter())
    unknown = {row.key: row.spending.tokens for row in found.rows if row.spending.cost_microusd is None}
    assert {one.model: one.tokens for one in found.unpriced} == unknown
    assert sum(unknown.values()) == found.total.unpriced_tokens > 0
    known = costs(index, NONE.plus(dict.fromkeys(unknown, parse_rates("1,1"))), By.MODEL, UsedFilter())
    assert (known.unpriced, known.total.unpriced_tokens) == ((), 0)
    assert (known.total.cost_microusd or 0) > (found.total.cost_microusd or 0)


def test_what_agents_say_stands_beside_what_we_say_of_the_same_calls(index: Index) -> None:
    total = costs(index, NONE, By.MODEL, UsedFilter()).total
    assert total.said_calls >= 8
    assert abs(total.said_microusd - total.ours_where_said_picousd / 10**6) <= total.said_calls


def test_an_empty_store_spent_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    Archive.make(home)
    with open_index(home) as index:
        found = costs(index, NONE, By.MODEL, UsedFilter())
    assert (found.rows, found.total.calls, found.unpriced) == ((), 0, ())


@pytest.mark.soak
@pytest.mark.skipif(not PUBLISHED.exists(), reason="published histories are not here")
def test_codex_comes_to_the_tokens_that_it_counted_itself(import_paths: ImportPaths, home: Home) -> None:
    lines = [line for line in PUBLISHED.read_bytes().splitlines() if b'"total_token_usage"' in line]
    said = orjson.loads(lines[-1])["payload"]["info"]["total_token_usage"]
    import_paths(PUBLISHED)
    with open_index(home) as index:
        total = costs(index, NONE, By.MODEL, UsedFilter()).total
    assert total.input + total.cache_read == said["input_tokens"]
    assert (total.cache_read, total.output) == (said["cached_input_tokens"], said["output_tokens"])
    assert total.reasoning == said["reasoning_output_tokens"]
