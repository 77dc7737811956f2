"""What the recorder has counted of decisions that were made again, as doctor reports it."""

import pytest

from tallystick.model.step import Json
from tallystick.setup.agreement_check import agreement_checks
from tallystick.setup.check import State


@pytest.mark.parametrize(
    ("told", "state", "words"),
    [
        ({"same": 7, "changed": 2}, State.OK, "7 recent decisions were made again from the record, 0 differ"),
        ({"same": 7, "different": 1}, State.WARN, "8 recent decisions were made again from the record, 1 differ"),
        ({"same": 1, "unknown": 9}, State.WARN, "9 recent decisions could not be made again"),
    ],
)
def test_a_difference_and_what_could_not_be_compared_are_warnings(
    told: dict[str, Json], state: State, words: str
) -> None:
    (check,) = agreement_checks(told)
    assert check.state is state
    assert check.found.startswith(words)
    assert (check.mend is None) is (state is State.OK)


@pytest.mark.parametrize("told", [None, {}, {"same": 0}, {"same": "many"}, []])
def test_nothing_is_said_where_nothing_was_compared(told: Json) -> None:
    assert list(agreement_checks(told)) == []
