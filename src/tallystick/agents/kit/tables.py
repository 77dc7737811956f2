"""Which tables of an agent's database its reader wants, and in which order.

Owns the words that an adapter of shape SQLITE and `capture.sqlite_rows` have in common. Must not open anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tallystick.catalog.agents import Table

__all__ = ["Table", "Tables"]

Tables: TypeAlias = Sequence[Table]
"""Tables in the order in which they are read."""
