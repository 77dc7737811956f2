"""Which agents can be imported."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tallystick.agents import adapters as own_adapters
from tallystick.errors import SourceError, UsageError
from tallystick.ingest.adapters import adapters, only


def offering(*points: EntryPoint) -> object:
    return lambda group: points if group == "tallystick.agents" else ()


def test_without_other_packages_there_are_ours() -> None:
    assert adapters() == own_adapters()


def test_another_package_can_offer_an_agent_but_not_replace_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my_agent.py").write_text("from tallystick.agents.gptme.transcript import *\nNAME = 'mine'\n")
    (tmp_path / "my_gptme.py").write_text("from tallystick.agents.gptme.transcript import *\nNAME = 'gptme'\n")
    monkeypatch.syspath_prepend(tmp_path)
    mine = EntryPoint("mine", "my_agent", "tallystick.agents")
    same = EntryPoint("same", "my_gptme", "tallystick.agents")
    monkeypatch.setattr("tallystick.ingest.adapters.entry_points", offering(mine, same))
    found = adapters()
    assert found.keys() - own_adapters().keys() == {"mine"}
    assert found["gptme"] is own_adapters()["gptme"]


def test_an_agent_that_fails_to_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("mine", "no_such_package.agent", "tallystick.agents")
    monkeypatch.setattr("tallystick.ingest.adapters.entry_points", offering(broken))
    with pytest.raises(SourceError, match=r"'mine' \(no_such_package\.agent\) fails to load"):
        adapters()


def test_only_the_agents_that_were_named() -> None:
    known = own_adapters()
    assert list(only(known, ("gptme",))) == ["gptme"]
    assert only(known, ()) == known


def test_a_name_that_is_no_agents_brings_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'codex'"):
        only(own_adapters(), ("codx",))
