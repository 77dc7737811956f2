"""What sessions cost: the tokens that each model used in them, at what a token of it cost on the day that it was used.

Owns the sums, that a model without a known price is named and never counted as nothing, and the store's `prices.cache`:
rates that were asked for once, because asking the package genai-prices takes longer than drawing a tree of 10,000
sessions. That file may be deleted at any time; what a person gave in `prices.toml` is never in it. Prices are prices.py's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable
from importlib.util import find_spec
from pathlib import Path

import msgspec

from tallystick.ask.prices import Prices, given_rates
from tallystick.errors import FormatError, JournalError
from tallystick.graph.family import Use, use_by_day, use_of
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.sessions.rates import Rates
from tallystick.workspace.index import Index

FILE = "prices.cache"
_MOST = 20_000
_MOST_BYTES = 16 << 20

DAY_MS = 86_400_000


class _Kept(msgspec.Struct):
    """The file. `package` says whose rates these are; a key is a day since 1970 and a model."""

    package: str
    rates: dict[str, Rates | None] = {}


class RatesKept:
    """The rates of one store.

    `ask` is asked for what is not known yet, with a model and noon of a day: some models cost less at night.
    """

    def __init__(self, home: Home, ask: Callable[[str, int], Rates | None]) -> None:
        self._path = home.folder / FILE
        self._ask = ask
        self._has_news = False
        self._kept = self._read(_package())

    def _read(self, package: str) -> _Kept:
        try:
            if self._path.stat().st_size <= _MOST_BYTES:
                found = msgspec.json.decode(self._path.read_bytes(), type=_Kept)
                if found.package == package and len(found.rates) <= _MOST:
                    return found
        except (OSError, msgspec.MsgspecError, RecursionError):
            pass  # it is made again
        return _Kept(package)

    def rates(self, model: str, day: int) -> Rates | None:
        """What a model cost on a day, counted from 1970; None: no one knows."""
        key = f"{day} {model}"
        if key not in self._kept.rates:
            self._kept.rates[key] = self._ask(model, day * DAY_MS + DAY_MS // 2)
            self._has_news = True
        return self._kept.rates[key]

    def keep(self) -> None:
        """Write down what is new. A store that cannot be written is none the worse."""
        if not self._has_news or not self._kept.package or len(self._kept.rates) > _MOST:
            return
        self._has_news = False
        with contextlib.suppress(JournalError):
            replace_file(self._path, [msgspec.json.encode(self._kept)])


def _package() -> str:
    """Which package gives the rates: its data's place, size and time. Empty if it is not there. It is not imported."""
    spec = find_spec("genai_prices")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        try:
            status = Path(folder, "data.py").stat()
        except OSError:
            continue
        return f"{folder} {status.st_size} {status.st_mtime_ns}"
    return ""


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
