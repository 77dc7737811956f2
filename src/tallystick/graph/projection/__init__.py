"""Rows from steps: how the index is built from the journals. Must not know what is asked of it.

Owns what a session's entries become in each table, and the relations between them. `graph.project` decides what is
read again.
"""

__all__ = [
    "alert_rows",
    "rewritten",
    "row_writer",
]
