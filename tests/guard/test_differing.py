"""What came of making a decision again goes from one process to another as it is."""

import msgspec

from tallystick.guard.differing import Compared, Difference, Outcome
from tallystick.model.decision import Decision, Effect


def test_it_is_the_same_after_it_was_sent() -> None:
    now = Decision(effect=Effect.ASK, rules=("provenance.other-session",), reason="Another session wrote it.")
    found = Difference(
        agent="claude-code", session="s", tool="Bash", call_id=None, sid="a" * 32, n=3, then=Decision(), now=now
    )
    compared = Compared(outcome=Outcome.DIFFERENT, difference=found)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(compared), type=Compared) == compared
