"""A check is shown by what it found; the doctor's are in test_doctor.py."""

from __future__ import annotations

from tallystick.setup.check import Check, State


def test_a_check_without_a_fix_is_one_that_needs_none() -> None:
    assert Check(name="disk", state=State.OK, found="41 GB free").mend is None
