"""What a session used so far."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.sessions.token_totals import TOKENS, Used
from tallystick.workspace.indexing import open_index


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
