"""Sessions that are about to be closed."""

from __future__ import annotations

from tallystick.live.endings import Endings

ONE, TWO = ("a", "one"), ("a", "two")


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_session_waits_for_what_its_transcript_still_says() -> None:
    clock = Clock()
    endings = Endings(clock)
    endings.expect(ONE)
    assert list(endings.each()) == [(ONE, False)]
    assert (ONE in endings, TWO in endings, len(endings)) == (True, False, 1)
    clock.now = 2.0
    assert list(endings.each()) == [(ONE, True)]
    endings.close(ONE)
    assert (list(endings.each()), endings.closed(), endings.closed()) == ([], ONE, None)


def test_what_ended_is_closed_at_once_where_another_session_of_the_agent_begins() -> None:
    endings = Endings(Clock())
    for key in (ONE, TWO, ("b", "one")):
        endings.expect(key)
    endings.hasten("a", "two")
    assert dict(endings.each()) == {ONE: True, TWO: False, ("b", "one"): False}


def test_an_end_that_no_agent_reported_has_members_of_its_own() -> None:
    endings = Endings(Clock())
    endings.expect(ONE)
    endings.lose(TWO, {"status": "failed"})
    endings.lose(ONE, {"status": "failed"})
    assert (endings.said(TWO), endings.said(("a", "three"))) == ({"status": "failed"}, {})
    assert dict(endings.each()) == {ONE: False, TWO: True}
    endings.close(TWO)
    assert endings.said(TWO) == {}


def test_of_very_many_that_were_closed_the_oldest_are_forgotten() -> None:
    endings = Endings(Clock())
    for number in range(300):
        endings.close(("a", str(number)))
    assert endings.closed() == ("a", "44")
