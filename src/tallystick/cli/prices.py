"""`--cost MODEL:IN,OUT`: what a model costs, as an option, and the prices that hold with it.

Owns the words. What a model costs is ask.prices'.
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
    help="What a model costs, in dollars for a million tokens: IN,OUT[,CACHE_READ[,CACHE_WRITE]]. May be repeated.",
)


def prices_for(run: Run, specs: tuple[str, ...]) -> Prices:
    """The prices of the store, with what was given by the option before them. Raises UsageError, FormatError."""
    from tallystick.ask.prices import read_prices
    from tallystick.sessions.rates import parse_model_rates

    return read_prices(run.home).plus(dict(map(parse_model_rates, specs)))
