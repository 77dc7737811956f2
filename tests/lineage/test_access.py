from __future__ import annotations

from tallystick.lineage.access import CHANGING, DEEDS, Access, Deed
from tallystick.model.intent import Operation
from tests.lineage.making import access


def test_every_operation_on_a_thing_has_a_deed_and_the_others_have_none() -> None:
    no_thing = {"list", "folder", "listen", "run", "signal", "schedule", "elevate", "unknown"}
    assert {str(name) for name in DEEDS} - {"modify"} == {str(one) for one in Operation} - no_thing


def test_what_changes_a_thing_is_told_from_what_does_not() -> None:
    assert access("rename", 1).deed in CHANGING
    assert access("metadata", 1).deed not in CHANGING


def test_an_operation_of_a_later_version_counts_as_a_read() -> None:
    assert Access(1, 2, 3, 0, "teleport", "agent_event", 1, 0.5).deed is Deed.READ
