from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.sessions.rates import Rates
from tallystick.sessions.spending import KINDS, NOTHING, TOKENS, Spending, Usage, Used, spent
from tallystick.workspace.indexing import open_index


class KnowsM:
    """Knows one model: a millionth of a dollar for each token, caches free."""

    def rates(self, model: str, *, at_ms: int | None = None, prompt: int = 0) -> Rates | None:
        return RATES if model == "m" else None


RATES = Rates(input=Decimal(1), output=Decimal(1), cache_read=Decimal(0), cache_write=Decimal(0))
PRICES = KnowsM()
SPENDINGS = st.builds(
    spent,
    st.builds(
        Usage,
        st.sampled_from(("m", "other")),
        st.dictionaries(st.sampled_from(KINDS), st.integers(0, 10**6)),
        calls=st.integers(0, 9),
        said_microusd=st.none() | st.integers(0, 10**6),
    ),
    st.just(PRICES),
)


def test_what_has_a_price_costs_something() -> None:
    found = spent(Usage("m", {"input": 3, "output": 2, "cache_read": 7}), PRICES)
    assert (found.calls, found.tokens, found.cost_microusd, found.unpriced_tokens) == (1, 12, 5, 0)
    assert found.is_whole


def test_what_has_no_price_is_counted_and_never_as_nothing() -> None:
    found = spent(Usage("other", {"input": 3, "output": 2, "reasoning": 2}), PRICES)
    assert (found.cost_microusd, found.unpriced_tokens, found.is_whole) == (None, 5, False)
    both = found.plus(spent(Usage("m", {"input": 1}), PRICES))
    assert (both.cost_microusd, both.unpriced_tokens, both.is_whole) == (1, 5, False)


def test_an_unknown_model_that_used_nothing_lacks_nothing() -> None:
    found = spent(Usage("other", {}), PRICES)
    assert (found.cost_microusd, found.unpriced_tokens, found.is_whole) == (None, 0, True)


def test_without_prices_nothing_is_called_unpriced() -> None:
    assert spent(Usage("m", {"input": 3}), None) == Spending(calls=1, input=3)


def test_what_the_agent_says_stands_beside_what_we_say_of_the_same_calls() -> None:
    found = spent(Usage("m", {"input": 3}, said_microusd=4), PRICES).plus(spent(Usage("m", {"input": 100}), PRICES))
    assert (found.said_calls, found.said_microusd, found.cost_microusd) == (1, 4, 103)
    assert found.ours_where_said_picousd == 3_000_000


def test_calls_of_which_half_is_told_make_the_cost_less_than_whole() -> None:
    assert not spent(Usage("m", {"output": 3}, half_told_calls=1), PRICES).is_whole


@given(SPENDINGS, SPENDINGS, SPENDINGS)
def test_sums_do_not_depend_on_the_order(one: Spending, two: Spending, three: Spending) -> None:
    assert one.plus(two).plus(three) == three.plus(one.plus(two)) == one.plus(two.plus(three))
    assert one.plus(NOTHING) == one


def test_many_calls_that_cost_next_to_nothing_add_up() -> None:
    cheap = Rates(input=Decimal("0.3"), output=Decimal(0))

    class Cheap:
        def rates(self, model: str, *, at_ms: int | None = None, prompt: int = 0) -> Rates:
            return cheap

    total = NOTHING
    for _ in range(1000):
        total = total.plus(spent(Usage("m", {"input": 1}), Cheap()))
    assert (spent(Usage("m", {"input": 1}), Cheap()).cost_microusd, total.cost_microusd) == (0, 300)


def used(*metas: dict[str, Any]) -> dict[str, int]:
    found = Used()
    for n, meta in enumerate(metas):
        found.take(n, meta)
    return found.tokens


def test_tokens_are_summed_by_kind() -> None:
    found = used({"tokens": {"input": 5, "output": 1}}, {"tokens": {"output": 2, "cache_read": 7}})
    assert found == {"input": 5, "output": 3, "cache_read": 7, "cache_write": 0, "reasoning": 0}


def test_a_step_that_revises_another_takes_its_place() -> None:
    first, second, third = ({"tokens": {"input": 5}}, {"tokens": {"input": 9}, "revises": 0}, {"revises": 1})
    assert used(first, second)["input"] == 9
    assert used(first, second, {"tokens": {"input": 2}, "revises": 0})["input"] == 2
    assert used(first, second, third)["input"] == 0


def test_what_a_second_witness_saw_is_not_counted_again() -> None:
    assert used({"tokens": {"input": 5}}, {"tokens": {"input": 5}, "corroborates": 0})["input"] == 5
    assert used({"tokens": {"input": 5}, "type": "sighting"})["input"] == 0


HOSTILE = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "tokens": st.one_of(HOSTILE, st.dictionaries(st.sampled_from(TOKENS), HOSTILE)),
                "revises": HOSTILE,
                "corroborates": HOSTILE,
            },
        ),
        max_size=12,
    )
)
def test_the_sums_at_an_entry_are_those_of_the_session_up_to_it(metas: list[dict[str, Any]]) -> None:
    whole = Used()
    for n, meta in enumerate(metas):
        whole.take(n, meta)
    for n in range(len(metas)):
        assert whole.at(n) == used(*metas[: n + 1])
        assert all(count >= 0 for count in whole.at(n).values())


def test_it_says_what_the_index_says_of_real_sessions(samples: Home) -> None:
    with open_index(samples) as index:
        rows = list_sessions(index.graph, SessionFilter(limit=None))
    assert rows
    for row in rows:
        metas = [dict(step.meta) for step in read_session(samples, row.session)]
        assert used(*metas) == {kind: getattr(row.tokens, kind) for kind in TOKENS}, row.session
