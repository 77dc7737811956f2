from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from itertools import pairwise
from types import FrameType
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.step import Json
from tallystick.sessions.differing import (
    Aligned,
    Kind,
    Move,
    align,
    aligned,
    difference,
    divergence,
    file_differences,
    local_path,
    parts_of,
    text_parts,
    unseen,
)
from tests.support.cases import each, each_case


def call(n: int, tool: str, args: Json, *, folder: str | None = None, **more: object) -> Move:
    return Move(n=n, kind=Kind.CALL, name=tool, shown=str(args), parts=parts_of(args, folder), **more)  # type: ignore[arg-type]


def prompt(n: int, text: str) -> Move:
    return Move(n=n, kind=Kind.PROMPT, name="", shown=text, parts=text_parts(text))


@each(
    "one, other, same",
    [
        ({"command": "ls"}, {"command": "ls"}, True),
        ({"command": "ls"}, {"command": " ls\n"}, True),
        ({"command": "ls", "description": "List"}, {"command": "ls", "timeout": 5}, True),
        ({"command": "ls"}, {"command": "pwd"}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.5}, False),
        ({"file_path": "/w/one/src/a.py"}, {"file_path": "/w/two/src/a.py"}, True),
        ({"command": "cd /w/one && ls"}, {"command": "cd /w/two && ls"}, True),
        ({"file_path": "/w/one/src/a.py"}, {"file_path": "/w/two/src/b.py"}, False),
        ("plain text", "plain text", True),
        (None, None, True),
        (["x"], None, False),
    ],
)
def test_arguments_are_compared_as_they_are_told_in_the_sessions_own_folder(one: Json, other: Json, same: bool) -> None:
    assert (parts_of(one, "/w/one") == parts_of(other, "/w/two/")) is same


@each(
    "args",
    [
        {"a": "x" * 1_000_000},
        {str(number): number for number in range(10_000)},
        {"a": 2**80},
        {"\ud800": "\udfff"},
        eval("[" * 90 + "]" * 90),
        {"a": float("nan")},
    ],
)
def test_whatever_an_agent_gave_as_arguments_is_compared(args: Json) -> None:
    parts = parts_of(args, "/w")
    assert parts == parts_of(args, "/w")
    assert len(parts) <= 65


def test_of_very_many_arguments_none_is_passed_over() -> None:
    many = {f"{number:05}": number for number in range(1_000)}
    assert parts_of(many, None) != parts_of({**many, "00999": "other"}, None)


@each(
    "left, right, words",
    [
        (prompt(1, "go"), prompt(9, "go"), ()),
        (prompt(1, "go"), prompt(9, "stop"), ("prompt",)),
        (prompt(1, "go"), call(2, "Bash", {}), ("a prompt and a call",)),
        (call(1, "Bash", {}), call(1, "Read", {}), ("tool",)),
        (
            call(1, "Edit", {"a": 1, "b": 1}),
            call(1, "Edit", {"a": 2, "c": 1}),
            ("argument a", "argument b", "argument c"),
        ),
        (call(1, "Bash", "x", success=True), call(1, "Bash", "x", success=False), ("outcome",)),
        (call(1, "Bash", "x", left={"f": "1"}), call(1, "Bash", "x", left={"f": "2"}), ("content of f",)),
    ],
)
def test_a_difference_is_told_in_words(left: Move, right: Move, words: tuple[str, ...]) -> None:
    assert difference(left, right) == difference(right, left) == words


def test_sessions_part_at_the_first_move_that_is_not_the_same() -> None:
    left = [prompt(1, "go"), call(2, "Read", "a"), call(5, "Bash", "x")]
    right = [prompt(1, "go"), call(3, "Read", "a"), call(4, "Bash", "y"), call(6, "Read", "b")]
    found = divergence(left, right)
    assert found is not None
    assert (found.after, found.left, found.right, found.differs) == (2, left[2], right[2], ("arguments",))
    assert divergence(left, left) is None
    ended = divergence(left[:2], left)
    assert ended is not None
    assert (ended.after, ended.left, ended.right, ended.differs) == (2, None, left[2], ("one has ended",))


def test_what_is_the_same_goes_together_then_calls_of_one_tool_and_the_rest_stands_alone() -> None:
    left = [prompt(1, "go"), call(2, "Bash", "x"), call(3, "Read", "a"), call(4, "Bash", "last")]
    right = [prompt(1, "go"), call(2, "Grep", "z"), call(3, "Bash", "y"), call(4, "Bash", "last")]
    told = [(pair.left and pair.left.n, pair.right and pair.right.n, pair.differs) for pair in aligned(left, right)]
    assert told == [
        (1, 1, ()),
        (None, 2, ("only there",)),
        (2, 3, ("arguments",)),
        (3, None, ("only there",)),
        (4, 4, ()),
    ]


def test_files_that_were_not_left_alike_are_told_by_path() -> None:
    found = file_differences({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "x", "d": "4"})
    assert [(file.path, file.left, file.right) for file in found] == [
        ("b", "2", "x"),
        ("c", "3", None),
        ("d", None, "4"),
    ]


def test_a_content_that_nobody_saw_is_the_same_where_the_same_was_done_to_the_same() -> None:
    assert unseen("", "edit one") == unseen("", "edit one")
    assert len({unseen("", "edit one"), unseen("", "edit two"), unseen("sha256:00", "edit one")}) == 3


@each(
    "uri, folder, path",
    [
        ("file:///w/src/a.py", "/w", "src/a.py"),
        ("file:///w/src/a.py", "/w/", "src/a.py"),
        ("file:///was/a.py", "/w", "/was/a.py"),
        ("file:src/a.py", "/w", "src/a.py"),
        ("file:///w/a.py", None, "/w/a.py"),
        ("file:///w/a.py", "/", "/w/a.py"),
    ],
)
def test_a_path_is_told_in_the_sessions_own_folder(uri: str, folder: str | None, path: str) -> None:
    assert local_path(uri, folder) == path


MOVES = st.lists(
    st.builds(
        call,
        n=st.integers(0, 99),
        tool=st.sampled_from(["Bash", "Read"]),
        args=st.sampled_from(["x", "y", "z"]),
        success=st.none() | st.booleans(),
        left=st.dictionaries(st.sampled_from("fg"), st.sampled_from("12"), max_size=1),
    )
    | st.builds(prompt, n=st.integers(0, 99), text=st.sampled_from(["go", "stop"])),
    max_size=12,
)


@given(MOVES)
def test_nothing_differs_from_itself(moves: list[Move]) -> None:
    assert divergence(moves, moves) is None
    assert [(pair.left, pair.right, pair.differs) for pair in aligned(moves, moves)] == [(m, m, ()) for m in moves]


@given(MOVES, MOVES)
def test_the_difference_is_the_same_from_either_side(left: list[Move], right: list[Move]) -> None:
    there, back = divergence(left, right), divergence(right, left)
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert msgspec.structs.replace(back, left=back.right, right=back.left) == there
    assert sorted(map(repr, aligned(left, right))) == sorted(repr(_swapped(pair)) for pair in aligned(right, left))


def _swapped(pair: Aligned) -> Aligned:
    return Aligned(pair.right, pair.left, pair.differs)


@given(MOVES, MOVES)
def test_every_move_is_there_once_and_in_order(left: list[Move], right: list[Move]) -> None:
    pairs = aligned(left, right)
    assert [pair.left for pair in pairs if pair.left is not None] == left
    assert [pair.right for pair in pairs if pair.right is not None] == right


@given(MOVES, MOVES)
def test_sessions_without_a_divergence_have_no_pair_that_differs(left: list[Move], right: list[Move]) -> None:
    assert (divergence(left, right) is None) == all(not pair.differs for pair in aligned(left, right))


MAPS = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("12"))


@given(MAPS, MAPS)
def test_files_differ_the_same_from_either_side_and_never_from_themselves(
    left: Mapping[str, str], right: Mapping[str, str]
) -> None:
    there = file_differences(left, right)
    assert [(file.path, file.right, file.left) for file in file_differences(right, left)] == [
        (file.path, file.left, file.right) for file in there
    ]
    assert file_differences(left, left) == ()
    assert (there == ()) == (left == right)


FEW = st.lists(st.sampled_from("abcd"), max_size=30)


@each_case("left, right, together")
def test_what_is_in_both_in_the_same_order_goes_together(left: str, right: str, together: str) -> None:
    pairs = align(list(left), list(right))
    assert len(pairs) == len(together)
    assert sorted(left[i] for i, _ in pairs) == sorted(together)


@given(FEW, FEW)
def test_pairs_are_equal_ascend_on_both_sides_and_are_no_others_when_swapped(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    for side in (0, 1):
        places = [pair[side] for pair in pairs]
        assert places == sorted(set(places))
    assert align(right, left) == [(j, i) for i, j in pairs]


@given(FEW)
def test_a_sequence_goes_with_itself(items: list[str]) -> None:
    assert align(items, list(items)) == [(n, n) for n in range(len(items))]


@given(FEW, FEW)
def test_what_is_left_between_pairs_has_nothing_in_common(left: list[str], right: list[str]) -> None:
    edges = [(-1, -1), *align(left, right), (len(left), len(right))]
    for (i, j), (next_i, next_j) in pairwise(edges):
        assert not set(left[i + 1 : next_i]) & set(right[j + 1 : next_j])


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=60), st.data())
def test_what_was_left_out_of_a_sequence_without_repeats_is_all_that_is_missing(
    items: list[int], data: st.DataObject
) -> None:
    left = [str(item) for item in items]
    kept = [item for item in left if data.draw(st.booleans())]
    assert len(align(left, kept)) == len(kept)


def _steps_of(left: list[str], right: list[str]) -> int:
    """How many lines of the module run while two sequences are lined up."""
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        align(left, right)
    finally:
        sys.settrace(None)
    return lines


@each(
    "make",
    [
        lambda chance, n: [chance.choice("ab") for _ in range(n)],
        lambda chance, n: [str(chance.randrange(50)) for _ in range(n)],
        lambda chance, n: [str(chance.randrange(n * 10)) for _ in range(n)],
        lambda chance, n: chance.sample([str(number) for number in range(n)], n),
    ],
    ids=["two words", "fifty words", "hardly any repeats", "shuffled"],
)
def test_ten_times_as_much_takes_no_more_than_some_twenty_times_as_long(make: object) -> None:
    chance = random.Random(5)
    small = _steps_of(make(chance, 200), make(chance, 200))  # type: ignore[operator]
    large = _steps_of(make(chance, 2_000), make(chance, 2_000))  # type: ignore[operator]
    assert large < 25 * small
