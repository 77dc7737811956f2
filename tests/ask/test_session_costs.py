from __future__ import annotations

import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from tallystick.ask.cost import costs as spent_by
from tallystick.ask.prices import Prices
from tallystick.ask.session_costs import DAY_MS, FILE, NOTHING, Cost, RatesKept, SessionCosts
from tallystick.graph.spending import By, UsedFilter
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_log import SessionManager
from tallystick.sessions.rates import Rates
from tallystick.sessions.session_log import Event, EventMeta
from tallystick.workspace.indexing import open_index

PRICES = '"cheap" = "1,2"\n"dear" = "10,20,1,12.5"\n'


def used(session: Session, model: str, input: int, output: int, **more: int) -> None:
    session.step("model_call", model=model, tokens={"input": input, "output": output, **more})


def costs(home: Home, *sessions: Session) -> tuple[dict[str, Cost], Cost, list[str]]:
    with open_index(home) as index:
        prices = SessionCosts(home, index)
        ids = [session.id for session in sessions]
        return prices.each(ids), prices.all(ids), index.remarks


def test_the_cost_of_a_session_is_the_sum_over_its_models(home: Home) -> None:
    (home.folder / "prices.toml").write_text(PRICES)
    with Recorder(home.folder) as recorder:
        one, other, idle = (recorder.session("demo") for _ in range(3))
        used(one, "cheap", 1_000, 100)
        used(one, "dear", 10, 1, cache_read=100, cache_write=2)
        used(other, "Cheap", 5, 0)
        each, together, remarks = costs(home, one, other, idle)
    assert each == {one.id: Cost(1_000 + 200 + 100 + 20 + 100 + 25), other.id: Cost(5)}
    assert together == Cost(1_450)
    assert remarks == []


def test_a_model_without_a_known_price_is_named_and_never_nothing(home: Home) -> None:
    (home.folder / "prices.toml").write_text(PRICES)
    with Recorder(home.folder) as recorder:
        half, unknown = recorder.session("demo"), recorder.session("demo")
        used(half, "cheap", 10, 0)
        used(half, "no-such-model", 10, 0)
        unknown.step("usage", tokens={"input": 1, "output": 1})
        each, together, _ = costs(home, half, unknown)
    assert each == {half.id: Cost(10, ("no-such-model",)), unknown.id: Cost(None, ("",))}
    assert together == Cost(10, ("", "no-such-model"))


def test_the_package_knows_models_and_what_it_said_is_kept(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo")
        used(session, "claude-sonnet-4-20250514", 1_000_000, 1_000_000)
        assert costs(home, session)[1] == Cost(18_000_000)
    assert (home.folder / "prices.cache").exists()


def test_damaged_prices_are_remarked_and_nothing_has_a_cost(home: Home) -> None:
    (home.folder / "prices.toml").write_text('"cheap" = "a lot"')
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo")
        used(session, "cheap", 10, 0)
        each, together, remarks = costs(home, session)
    assert together == NOTHING
    assert set(each.values()) == {NOTHING}
    assert len(remarks) == 1
    assert "costs are left out" in remarks[0]


def test_an_hour_in_the_cache_costs_more_here_as_in_the_reports_of_cost(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo")
        tokens = {"input": 0, "output": 0, "cache_write": 1_000_000}
        session.step("model_call", model="claude-sonnet-4-20250514", tokens=tokens, cache_write_1h_tokens=400_000)
        assert costs(home, session)[1] == Cost(4_650_000)
        with open_index(home) as index:
            total = spent_by(index, Prices(), By.MODEL, UsedFilter(sessions=(session.id,))).total
    assert (total.cost_microusd, total.cache_write_1h) == (4_650_000, 400_000)


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


def test_a_tree_costs_what_its_tokens_cost_on_the_day_that_they_were_spent(home: Home) -> None:
    with SessionManager(JournalStore(home.folder)) as manager:
        session = manager.create("w")
        for when in ("2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z"):
            meta = EventMeta(model="m", tokens_in=1_000, tokens_out=0)
            session.add_event(Event(type="assistant", content="x", timestamp=when, meta=meta))
        session.close()
    first = date(2026, 3, 1).toordinal() - date(1970, 1, 1).toordinal()
    dollars = {first: 1, first + 1: 5}
    kept = RatesKept(home, lambda model, at_ms: Rates(input=Decimal(dollars[at_ms // DAY_MS]), output=Decimal(0)))
    for day in dollars:
        kept.rates("m", day)
    kept.keep()
    with open_index(home) as index:
        sid = index.graph.rows("SELECT session_id FROM sessions")[0][0]
        prices = SessionCosts(home, index)
        assert prices.each([sid]) == {sid: Cost(1_000 + 5_000)}
        assert prices.all([sid]) == Cost(6_000)


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
