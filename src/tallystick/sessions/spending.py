"""What was used and what it cost: the sum that every report of tokens and money adds up.

Owns how sums of known and unknown prices go together: what has no price is counted beside the cost, never as nothing; and
the sum of tokens that a session is kept up to date with, step by step, by the rule of the index: a step that revises
another takes its place, and what a second source saw is not counted again. Must not know prices, nor how sums are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tallystick.model.step import Json
from tallystick.sessions.rates import Rates, microusd, prompt_tokens

KINDS = ("input", "output", "cache_read", "cache_write", "reasoning", "cache_write_1h")
"""Kinds of tokens. The last two are parts: of the output, and of what was written to a cache."""
_WHOLE = ("input", "output", "cache_read", "cache_write")


class Pricing(Protocol):
    """Anyone who knows what models cost."""

    def rates(self, model: str, *, at_ms: int | None = None, prompt: int = 0) -> Rates | None:
        """What a model cost then, for a prompt of that many tokens; None: no one knows."""
        ...


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """A sum over steps that used tokens."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cache_write_1h: int = 0
    cost_picousd: int | None = None
    """Of what has a price, in millionths of a millionth of a dollar: sums of it are exact. None: nothing has a price."""
    cost_microusd: int | None = None
    """The same in millionths of a dollar, rounded."""
    unpriced_tokens: int = 0
    """Tokens of models whose price no one knows: not in the cost."""
    half_told_calls: int = 0
    """Calls of which the source tells what the model gave and not what it was given: they cost more than is counted."""
    said_calls: int = 0
    """Of how many the agents themselves said what they cost."""
    said_microusd: int = 0
    """What they said, in all."""
    ours_where_said_picousd: int = 0
    """What the same calls cost by our prices."""

    def __post_init__(self) -> None:
        """Both units of the cost say the same."""
        if self.cost_picousd is not None:
            msgspec.structs.force_setattr(self, "cost_microusd", microusd(self.cost_picousd))

    @property
    def is_whole(self) -> bool:
        """Whether the cost is of everything that was used, as far as the sources tell."""
        return not self.unpriced_tokens and not self.half_told_calls

    @property
    def tokens(self) -> int:
        """All tokens, none twice."""
        return self.input + self.output + self.cache_read + self.cache_write

    def plus(self, other: Spending) -> Spending:
        """Both together."""
        return Spending(
            calls=self.calls + other.calls,
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            cost_picousd=_both(self.cost_picousd, other.cost_picousd),
            unpriced_tokens=self.unpriced_tokens + other.unpriced_tokens,
            half_told_calls=self.half_told_calls + other.half_told_calls,
            said_calls=self.said_calls + other.said_calls,
            said_microusd=self.said_microusd + other.said_microusd,
            ours_where_said_picousd=self.ours_where_said_picousd + other.ours_where_said_picousd,
        )


NOTHING = Spending()


def _both(one: int | None, other: int | None) -> int | None:
    if one is None:
        return other
    if other is None:
        return one
    return one + other


class Usage(msgspec.Struct, frozen=True):
    """Tokens that one model used, in one call or in several."""

    model: str
    tokens: Mapping[str, int]
    calls: int = 1
    at_ms: int | None = None
    said_microusd: int | None = None
    """What the agent said that they cost; None: it said nothing."""
    prompt: int | None = None
    """How long each call's prompt was, where these are several calls; else that of the one is taken."""
    half_told_calls: int = 0

    @property
    def length(self) -> int:
        """How long a call's prompt was."""
        if self.prompt is None:
            return prompt_tokens(self.tokens)
        return self.prompt


def spent(usage: Usage, pricing: Pricing | None) -> Spending:
    """What tokens of one model come to. Without `pricing` nothing has a price, and nothing is counted as unpriced."""
    counts = {kind: usage.tokens.get(kind, 0) for kind in KINDS}
    cost, unpriced = None, 0
    if pricing is not None:
        rates = pricing.rates(usage.model, at_ms=usage.at_ms, prompt=usage.length)
        if rates is not None:
            cost = rates.exact(counts)
        if cost is None:
            unpriced = sum(counts[kind] for kind in _WHOLE)
    spending = Spending(
        calls=usage.calls,
        **counts,
        cost_picousd=cost,
        unpriced_tokens=unpriced,
        half_told_calls=usage.half_told_calls,
    )
    if usage.said_microusd is None:
        return spending
    return replace(
        spending, said_calls=usage.calls, said_microusd=usage.said_microusd, ours_where_said_picousd=cost or 0
    )


TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
_MOST_TOKENS = 1 << 40
_NONE = (0,) * len(TOKENS)


class Used:
    """The tokens of one session. Fed with every entry in order."""

    def __init__(self) -> None:
        self._changes: list[tuple[int, tuple[int, ...]]] = []
        """The entries that name tokens or take such ones out, each with what it changes in the sums."""
        self._sums = _NONE
        self._counted: dict[int, tuple[int, ...]] = {}
        """By entry that names tokens: what of it is in the sums."""
        self._revised: dict[int, int] = {}

    def take(self, n: int, meta: Mapping[str, Json]) -> None:
        """Take the members of entry `n`."""
        before = _NONE
        if "revises" in meta:
            before = self._taken_out(n, meta["revises"])
        found = _counts(meta)
        if found != _NONE:
            self._counted[n] = found
        if found != before:
            change = tuple(now - was for now, was in zip(found, before, strict=True))
            self._changes.append((n, change))
            self._sums = tuple(one + other for one, other in zip(self._sums, change, strict=True))

    def _taken_out(self, n: int, revised: Json) -> tuple[int, ...]:
        """What the entry that is revised has in the sums, and has no more."""
        if type(revised) is not int or not 0 <= revised < n:
            return _NONE
        while revised in self._revised:
            revised = self._revised[revised]
        self._revised[revised] = n
        return self._counted.pop(revised, _NONE)

    @property
    def tokens(self) -> dict[str, int]:
        """The sums by kind. Those of reasoning are among those of the output."""
        return dict(zip(TOKENS, self._sums, strict=True))

    def at(self, n: int) -> dict[str, int]:
        """The sums as they were when entry `n` was the newest."""
        sums = self._sums  # what is asked for is mostly near the end
        for _, change in takewhile(lambda each: each[0] > n, reversed(self._changes)):
            sums = tuple(one - other for one, other in zip(sums, change, strict=True))
        return dict(zip(TOKENS, sums, strict=True))


def _counts(meta: Mapping[str, Json]) -> tuple[int, ...]:
    counts = meta.get("tokens")
    if not isinstance(counts, dict) or "corroborates" in meta or meta.get("type") == "sighting":
        return _NONE
    if not (_is_count(counts.get("input")) or _is_count(counts.get("output"))):
        return _NONE
    return tuple(int(counts[kind]) if _is_count(counts.get(kind)) else 0 for kind in TOKENS)


def _is_count(value: Json) -> bool:
    return type(value) is int and 0 <= value <= _MOST_TOKENS
