from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.table import Table

KEYS = st.integers(0, 300).map(str)
CHANGES = st.lists(st.dictionaries(KEYS, st.integers(0, 9) | st.none(), max_size=40), max_size=30)


def put(changes: list[dict[str, int | None]], most: int = 1_000) -> Table[int]:
    table: Table[int] = Table()
    for change in changes:
        table = table.put(change, most)
    return table


@given(CHANGES)
def test_it_holds_what_a_dict_would(changes: list[dict[str, int | None]]) -> None:
    plain: dict[str, int | None] = {}
    for change in changes:
        plain |= change
    table = put(changes)
    assert table.all() == {key: value for key, value in plain.items() if value is not None}
    assert {key: table.get(key) for key in plain} == plain
    assert all((key in table) == (value is not None) for key, value in plain.items())


@given(CHANGES, st.dictionaries(KEYS, st.integers() | st.none(), max_size=100))
def test_what_is_put_into_it_leaves_the_one_before_as_it_was(
    changes: list[dict[str, int | None]], more: dict[str, int | None]
) -> None:
    table, same = put(changes), put(changes)
    assert table.put(more, 1_000) == same.put(more, 1_000)
    assert table == same


@given(CHANGES)
def test_it_reads_back_and_goes_on_as_it_was(changes: list[dict[str, int | None]]) -> None:
    table = put(changes, 70)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(table), type=Table[int])
    assert again == table
    assert put(changes, 70).put({"x": 1}, 70) == again.put({"x": 1}, 70)


def test_the_newest_are_kept_and_not_many_more() -> None:
    table = put([{str(number): number} for number in range(1_000)], 100)
    assert all(table.get(str(number)) == number for number in range(900, 1_000))
    assert len(table.all()) <= 100 + 100 + 64
    assert "0" not in table


def test_a_small_change_shares_the_large_part() -> None:
    table = put([{str(number): number} for number in range(500)])
    assert table.put({"x": 1}, 1_000).kept is table.kept
    assert table.put({}, 1_000) is table


@given(CHANGES)
def test_what_was_put_in_last_comes_last(changes: list[dict[str, int | None]]) -> None:
    plain: dict[str, int | None] = {}
    for change in changes:
        for key in change:
            plain.pop(key, None)
        plain |= change
    assert list(put(changes).all()) == [key for key, value in plain.items() if value is not None]


def test_an_empty_one_is_false() -> None:
    assert not Table()
    assert put([{"x": 1}])
