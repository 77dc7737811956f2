"""Entries of the catalogue say when a call of a program is a risk; the tests that they name exist."""

from __future__ import annotations

from importlib import import_module

import pytest

from tallystick.catalog.programs import RiskRule, programs
from tallystick.model.script import Word
from tallystick.policy.risks import RISKS, entries
from tallystick.policy.risks.entries import judged, rules_of
from tallystick.policy.risks.programs import Started


def started(text: str) -> Started:
    name, *words = text.split()
    return Started(name, tuple(map(Word, words)), text)


def test_every_test_of_an_entry_is_of_a_module_that_uses_it() -> None:
    modules = {rule.when.partition(".")[0] for entry in programs().values() for rule in entry.risks}
    for name in modules:
        module = import_module(f"tallystick.policy.risks.{name}")
        assert {"rules_of", "tests_of"} & set(vars(module)), name


def test_every_risk_that_an_entry_names_is_known() -> None:
    assert {rule.risk for entry in programs().values() for rule in entry.risks if rule.risk} <= set(RISKS)


def test_of_several_tests_the_first_that_speaks_decides_and_then_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = {"mount": (RiskRule(when="any.said", risk="a", words="stop"), RiskRule(when="any.mine"))}
    monkeypatch.setattr(entries, "tests_of", lambda _: tests)
    rules = rules_of(
        "any",
        written={"mine": lambda s: "c" if s.has("-f") else None},
        made={"said": lambda test: lambda s: test.risk if test.words in s.words else None},
    )
    given = ("mount stop -f", "mount -f", "mount x", "mount")
    assert [judged("machine", rules, started(text)) for text in given] == ["a", "c", "changes-mounts", None]


def test_a_test_that_the_module_does_not_have_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "tests_of", lambda _: {"x": (RiskRule(when="any.other"),)})
    with pytest.raises(KeyError, match="other"):
        rules_of("any", written={}, made={})
