from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.sessions.rates import Rates, parse_model_rates, parse_rates, prompt_tokens
from tests.support.cases import each, each_case

SONNET = Rates(
    input=Decimal(3),
    output=Decimal(15),
    cache_read=Decimal("0.3"),
    cache_write=Decimal("3.75"),
    cache_write_1h=Decimal(6),
)
COUNTS = st.fixed_dictionaries(
    {},
    optional={
        kind: st.integers(0, 10**9)
        for kind in ("input", "output", "cache_read", "cache_write", "reasoning", "cache_write_1h")
    },
)


@each_case("tokens, microusd")
def test_each_kind_has_its_rate(tokens: dict[str, int], microusd: int) -> None:
    assert SONNET.cost(tokens) == microusd


def test_what_has_no_rate_costs_what_the_kind_costs_that_it_is_a_part_of() -> None:
    rates = Rates(input=Decimal(2), output=Decimal(8))
    assert rates.cost({"input": 10, "cache_read": 10, "cache_write": 10, "cache_write_1h": 5}) == 60
    assert Rates(input=Decimal(2), output=Decimal(8), reasoning=Decimal(3)).cost({"output": 10, "reasoning": 4}) == 60
    write = Rates(input=Decimal(2), output=Decimal(8), cache_write=Decimal(3))
    assert write.cost({"cache_write": 10, "cache_write_1h": 10}) == 30


@each("value", [-1, True, 1.5, "7", None, 1 << 60, [], {}])
def test_what_is_no_count_is_nothing(value: object) -> None:
    assert SONNET.cost({"input": value, "output": 2, "cache_read": value}) == 30


def test_a_part_is_never_more_than_the_whole() -> None:
    assert SONNET.cost({"output": 10, "reasoning": 1000}) == 150
    assert SONNET.cost({"cache_write": 10, "cache_write_1h": 1000}) == 60


@given(COUNTS, COUNTS)
def test_two_calls_cost_what_each_costs(one: dict[str, int], other: dict[str, int]) -> None:
    for counts in (one, other):  # parts within their wholes, as agents count them
        counts["reasoning"] = min(counts.get("reasoning", 0), counts.get("output", 0))
        counts["cache_write_1h"] = min(counts.get("cache_write_1h", 0), counts.get("cache_write", 0))
    both = {kind: one.get(kind, 0) + other.get(kind, 0) for kind in one.keys() | other.keys()}
    assert abs(SONNET.cost(both) - SONNET.cost(one) - SONNET.cost(other)) <= 1  # each is rounded


def test_a_prompt_is_as_long_as_what_was_sent_and_what_a_cache_gave_and_took() -> None:
    assert prompt_tokens({"input": 1, "cache_read": 20, "cache_write": 300, "output": 4000}) == 321


@each(
    "text, rates",
    [
        ("3,15", Rates(input=Decimal(3), output=Decimal(15))),
        (" 0.15 , 0.6 ", Rates(input=Decimal("0.15"), output=Decimal("0.6"))),
        ("3,15,0.3", Rates(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"))),
        ("0,0,0,0", Rates(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0))),
    ],
)
def test_rates_are_read_as_people_write_them(text: str, rates: Rates) -> None:
    assert parse_rates(text) == rates


@each(
    "text",
    ["", "3", "3,", ",15", "3,15,1,1,1", "three,15", "-3,15", "3,nan", "3,inf", "3,1e9", "1" * 30 + ",1", "٣,15"],
)
def test_what_is_no_rates_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rates(text)
    assert "IN,OUT" in (caught.value.hint or "")


def test_names_of_models_may_hold_colons() -> None:
    assert parse_model_rates("llama3.1:8b:0.1,0.2") == (
        "llama3.1:8b",
        Rates(input=Decimal("0.1"), output=Decimal("0.2")),
    )
    assert parse_model_rates("claude-sonnet-4-20250514:3,15")[0] == "claude-sonnet-4-20250514"


@each("text", ["3,15", ":3,15", " :3,15", "", "model:"])
def test_a_spec_without_a_model_or_rates_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_model_rates(text)
