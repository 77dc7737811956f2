"""Listings that show little."""

from tallystick.model.intent import Operation
from tallystick.policy.listing_only import is_shallow
from tests.policy.risks.readings import reading
from tests.support.cases import each_case


@each_case("command, wanted")
def test_a_sum_or_one_level_is_shallow(command: str, wanted: bool) -> None:
    read = reading(command)
    lists = [intent for intent in read.effects.intents if intent.operation is Operation.LIST]
    assert lists
    assert all(is_shallow(intent, read) for intent in lists) is wanted
