"""Rates of models, kept between runs: asking the package genai-prices takes longer than drawing a tree of 10,000 sessions.

Owns the file `prices.cache` of the store: what the package said of a model on a day, for as long as it is the same package.
It may be deleted at any time. What a person gave in `prices.toml` is never kept here. Must not know sessions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import msgspec

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.sessions.rates import Rates

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
