from __future__ import annotations

import pytest

from tallystick.guard.leaving import NoComparison
from tallystick.guard.unread_history import WorstHistory, cautious
from tallystick.model.decision import NO_OPINION, Decision, Effect
from tallystick.policy.world import Maker, Marker, Past, Provenance

EFFECTS = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)


class Part:
    """What is known of a history."""

    def __init__(self, maker: Maker = Maker.UNKNOWN) -> None:
        self.maker = maker

    def past(self) -> Past:
        return Past(calls=3, hosts=frozenset(("example.org",)), workspace="/p")

    def provenance(self, path: str) -> Provenance:
        return Provenance(maker=self.maker, author=self.maker)

    def is_approved(self, digest: str) -> bool:
        return digest == "yes"


def test_what_was_not_read_is_the_worst() -> None:
    worst = WorstHistory(Part())
    assert worst.past() == Past(
        calls=3, workspace="/p", markers=frozenset(Marker), leaving=NoComparison(is_known=False)
    )
    assert worst.provenance("/p/a").author is Maker.OTHER_SESSION
    assert worst.is_approved("yes")
    assert not worst.is_approved("no")


@pytest.mark.parametrize("maker", sorted(set(Maker) - {Maker.UNKNOWN}))
def test_who_wrote_a_file_is_believed_where_it_is_known(maker: Maker) -> None:
    assert WorstHistory(Part(maker)).provenance("/p/a").author is maker


@pytest.mark.parametrize("worst", EFFECTS)
@pytest.mark.parametrize("known", EFFECTS)
def test_what_the_unread_part_may_speak_against_is_asked_about_and_never_refused(known: Effect, worst: Effect) -> None:
    found = cautious(Decision(effect=known, rules=("known",)), Decision(effect=worst, rules=("worst",)))
    if EFFECTS.index(worst) > EFFECTS.index(known) and worst in (Effect.ASK, Effect.DENY):
        assert (found.effect, found.rules) == (Effect.ASK, ("worst",))
        assert "still being read" in found.reason
    else:
        assert (found.effect, found.rules) == (known, ("known",))


def test_where_no_one_can_be_asked_it_is_refused() -> None:
    assert cautious(NO_OPINION, Decision(effect=Effect.DENY), is_interactive=False).effect is Effect.DENY


def test_what_nothing_speaks_against_is_not_asked_about() -> None:
    assert cautious(NO_OPINION, NO_OPINION) is NO_OPINION
