"""The answer to a call that no policy decided on, and how it is told from those that one did."""

from __future__ import annotations

from tallystick.errors import PolicyError
from tallystick.guard.fallback_decision import ON_ERROR, UNDECIDED, is_undecided, undecided, undecided_in
from tallystick.journal.home import Home
from tallystick.model.decision import NO_OPINION, Effect


def test_what_no_one_could_decide_is_answered_with_the_reason() -> None:
    answer = undecided(Effect.ASK, PolicyError("the policies cannot judge a call: overflow"))
    assert (answer.effect, answer.rules, answer.policy) == (Effect.ASK, (UNDECIDED,), None)
    assert "overflow" in answer.reason


def test_the_setting_answers_and_where_it_cannot_be_read_the_user_is_asked(home: Home) -> None:
    error = PolicyError("overflow")
    home.config.write_text('[hooks]\non_error = "deny"\n')
    assert undecided_in(home, error).effect is Effect.DENY
    home.config.write_text("[hooks\n")
    assert undecided_in(home, error).effect is Effect.ASK


def test_it_is_told_from_an_answer_that_a_policy_gave() -> None:
    assert is_undecided(undecided(Effect.ASK, PolicyError("overflow")).rules)
    assert is_undecided((ON_ERROR,))
    assert not is_undecided(("a.rule",))
    assert not is_undecided(NO_OPINION.rules)
