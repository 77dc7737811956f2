from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.identity import (
    digest_id,
    found_again_id,
    found_id,
    intent_event_id,
    relation_id,
    thing_id,
    version_id,
)


def test_ids_are_what_they_were_when_this_was_written() -> None:
    # They stand in the index, and what others wrote down of it: changing them is a new version of the schema.
    assert thing_id("file", "file:///w/a") == 7920259040036549705
    assert relation_id("request", 1, "artifact", 2, "produced") == 5613976056522593555


def test_kinds_of_ids_do_not_meet() -> None:
    assert (
        len(
            {
                thing_id("a", "b"),
                found_id(1),
                version_id(1, 2, 3),
                found_again_id(1, 2, 3),
                digest_id("a", "b"),
                digest_id("ab"),
            }
        )
        == 6
    )


@given(st.integers(0, 2**62), st.integers(0, 500))
def test_the_event_of_an_intent_is_below_zero_where_no_step_is(step: int, k: int) -> None:
    assert -(2**63) <= intent_event_id(step, k) < 0


@given(st.lists(st.text() | st.integers(), min_size=1))
def test_an_id_fits_a_column_of_sqlite(parts: list[str | int]) -> None:
    assert 0 <= digest_id(*parts) < 2**63
