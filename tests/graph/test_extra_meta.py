"""The members of a step that no column holds."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.graph.extra_meta import LEFT_OUT, LONGEST, other_members
from tallystick.graph.rows import step_row
from tallystick.graph.tables import SessionState
from tests.graph.making import Session

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_what_has_a_column_is_not_kept_twice() -> None:
    assert other_members({"type": "user", "ts": "t", "tokens": {"input": 1}, "tool": "Bash", "parent": 3}) is None
    assert json.loads(other_members({"type": "user", "check": "triage", "flags": ["a"]}) or "") == {
        "check": "triage",
        "flags": ["a"],
    }


@given(st.dictionaries(st.text(), VALUES))
def test_whatever_the_members_are_the_text_is_short_and_tells_how_many_are_not_in_it(names: dict[str, object]) -> None:
    text = other_members(names)
    if text is None:
        return
    assert len(text.encode()) <= LONGEST
    found = json.loads(text)
    others = {key for key in names if other_members({key: names[key]}) is not None}
    if LEFT_OUT not in others:
        assert len(found.keys() - {LEFT_OUT}) + found.get(LEFT_OUT, 0) == len(others)
    assert found.keys() <= {*others, LEFT_OUT}


def test_of_members_that_do_not_fit_the_short_ones_stay() -> None:
    found = json.loads(other_members({"note": "x" * 5000, "check": "static", "number": 1 << 70}) or "")
    assert found == {"check": "static", LEFT_OUT: 2}


def test_a_row_has_them_with_those_that_do_not_fit_the_format() -> None:
    bare = Session().add("security_block", {"trust": "untrusted"})
    step = replace(bare, values={"content.meta": {"entropy": 4.5, "trust": "from content"}})
    row = step_row(step, SessionState("s", first_id=1, agent_id="demo"), at_us=0, request=None, offset=0)
    assert json.loads(row.meta or "") == {"entropy": 4.5, "trust": "untrusted"}
