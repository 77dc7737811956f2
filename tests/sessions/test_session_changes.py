from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.session_changes import changes
from tallystick.sessions.session_log import Log

MAPS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3)
LOGS = st.builds(
    Log, status=st.sampled_from(("running", "complete")), result=st.sampled_from(("", "x")), state=MAPS, outputs=MAPS
)


@given(LOGS, LOGS)
def test_changes_make_one_state_of_the_other(before: Log, now: Log) -> None:
    made = changes(before, now)
    assert made.apply(before) == now
    assert made.apply(now) == now
    assert bool(made) is (before != now)


@given(LOGS, LOGS)
def test_what_was_not_changed_is_left_as_it_is(before: Log, there: Log) -> None:
    assert changes(before, before).apply(there) == there


def test_two_that_set_different_keys_of_a_map_both_have_theirs() -> None:
    before = Log(state={"a": 1, "b": 1, "c": 1})
    mine = msgspec.structs.replace(before, state={"a": 2, "b": 1})
    theirs = msgspec.structs.replace(before, state={"a": 1, "b": 2, "c": 1})
    assert changes(before, mine).apply(theirs).state == {"a": 2, "b": 2}
