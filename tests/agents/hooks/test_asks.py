from __future__ import annotations

import pytest

from tallystick.agents.hooks.asks import ASKS, told
from tallystick.catalog.agents import Asking
from tallystick.model.decision import Decision, Effect


@pytest.mark.parametrize("agent", ASKS)
def test_a_refusal_is_told_to_every_agent_and_silence_stays(agent: str) -> None:
    deny = Decision(effect=Effect.DENY, reason="no")
    assert told(agent, deny) == deny
    assert told(agent, Decision(effect=Effect.WARN)) is None
    assert told(agent, Decision()) is None


@pytest.mark.parametrize("agent", ASKS)
def test_who_can_ask_does_and_who_cannot_refuses(agent: str) -> None:
    ask = Decision(effect=Effect.ASK, reason="Is that so?", rules=("r",))
    answer = told(agent, ask)
    assert answer is not None
    if ASKS[agent] is Asking.PROMPT:
        assert answer == ask
        answer = told(agent, ask, never_asks=True)
        assert answer is not None
    assert (answer.effect, answer.rules) == (Effect.DENY, ("r",))
    assert answer.reason == "Is that so? Nobody can be asked here, so it is refused."


@pytest.mark.parametrize("agent", ASKS)
def test_what_to_do_instead_is_told_after_the_reason(agent: str) -> None:
    answer = told(agent, Decision(effect=Effect.DENY, reason="This is a secret.", remedy="Ask for the one value."))
    assert answer is not None
    assert answer.reason == "This is a secret. Ask for the one value."


def test_an_unknown_agent_is_not_trusted_to_ask() -> None:
    answer = told("nobody", Decision(effect=Effect.ASK))
    assert answer is not None
    assert answer.effect is Effect.DENY
