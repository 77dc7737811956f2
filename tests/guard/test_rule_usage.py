"""How often each rule fired on the record, and what was answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.guard.rule_usage import usage
from tallystick.journal.home import Home
from tests.support.recorded_calls import Recording


def test_a_rule_that_asked_and_was_always_accepted_is_told_from_one_that_was_refused_once(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    recording.call("touch ~/a", asked=[])
    recording.call("touch ~/b", asked=[])
    found = usage(recording.home, None)
    one = next(rule for rule in found.rules if rule.id == "outside.write")
    assert (one.fired, one.asked, one.accepted) == (2, 2, 2)
    assert found.always_accepted == ("outside.write",)
    recording.call("touch ~/c", asked=[], success=None)
    assert usage(recording.home, None).always_accepted == ()


def test_rules_that_nothing_met_are_listed(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    recording.call("ls")
    before = usage(recording.home, None)
    assert before.decisions == 0
    assert "outside.write" in before.never_fired
    recording.call("touch ~/a", asked=[])
    after = usage(recording.home, None)
    assert set(before.never_fired) - set(after.never_fired) == {"outside.write"}


def test_without_a_store_there_is_nothing_to_tell(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        usage(Home(tmp_path / "none"), None)
