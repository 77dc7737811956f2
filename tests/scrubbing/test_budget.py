"""What a search may take, and that it stops there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.budget import Budget, Counts, TooMuchWorkError
from tallystick.scrubbing.finding import scrub_bytes


@given(st.lists(st.integers(0, 50), max_size=200))
def test_what_is_spent_in_all_stays_below_twice_the_first_limit(costs: list[int]) -> None:
    budget, spent = Budget(200), 0
    for cost in costs:
        try:
            budget.spend(cost)
        except TooMuchWorkError:
            budget.renew()
        else:
            spent += cost
    assert spent <= 400


def test_without_a_limit_nothing_is_too_much() -> None:
    Budget().spend(1 << 50)


def test_parts_spend_what_the_whole_has() -> None:
    counts = Counts(Budget(10))
    counts.inner().budget.spend(9)
    with pytest.raises(TooMuchWorkError):
        counts.budget.spend_on(200)


def test_a_search_stops_at_its_budget() -> None:
    text = b"".join(b"password=Sw0rdf1sh!x%d\n" % number for number in range(100))
    assert b"Sw0rd" not in scrub_bytes(text, Counts())
    with pytest.raises(TooMuchWorkError):
        scrub_bytes(text, Counts(Budget(500)))
