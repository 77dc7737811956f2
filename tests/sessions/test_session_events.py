from __future__ import annotations

from collections.abc import Iterator

import pytest

from tallystick.sessions.session_events import Events, Listed
from tallystick.sessions.session_log import Event

ALL = tuple(Event(type="user", seq=number, content=str(number)) for number in range(1, 6))


class Counting:
    """Events in memory, and which of them were read."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def read(self, places: range) -> Iterator[Event]:
        self.asked += places
        return (ALL[place] for place in places)


def test_a_sequence_is_as_a_list_of_its_events() -> None:
    events, listed = Events(Listed(ALL), range(5)), list(ALL)
    assert events == listed
    assert events != listed[:4]
    assert events != listed[::-1]
    assert events != "12345"
    assert list(reversed(events)) == listed[::-1]
    assert (events[0], events[-1], events.index(listed[2])) == (listed[0], listed[-1], 2)
    assert listed[3] in events
    assert events.count(listed[3]) == 1
    for part in (slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, None)):
        assert events[part] == listed[part]
    with pytest.raises(IndexError):
        events[5]


def test_only_the_events_that_are_asked_for_are_read() -> None:
    kept = Counting()
    events = Events(kept, range(5))
    assert (len(events), bool(events), repr(events), kept.asked) == (5, True, "<5 events>", [])
    assert events[-1] == ALL[4]
    assert list(events[1:3]) == [ALL[1], ALL[2]]
    assert kept.asked == [4, 1, 2]


def test_a_sequence_does_not_grow() -> None:
    listed = list(ALL[:2])
    events = Events(Listed(listed), range(len(listed)))
    listed.append(ALL[2])
    assert list(events) == list(ALL[:2])
