"""SQL that follows from the shape of a row.

Owns the names of a row's columns and the statement that writes it. Must not know any table.
"""

from __future__ import annotations

import msgspec


def columns(row: type[msgspec.Struct]) -> str:
    """The columns of a row, as a query lists them."""
    return ", ".join(row.__struct_fields__)


def replacement(table: str, row: type[msgspec.Struct]) -> str:
    """The statement that writes a row of a table, in place of the one with its key."""
    return insertion(table, row).replace("INSERT", "INSERT OR REPLACE", 1)


def insertion(table: str, row: type[msgspec.Struct]) -> str:
    """The statement that writes a row of a table."""
    places = ", ".join("?" * len(row.__struct_fields__))
    return f"INSERT INTO {table} ({columns(row)}) VALUES ({places})"
