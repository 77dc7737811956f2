"""Tokens and money in tables.

Owns the columns that every report of spending has, and the remarks below it: models without a price, and costs that
agents report. Everything it gives is safe to print.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tallystick.display.amounts import count_or_blank, dollars
from tallystick.display.bars import bar
from tallystick.display.text import counted, cut, one_line
from tallystick.sessions.rates import microusd
from tallystick.sessions.spending import Spending

HEAD = ("CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST", "")
_MOST_MODELS = 20
_NAME = 60


def cells(spending: Spending, whole: Spending) -> tuple[str, ...]:
    """The cells of one line under HEAD; the bar is its part of the whole, by cost if there is any."""
    return (
        f"{spending.calls:,}",
        *(count_or_blank(count) for count in (spending.input, spending.cache_read, spending.cache_write)),
        count_or_blank(spending.output),
        cost_text(spending),
        _bar(spending, whole),
    )


def cost_text(spending: Spending) -> str:
    """`$0.0335`; `$0.0335 + ?` for an incomplete cost, `unknown` where nothing has a price."""
    if spending.cost_microusd is None:
        if spending.is_whole:
            return ""
        return "unknown"
    return dollars(spending.cost_microusd) + ("" if spending.is_whole else " + ?")


def _bar(spending: Spending, whole: Spending) -> str:
    if whole.cost_microusd:
        return bar(spending.cost_microusd or 0, whole.cost_microusd)
    return bar(spending.tokens, whole.tokens)


def remarks(total: Spending, unpriced: Sequence[tuple[str, int]]) -> Iterator[str]:
    """The remarks below a table.

    Args:
        unpriced: models without a known price, and the tokens of each.
    """
    if total.said_calls:
        yield (
            f"for {counted(total.said_calls, 'call')} the agents themselves report the cost: "
            f"{dollars(total.said_microusd)}; by the prices here "
            f"{dollars(microusd(total.ours_where_said_picousd))}"
        )
    if total.half_told_calls:
        yield (
            f"for {counted(total.half_told_calls, 'call')} the agents report only a part of the tokens: "
            "the true cost is at least this"
        )
    if unpriced:
        named = ", ".join(
            f"{cut(one_line(model), _NAME) or '(no model named)'} ({tokens:,} tokens)"
            for model, tokens in unpriced[:_MOST_MODELS]
        )
        more = ""
        if len(unpriced) > _MOST_MODELS:
            more = f" and {len(unpriced) - _MOST_MODELS} more"
        yield f"no price for {named}{more}: not in the total. Set one with --cost MODEL:IN,OUT or prices.toml"
