from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest

from tallystick.ask.rate_cache import DAY_MS, FILE, RatesKept
from tallystick.journal.home import Home
from tallystick.sessions.rates import Rates

RATES = Rates(input=Decimal("3"), output=Decimal("15"), cache_read=Decimal("0.3"))


class Asked:
    def __init__(self, **known: Rates) -> None:
        self.known = known
        self.questions: list[tuple[str, int]] = []

    def __call__(self, model: str, at_ms: int) -> Rates | None:
        self.questions.append((model, at_ms))
        return self.known.get(model)


def test_what_is_known_is_asked_once_and_kept_for_the_next_run(home: Home) -> None:
    asked = Asked(m=RATES)
    kept = RatesKept(home, asked)
    assert [kept.rates("m", 20_000), kept.rates("m", 20_000), kept.rates("m", 20_001)] == [RATES] * 3
    assert asked.questions == [("m", 20_000 * DAY_MS + DAY_MS // 2), ("m", 20_001 * DAY_MS + DAY_MS // 2)]
    kept.keep()
    later = Asked()
    assert RatesKept(home, later).rates("m", 20_001) == RATES
    assert later.questions == []


def test_that_nobody_knows_a_price_is_kept_too(home: Home) -> None:
    kept = RatesKept(home, Asked())
    assert kept.rates("stub", 1) is None
    kept.keep()
    later = Asked(stub=RATES)
    assert RatesKept(home, later).rates("stub", 1) is None
    assert later.questions == []


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"package": "another one", "rates": {"1 m": null}}', b'{"package": 1}', b"\xff" * 100],
)
def test_a_file_that_is_none_of_ours_or_of_another_package_is_made_again(home: Home, data: bytes) -> None:
    (home.folder / FILE).write_bytes(data)
    kept = RatesKept(home, Asked(m=RATES))
    assert kept.rates("m", 1) == RATES
    kept.keep()
    assert RatesKept(home, Asked()).rates("m", 1) == RATES


def test_nothing_is_written_where_nothing_is_new(home: Home) -> None:
    RatesKept(home, Asked()).keep()
    assert not (home.folder / FILE).exists()
    kept = RatesKept(home, Asked(m=RATES))
    kept.rates("m", 1)
    kept.keep()
    assert (home.folder / FILE).stat().st_mode & 0o777 == 0o600
    (home.folder / FILE).unlink()
    kept.rates("m", 1)
    kept.keep()
    assert not (home.folder / FILE).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the administrator")
def test_a_store_that_cannot_be_written_is_none_the_worse(home: Home) -> None:
    home.folder.chmod(0o500)
    kept = RatesKept(home, Asked(m=RATES))
    assert kept.rates("m", 1) == RATES
    kept.keep()
    home.folder.chmod(0o700)


def test_a_folder_in_its_place_is_none_the_worse(home: Home) -> None:
    Path(home.folder / FILE).mkdir()
    kept = RatesKept(home, Asked(m=RATES))
    assert kept.rates("m", 1) == RATES
    kept.keep()
