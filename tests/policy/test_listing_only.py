"""Listings that show little."""

import pytest

from tallystick.model.intent import Operation
from tallystick.policy.listing_only import is_shallow
from tests.policy.risks.readings import reading


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("du -sh ~", True),
        ("du --summarize ~", True),
        ("du -hd1 ~", True),
        ("tree -L 1 ~", True),
        ("du ~", False),
        ("du -a ~", False),
        ("du -sa ~", False),
        ("tree ~", False),
        ("tree -L 9 ~", False),
        ("ls -R ~", False),
        ("du -sh ~; ls -R ~", False),
        ("find ~ -name x", False),
        ("find ~/.ssh -name '*.pub'", True),
        ("find ~/.ssh -name '*.pub' -o -name 'id_*'", False),
        ("find ~/.ssh ! -name '*.pub'", False),
    ],
)
def test_a_sum_or_one_level_is_shallow(command: str, wanted: bool) -> None:
    read = reading(command)
    lists = [intent for intent in read.effects.intents if intent.operation is Operation.LIST]
    assert lists
    assert all(is_shallow(intent, read) for intent in lists) is wanted
