"""What tokens cost at given rates.

Owns the arithmetic, in decimals, and the short form in which a person writes rates down. Must not know which model has
which rates. Dollars for a million tokens are millionths of a dollar for one: no factor stands between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

import msgspec

from tallystick.errors import UsageError
from tallystick.model.step import Json

_MOST_DOLLARS = 1_000_000
_MOST_TOKENS = 1 << 53
_MOST_DIGITS = 20
_PICO = 1_000_000
_FORM = "IN,OUT[,CACHE_READ[,CACHE_WRITE]], in dollars for a million tokens: 3,15,0.3,3.75"


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Dollars for a million tokens of each kind.

    What has no rate of its own costs what the kind costs that it is a part of: cached prompts what other input costs,
    an hour in the cache what five minutes cost, reasoning what other output costs.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    reasoning: Decimal | None = None

    def cost(self, tokens: Mapping[str, Json]) -> int:
        """Millionths of a dollar, rounded; takes what `exact` takes."""
        return microusd(self.exact(tokens))

    def exact(self, tokens: Mapping[str, Json]) -> int:
        """Picodollars, of which a million are a millionth of a dollar: a call costs less than that, and many add up.

        Args:
            tokens: by the kinds of docs/format.md 6.2: `input` without what a cache gave or took, `reasoning` a part of
                `output`. Besides those `cache_write_1h`, a part of `cache_write`. What is not a count is 0.
        """
        output, written = _count(tokens, "output"), _count(tokens, "cache_write")
        thought = min(_count(tokens, "reasoning"), output)
        kept = min(_count(tokens, "cache_write_1h"), written)
        write = self.cache_write
        if write is None:
            write = self.input
        total = (
            self.input * _count(tokens, "input")
            + (self.input if self.cache_read is None else self.cache_read) * _count(tokens, "cache_read")
            + write * (written - kept)
            + (write if self.cache_write_1h is None else self.cache_write_1h) * kept
            + self.output * (output - thought)
            + (self.output if self.reasoning is None else self.reasoning) * thought
        )
        return round(total * _PICO)


def microusd(picousd: int) -> int:
    """Millionths of a dollar, rounded."""
    return (picousd + _PICO // 2) // _PICO


def _count(tokens: Mapping[str, Json], kind: str) -> int:
    value = tokens.get(kind)
    if type(value) is int and 0 < value <= _MOST_TOKENS:
        return value
    return 0


def prompt_tokens(tokens: Mapping[str, Json]) -> int:
    """How long the prompt of a call was, with what a cache gave and took: what rates for long prompts go by."""
    return sum(_count(tokens, kind) for kind in ("input", "cache_read", "cache_write"))


def parse_rates(text: str) -> Rates:
    """Rates as a person writes them: two to four numbers, separated by commas.

    Raises:
        UsageError: it is something else.
    """
    numbers = [_dollars(part.strip()) for part in text.split(",")]
    if not 2 <= len(numbers) <= 4 or None in numbers:
        raise UsageError(f"{text!r} are no rates", hint=f"write {_FORM}")
    names = ("input", "output", "cache_read", "cache_write")
    return msgspec.convert(dict(zip(names, numbers, strict=False)), Rates)


def parse_model_rates(text: str) -> tuple[str, Rates]:
    """A model and its rates, `MODEL:IN,OUT`. The last colon parts them: names of models may hold colons.

    Raises:
        UsageError: it is something else.
    """
    model, colon, rates = text.rpartition(":")
    if not colon or not model.strip():
        raise UsageError(f"{text!r} names no model and rates", hint=f"write MODEL:{_FORM}")
    return model.strip(), parse_rates(rates)


def _dollars(text: str) -> Decimal | None:
    if len(text) > _MOST_DIGITS or not text.isascii():
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if number.is_finite() and 0 <= number <= _MOST_DOLLARS:
        return number
    return None
