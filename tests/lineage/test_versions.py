from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.access import Access, Deed
from tallystick.lineage.identity import found_id
from tallystick.lineage.versions import History, history
from tests.lineage.making import THING, access, effect


def told(*accesses: Access) -> History:
    return history(THING, accesses)


def numbers(one: History) -> list[int]:
    """The version of each access, by number."""
    return [use.version.number for use in one.uses]


def test_what_is_read_first_was_found_there() -> None:
    one = told(access("read", 1), access("read", 2))
    assert numbers(one) == [0, 0]
    assert one.versions[0].id == found_id(THING)
    assert one.versions[0].made_by is None


def test_a_read_is_of_the_version_that_was_written_before_it() -> None:
    one = told(access("read", 1), access("write", 2), access("read", 3), access("write", 4), access("read", 5))
    assert numbers(one) == [0, 1, 1, 2, 2]


def test_an_edit_begins_with_the_version_that_it_read() -> None:
    one = told(access("write", 1), access("edit", 2), access("edit", 3))
    assert [(use.version.number, use.read.number if use.read else None) for use in one.uses] == [
        (1, None),
        (2, 1),
        (3, 2),
    ]
    assert one.versions[2].base is one.versions[1]


def test_an_edit_of_a_file_never_seen_shows_that_it_was_there() -> None:
    one = told(access("edit", 1))
    assert [version.number for version in one.versions] == [0, 1]


def test_an_append_may_have_made_the_file() -> None:
    one = told(access("append", 1))
    assert [(version.number, version.base) for version in one.versions] == [(1, None)]


def test_the_same_bytes_again_are_the_same_version() -> None:
    one = told(access("write", 1, digest="sha256:a"), access("write", 2, digest="sha256:a"))
    assert numbers(one) == [1, 1]


def test_other_bytes_or_unknown_ones_are_another_version() -> None:
    assert numbers(told(access("write", 1, digest="sha256:a"), access("write", 2, digest="sha256:b"))) == [1, 2]
    assert numbers(told(access("write", 1), access("write", 2))) == [1, 2]


def test_a_file_that_is_removed_and_made_again_has_two_versions() -> None:
    one = told(access("write", 1, digest="sha256:a"), access("delete", 2), access("write", 3, digest="sha256:a"))
    assert numbers(one) == [1, 1, 2]
    assert one.versions[0].deleted_us == 2_000_000
    assert one.versions[1].base is None


def test_what_is_read_after_it_was_removed_was_made_by_somebody_unseen() -> None:
    one = told(access("write", 1), access("delete", 2), access("read", 3))
    assert numbers(one) == [1, 1, 2]
    assert one.versions[1].made_by is None


def test_touching_and_changing_the_mode_make_no_version() -> None:
    assert numbers(told(access("write", 1), access("create", 2), access("metadata", 3))) == [1, 1, 1]


def test_a_rename_ends_the_old_name() -> None:
    one = told(access("write", 1), access("rename", 2))
    assert one.versions[0].deleted_us == 2_000_000


def test_an_effect_while_the_only_call_ran_is_of_its_version_and_tells_its_digest() -> None:
    seen = msgspec.structs.replace(effect("modify", 5, digest="sha256:a"), cause=10, cause_confidence=0.7)
    one = told(access("write", 1), seen)
    assert [use.cause is not None for use in one.uses] == [False, True]
    assert one.versions[0].digest == "sha256:a"


def test_an_effect_may_be_seen_before_the_call_has_ended() -> None:
    one = told(effect("create", 1), access("write", 1.5))
    assert [use.cause is not None for use in one.uses] == [True, False]
    assert numbers(one) == [1, 1]


@pytest.mark.parametrize(("at", "written", "seen", "is_shown"), [
    (1.5, "sha256:a", "sha256:a", True),
    (1.5, "sha256:a", "sha256:b", False),
    (1.1, "sha256:a", "sha256:b", False),
    (1.1, None, "sha256:b", True),
    (1.5, None, "sha256:b", False),
    (1.5, None, None, False),
    (9.0, "sha256:a", "sha256:a", False),
])  # fmt: skip
def test_a_change_is_a_calls_if_its_content_is_or_if_the_call_ended_just_then(
    at: float, written: str | None, seen: str | None, is_shown: bool
) -> None:
    one = told(access("write", 1, digest=written), effect("modify", at, digest=seen))
    assert (one.uses[1].cause is not None) is is_shown
    is_same = seen is not None and written == seen
    assert numbers(one) == ([1, 1] if is_shown or is_same else [1, 2])


def test_of_two_calls_that_ended_just_then_neither_is_taken_and_by_content_one_is() -> None:
    two = (access("write", 1), access("edit", 1.1))
    assert told(*two, effect("modify", 1.2)).uses[2].cause is None
    by_content = told(
        access("write", 1, digest="sha256:a"), access("edit", 1.1), effect("modify", 1.2, digest="sha256:a")
    )
    assert by_content.uses[2].cause is by_content.uses[0].access


def test_what_no_call_of_its_session_caused_is_not_put_down_to_one_by_time() -> None:
    judged = msgspec.structs.replace(effect("modify", 1.1), cause_confidence=0.0)
    assert told(access("write", 1), judged).uses[1].cause is None


def test_an_effect_without_a_call_is_a_version_of_its_own() -> None:
    one = told(access("write", 1), effect("modify", 60))
    assert numbers(one) == [1, 2]
    assert one.uses[1].cause is None


def test_a_removal_is_not_shown_by_a_write() -> None:
    one = told(access("write", 1), effect("delete", 1.5))
    assert one.uses[1].cause is None


OPERATIONS = ["read", "write", "edit", "append", "delete", "rename", "create", "metadata", "copy_dest"]
ACCESSES = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.booleans(), st.sampled_from([None, "sha256:a", "sha256:b"])), max_size=25
)


@given(ACCESSES)
def test_no_version_is_made_after_it_is_read_and_none_is_read_after_its_end(
    specs: list[tuple[str, bool, str | None]],
) -> None:
    accesses = [
        effect("modify", n * 5, digest=digest) if seen else access(operation, n * 5, digest=digest)
        for n, (operation, seen, digest) in enumerate(specs, 1)
    ]
    one = told(*accesses)
    assert [use.access for use in one.uses] == accesses
    assert len({version.id for version in one.versions}) == len(one.versions)
    for use in one.uses:
        for version in (use.version, use.read):
            if version is not None:
                assert version.created_us <= use.access.at_us
                assert version.deleted_us is None or use.access.at_us <= version.deleted_us
        if use.access.deed is Deed.READ:
            before = [v for v in one.versions if v.created_us <= use.access.at_us]
            assert use.version is before[-1]
