from __future__ import annotations

import msgspec

from tallystick.graph.projection.statements import columns, insertion


class Row(msgspec.Struct, array_like=True):
    one: int
    two: str


def test_columns_are_those_of_the_row_in_order() -> None:
    assert columns(Row) == "one, two"


def test_an_insertion_has_a_place_for_each_column() -> None:
    assert insertion("t", Row) == "INSERT INTO t (one, two) VALUES (?, ?)"
