"""How often rules stopped real work: what is kept, and its sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.guard import real_work
from tallystick.guard.policy_rules import rules_in_force
from tallystick.guard.real_work import Counted, OnRealWork, RealWork, by_rule, keep, kept
from tallystick.journal.home import Home

NONE = RealWork(
    calls=1000, sessions=2, stops=0, wrong=0, unlabelled=0, sessions_stopped=0, sessions_wrongly_stopped=0, rules={}
)


@pytest.fixture
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where no figures are kept yet."""
    monkeypatch.setattr(real_work, "FIGURES", tmp_path / "figures.json")
    monkeypatch.setattr(real_work, "by_rule", by_rule.__wrapped__)
    return tmp_path / "figures.json"


def test_rates_are_of_all_calls_of_all_histories(figures: Path) -> None:
    assert (real_work.kept(), real_work.by_rule()) == ({}, {})
    keep("one", NONE)
    rules = {"a.b": Counted(stops=4, wrong=3), "c.d": Counted(stops=1)}
    keep("two", RealWork(3000, 1, 5, 3, 0, 1, 1, rules, measured="2026-01-02"))
    assert kept()["two"].measured == "2026-01-02"
    assert real_work.by_rule() == {"a.b": OnRealWork(4000, 4, 3, 0.75), "c.d": OnRealWork(4000, 1, 0, 0.0)}
    keep("two", NONE)
    assert real_work.by_rule() == {}


def test_what_is_shipped_is_of_rules_that_are_in_force(home: Home) -> None:
    assert set(by_rule()) <= {row.id for row in rules_in_force(home, None).rules}
