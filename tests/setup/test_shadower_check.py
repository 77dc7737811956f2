"""The process that compares ended sessions with their transcripts, as doctor reports it."""

import pytest

from tallystick.model.step import Json
from tallystick.setup.check import State
from tallystick.setup.shadower_check import shadower_checks


def test_it_is_named_while_it_is_at_work() -> None:
    (check,) = shadower_checks({"pid": 4712, "waiting": 0, "problem": None})
    assert (check.state, check.mend) == (State.OK, None)
    assert check.found.startswith("process 4712 compares")


def test_one_that_failed_is_a_warning_with_its_log() -> None:
    (check,) = shadower_checks({"pid": None, "waiting": 2, "problem": "the shadower ended with 1"})
    assert (check.state, check.found) == (State.WARN, "the shadower ended with 1")
    assert "run/shadower.log" in str(check.mend)


@pytest.mark.parametrize("told", [None, {}, {"pid": None, "waiting": 1, "problem": None}, []])
def test_nothing_is_said_where_none_is_needed(told: Json) -> None:
    assert list(shadower_checks(told)) == []
