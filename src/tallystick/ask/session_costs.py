"""What sessions cost: the tokens that each model used in them, at what a token of it cost on the day of last use.

Owns the sums, and that a model without a known price is named and never counted as nothing. Prices are prices.py's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from tallystick.ask.prices import Prices, given_rates
from tallystick.ask.rate_cache import RatesKept
from tallystick.errors import FormatError
from tallystick.graph.family import Use, use_by_day, use_of
from tallystick.journal.home import Home
from tallystick.sessions.rates import Rates
from tallystick.workspace.index import Index


class Cost(msgspec.Struct, frozen=True):
    """What something cost, in millionths of a dollar; None: nothing that has a known price was used.

    `unknown` are the models with tokens and without a known price, the empty one for steps that name none.
    """

    microusd: int | None = None
    unknown: tuple[str, ...] = ()


NOTHING = Cost()


class SessionCosts:
    """Costs at the prices that hold in one store.

    Where those are damaged, the index remarks it and nothing has a cost. Nothing is asked of the package of prices, which
    takes long to load, before something has tokens.
    """

    def __init__(self, home: Home, index: Index) -> None:
        self._index = index
        self._given: dict[str, Rates] | None = None
        try:
            self._given = {name.lower(): rates for name, rates in given_rates(home).items()}
        except FormatError as error:
            index.remarks.append(f"costs are left out: {error}")
        self._kept = RatesKept(home, lambda model, at_ms: Prices().rates(model, at_ms=at_ms))

    def each(self, sessions: Iterable[str]) -> dict[str, Cost]:
        """What each of some sessions cost; those that used no tokens are left out."""
        found: dict[str, list[Use]] = {}
        for use in use_of(self._index.graph, sessions):
            found.setdefault(use.session, []).append(use)
        return {session: self._cost(used) for session, used in found.items()}

    def all(self, sessions: Iterable[str]) -> Cost:
        """What some sessions cost together."""
        return self._cost(use_by_day(self._index.graph, sessions))

    def _cost(self, used: Collection[Use]) -> Cost:
        if self._given is None:
            return NOTHING
        known, unknown = [], set()
        for use in used:
            rates = self._rates(use.model, use.day)
            if rates is None:
                unknown.add(use.model)
            else:
                known.append(rates.cost({**msgspec.structs.asdict(use.tokens), "cache_write_1h": use.cache_write_1h}))
        self._kept.keep()
        return Cost(sum(known) if known else None, tuple(sorted(unknown)))

    def _rates(self, model: str, day: int) -> Rates | None:
        if not model or self._given is None:
            return None
        own = self._given.get(model.lower())
        if own is not None:
            return own
        return self._kept.rates(model, day)
