"""The values of a decision."""

from __future__ import annotations

import msgspec
import pytest

from tallystick.model.decision import NO_OPINION, Call, Decision, Effect


def test_no_opinion_allows_and_names_no_rule() -> None:
    assert Decision(effect=Effect.ALLOW, rules=(), reason="", policy=None) == NO_OPINION


def test_effects_are_the_words_of_the_format() -> None:
    assert [effect.value for effect in Effect] == ["allow", "warn", "ask", "deny"]


def test_a_call_cannot_be_changed() -> None:
    call = Call(agent="a", session="s", tool="Bash")
    with pytest.raises(AttributeError):
        call.tool = "Write"  # type: ignore[misc]


def test_a_decision_comes_back_from_json() -> None:
    decision = Decision(effect=Effect.DENY, rules=("r",), reason="no", policy="ab" * 32)
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision
