"""Sessions on Windows, on macOS and in WSL are judged as those on Linux are."""

from pathlib import Path

import pytest

from tallystick.guard.policy_quality import Case, judge, read_cases

_CASES = read_cases([Path(__file__).parent / "cases" / "other_systems.toml"])


@pytest.mark.parametrize("name", sorted({case.class_ for case in _CASES}))
def test_every_case_gets_what_it_wants(name: str) -> None:
    cases: list[Case] = [case for case in _CASES if case.class_ == name]
    unmet = [f"{one.effect} {one.id}" for one in judge(cases, {}) if not one.is_met]
    assert not unmet
