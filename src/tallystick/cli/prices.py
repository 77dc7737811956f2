"""`--cost MODEL:IN,OUT`: the price of a model, as an option, and the prices in effect with it.

Owns the option. Prices are in ask.prices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tallystick.cli.context import Run

if TYPE_CHECKING:
    from tallystick.ask.prices import Prices

price_option = click.option(
    "--cost",
    "specs",
    multiple=True,
    metavar="MODEL:IN,OUT",
    help="The price of a model in dollars for a million tokens: IN,OUT[,CACHE_READ[,CACHE_WRITE]]. May be repeated.",
)


def prices_for(run: Run, specs: tuple[str, ...]) -> Prices:
    """The prices of the store, overridden by those of the option. Raises UsageError, FormatError."""
    from tallystick.ask.prices import read_prices
    from tallystick.sessions.rates import parse_model_rates

    return read_prices(run.home).plus(dict(map(parse_model_rates, specs)))
