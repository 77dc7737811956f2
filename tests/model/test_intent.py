from __future__ import annotations

import pytest

from tallystick.model.intent import Chance, Domain, Effects, Flow, Intent, Operation
from tests.support.cases import each


def test_an_intent_says_what_and_where_and_is_sure_unless_told_otherwise() -> None:
    intent = Intent(domain=Domain.FILE, operation=Operation.READ, target="/w/a")
    assert (intent.is_known, intent.is_pattern, intent.chance, intent.is_last) == (True, False, Chance.ALWAYS, True)


def test_effects_are_values() -> None:
    intent = Intent(domain=Domain.FILE, operation=Operation.WRITE, target="/w/a", words=("a",))
    assert {Effects(intents=(intent,), flows=(Flow(0, 0),)), Effects(intents=(intent,), flows=(Flow(0, 0),))} == {
        Effects(intents=(intent,), flows=(Flow(0, 0),))
    }
    with pytest.raises(AttributeError):
        intent.target = "/w/b"  # type: ignore[misc]


@each("name", ["read", "copy_source", "copy_dest", "rename", "create", "write", "delete", "metadata", "edit"])
def test_the_reference_s_names_of_operations_are_among_ours(name: str) -> None:
    assert Operation(name) == name
