"""What came of making a decision again goes from one process to another as it is."""

import msgspec
import pytest

from tallystick.guard.differing import Compared, Difference, Outcome, answer_of, compare
from tallystick.model.decision import Call, Decision, Effect


def test_it_is_the_same_after_it_was_sent() -> None:
    now = Decision(effect=Effect.ASK, rules=("provenance.other-session",), reason="Another session wrote it.")
    call = Call(agent="claude-code", session="s", tool="Bash")
    found = Difference(call=call, sid="a" * 32, n=3, then=Decision(), now=now)
    compared = Compared(outcome=Outcome.DIFFERENT, difference=found)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(compared), type=Compared) == compared


ASKED = Decision(effect=Effect.ASK, rules=("a.rule", "b.rule"), policy="ab")


@pytest.mark.parametrize(
    ("now", "shows"),
    [
        (msgspec.structs.replace(ASKED, reason="In other words.", rules=("b.rule", "a.rule")), Outcome.SAME),
        (msgspec.structs.replace(ASKED, effect=Effect.DENY), Outcome.DIFFERENT),
        (msgspec.structs.replace(ASKED, rules=("a.rule",)), Outcome.DIFFERENT),
        (msgspec.structs.replace(ASKED, would=Effect.DENY), Outcome.DIFFERENT),
        (msgspec.structs.replace(ASKED, policy="cd"), Outcome.OTHER_RULES),
    ],
)
def test_effect_and_rules_are_compared_and_not_words(now: Decision, shows: Outcome) -> None:
    assert compare(answer_of(ASKED), answer_of(now)) is shows
