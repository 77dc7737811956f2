from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.codex.thread import tokens
from tallystick.model.step import Json
from tests.support.cases import each

COUNTS = st.integers(0, 10**9)


@given(fresh=COUNTS, read=COUNTS, written=COUNTS, output=COUNTS)
def test_what_a_cache_gave_or_took_is_no_input(fresh: int, read: int, written: int, output: int) -> None:
    """What Codex calls input is the sum of three counts that are paid for at three prices."""
    usage: dict[str, Json] = {
        "input_tokens": fresh + read + written,
        "cached_input_tokens": read,
        "cache_write_input_tokens": written,
        "output_tokens": output,
        "reasoning_output_tokens": output // 2,
    }
    assert tokens(usage) == {
        "input": fresh,
        "cache_read": read,
        "cache_write": written,
        "output": output,
        "reasoning": output // 2,
    }


@each(
    "usage, counts",
    [
        ({}, {}),
        ({"input_tokens": 10}, {"input": 10}),
        ({"input_tokens": 10, "cached_input_tokens": 4}, {"input": 6, "cache_read": 4}),
        ({"input_tokens": 10, "cache_write_input_tokens": 4}, {"input": 6, "cache_write": 4}),
        ({"input_tokens": 10, "cached_input_tokens": 10}, {"input": 0, "cache_read": 10}),
        ({"input_tokens": 10, "cached_input_tokens": 11}, {"input": 0, "cache_read": 11}),
        ({"input_tokens": 10, "cached_input_tokens": -4}, {"input": 10}),
        ({"cached_input_tokens": 4}, {"cache_read": 4}),
        ({"output_tokens": 0, "input_tokens": "many"}, {"output": 0}),
    ],
)
def test_counts_that_are_missing_or_strange_are_left_out(usage: dict[str, Json], counts: dict[str, int]) -> None:
    assert tokens(usage) == counts
