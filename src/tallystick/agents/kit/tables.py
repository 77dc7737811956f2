"""Which tables of an agent's database its reader wants, and in which order.

Owns the words that an adapter of shape SQLITE and `capture.sqlite_rows` have in common. Must not open anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table. Columns that a database does not have are passed over: schemas differ from version to version."""

    name: str
    """`sqlite_master` gives one row (`type`, `name`) for each thing in the schema: a reader can name what it leaves."""
    order_by: tuple[str, ...] = ()
    """Empty, or none of them there: the order in which the rows were inserted."""
    columns: tuple[str, ...] = ()
    """The only columns to read; empty: all of them. Where secrets lie, they are listed."""
    key: str = "id"
    """The column by which the tables below name a row of this one."""
    link: str = ""
    """In a table below another: the column that holds the key of the row it belongs to. It should have an index."""
    below: tuple[Table, ...] = ()
    """Tables of which each row belongs to a row of this one. They are read right after that row, one after the other;
    rows whose owner is missing come after all that have one."""


Tables: TypeAlias = Sequence[Table]
"""Tables in the order in which they are read."""
