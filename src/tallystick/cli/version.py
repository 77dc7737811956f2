"""What this program is. A constant, because asking the installed package costs a third of what `tally version` may take."""

from __future__ import annotations

VERSION = "0.1.0"
FORMAT = 1
"""The version of the record format that is written (docs/format.md 16)."""
