"""The version of this program.

A constant, because reading it from the installed package costs a third of the time budget of `tally version`.
"""

from __future__ import annotations

VERSION = "0.1.0"
FORMAT = 1
"""The version of the record format that is written (docs/format.md 16)."""
