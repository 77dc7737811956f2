"""What tokens of a model cost.

Owns which rates a model has: those that a person gave, in `prices.toml` of the store or with a command, else those that
the package genai-prices had when it was made. Nothing is fetched. A model that neither knows has no price, which is
not a price of nothing. Must not know sessions, nor what is summed up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.errors import FormatError, UsageError
from tallystick.journal.home import Home
from tallystick.model.step import Json
from tallystick.sessions.rates import Rates, parse_rates

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

FILE = "prices.toml"
_MOST_NAME = 200
_MOST_PARTS = 4
_MOST_CACHED = 4096
_OWN_MACHINE = frozenset(
    (
        "ollama",
        "ollama_chat",
        "local",
        "lmstudio",
        "lm_studio",
        "lm-studio",
        "llamacpp",
        "llama.cpp",
        "llamafile",
        "vllm",
    )
)
"""Who serves models on the user's own machine. A namesake's price would be wrong."""
_KINDS = {
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "reasoning": "output_reasoning_mtok",
}


class Prices:
    """The prices that hold in one store."""

    def __init__(self, given: Mapping[str, Rates] | None = None) -> None:
        """With what a person gave, by the model's name."""
        self._given = {name.lower(): rates for name, rates in (given or {}).items()}

    def plus(self, given: Mapping[str, Rates]) -> Prices:
        """With more that a person gave, which goes first."""
        return Prices({**self._given, **{name.lower(): rates for name, rates in given.items()}})

    def long_prompts(self, models: Iterable[str]) -> list[int]:
        """The lengths of prompts, in tokens, beyond which one of some models costs more; ascending."""
        found: set[int] = set()
        for model in models:
            if model.lower() not in self._given:
                found |= _lengths(model)
        return sorted(found)

    def rates(self, model: str, *, at_ms: int | None = None, prompt: int = 0) -> Rates | None:
        """What a model costs; None: no one knows.

        Args:
            at_ms: when it was used, milliseconds since 1970; None: now. prompt: how many tokens the prompt of the call
                had; some models cost more beyond a length.
        """
        own = self._given.get(model.lower())
        if own is not None:
            return own
        return _known_rates(model, at_ms, prompt)

    def cost(self, model: str, tokens: Mapping[str, Json], *, at_ms: int | None = None, prompt: int = 0) -> int | None:
        """Millionths of a dollar for tokens, kinds as Rates.cost takes them; None: no one knows the model's rates.

        Args: prompt: see `rates`. 0 for the tokens of several calls: their sum is not a prompt that anyone sent.
        """
        found = self.rates(model, at_ms=at_ms, prompt=prompt)
        if found is None:
            return None
        return found.cost(tokens)


def read_prices(home: Home) -> Prices:
    """The prices that hold in a store. Raises what `given_rates` raises."""
    return Prices(given_rates(home))


def price(model: str, tokens: Mapping[str, Json], *, at_ms: int | None = None, home: Home | None = None) -> int | None:
    """Millionths of a dollar for tokens of a model; None: no one knows what it costs.

    For one price. Who wants many reads the prices once (`read_prices`).

    Args:
        tokens: by kind, of one call or of many; what a longer prompt would cost more is not added.
        home: the store whose `prices.toml` goes first.
    """
    if home is None:
        prices = Prices()
    else:
        prices = read_prices(home)
    return prices.cost(model, tokens, at_ms=at_ms)


# Given by a person ---------------------------------------------------------------------------------------------------


def given_rates(home: Home) -> dict[str, Rates]:
    """What the store's `prices.toml` says: `"MODEL" = "IN,OUT[,CACHE_READ[,CACHE_WRITE]]"`. No file: nothing.

    Raises: FormatError: it is not TOML, or a value is not a rates.
    """
    path = home.folder / FILE
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}", hint="fix the file, or move it away") from error
    import tomllib

    try:
        found = dict(_flat(tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FormatError(
            f"{path}: {error}", hint='write each line as "MODEL" = "IN,OUT", in dollars for a million tokens'
        ) from error
    return {name: _rates_of(path, name, value) for name, value in found.items()}


def _rates_of(path: Path, name: str, value: Any) -> Rates:
    try:
        return parse_rates(str(value))
    except UsageError as error:
        raise FormatError(f"{path}: {name}: {error}", hint=error.hint) from error


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names without quotes come as tables in tables where they hold a dot: gpt-4.1."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


# Known to genai-prices -----------------------------------------------------------------------------------------------


def _known_rates(model: str, at_ms: int | None, prompt: int) -> Rates | None:
    found = None
    if len(model) <= _MOST_NAME:
        found = _known_model(model)
    if found is None:
        return None
    return _rates(_Priced(found.get_prices(_moment(at_ms))), prompt)


def _lengths(model: str) -> set[int]:
    """All lengths at which a model's price ever changed."""
    found = _known_model(model) if len(model) <= _MOST_NAME else None
    if found is None:
        return set()
    prices = found.prices if isinstance(found.prices, list) else [found]
    return {
        start
        for each in prices
        if not isinstance(each.prices, list)
        for start, _ in _by_length(_Priced(each.prices))
        if start
    }


def _moment(at_ms: int | None) -> datetime:
    try:
        if at_ms is None:
            return datetime.now(UTC)
        return datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):  # no year that a calendar has
        return datetime.now(UTC)


@lru_cache(maxsize=_MOST_CACHED)
def _known_model(name: str) -> ModelInfo | None:
    """The model that a name stands for, names read as agents write them."""
    from genai_prices import Usage, calc_price

    for reference, provider in _readings(name.lower().strip()):
        try:
            return calc_price(Usage(), reference, provider_id=provider).model
        except (LookupError, ValueError):
            continue
    return None


def _readings(name: str) -> Iterator[tuple[str, str | None]]:
    """What a name may mean, the likeliest first: a model, and who sells it.

    Agents write `claude-sonnet-4-20250514`, `anthropic/claude-sonnet-4`, `openrouter/anthropic/claude-sonnet-4`,
    `anthropic:claude-sonnet-4`, `models/gemini-2.5-pro`, `us.anthropic.claude-sonnet-4-v1:0`, `claude-sonnet-4[1m]`.
    """
    name = name.removesuffix("[1m]")
    for _ in range(_MOST_PARTS):
        seller, slash, rest = name.partition("/")
        if slash and seller in _OWN_MACHINE:
            return
        if slash:
            yield rest, seller
        elif ":" in name:
            seller, _, rest = name.partition(":")
            yield rest, seller
        if "anthropic." in name:
            yield name, "aws"
        yield name, None
        yield from ((name, other) for start, other in (("glm-", "zai"),) if name.startswith(start))
        if not slash:
            return
        name = rest


class _Priced:
    """A package's price as a key of a cache: its identity, for it has no hash. It is kept, so that no other takes its id."""

    def __init__(self, price: ModelPrice) -> None:
        self.price = price

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Priced) and other.price is self.price

    def __hash__(self) -> int:
        return id(self.price)


def _rates(priced: _Priced, prompt: int) -> Rates | None:
    """The rates of a call with a prompt of that length."""
    found = None
    for start, rates in _by_length(priced):
        if prompt > start or found is None:
            found = rates
    return found


@lru_cache(maxsize=_MOST_CACHED)
def _by_length(priced: _Priced) -> tuple[tuple[int, Rates], ...]:
    """Rates by the number of tokens that a prompt must exceed, ascending; empty where input or output has no price."""
    from genai_prices.types import TieredPrices

    def at(key: str, start: int) -> Decimal | None:
        value = getattr(priced.price, key)
        if not isinstance(value, TieredPrices):
            if isinstance(value, Decimal):
                return value
            return None
        return next((tier.price for tier in reversed(value.tiers) if tier.start <= start), value.base)

    keys = ("input_mtok", "output_mtok", *_KINDS.values())
    starts = {tier.start for key in keys for tier in getattr(getattr(priced.price, key), "tiers", ())}
    if at("input_mtok", 0) is None or at("output_mtok", 0) is None:
        return ()
    return tuple(
        (
            start,
            msgspec.convert(
                {"input": at("input_mtok", start), "output": at("output_mtok", start)}
                | {kind: at(key, start) for kind, key in _KINDS.items()},
                Rates,
            ),
        )
        for start in sorted({0} | starts)
    )
