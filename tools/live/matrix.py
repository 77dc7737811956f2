"""What the runs showed, as a table: agent × version × {shell, edit, mcp, subagent}.

Owns the words of a cell and the file, docs/agents/matrix.json. It holds nothing that differs from run to run, so that a
change in it is a change in what an agent lets us see or do.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

KINDS = ("shell", "edit", "mcp", "subagent")


class Cell(msgspec.Struct, kw_only=True):
    """What was shown for one kind of call of one agent."""

    made: bool = False
    """The agent offers such a call, and made one."""
    seen: str | None = None
    """`live`: by its hook, plugin or extension, before the agent ended; `transcript`: only read afterwards."""
    refusal: str | None = None
    """`blocked`: a forbidden call was not done; `ran`: it was done; None: not tried, or nothing can refuse it."""


class Row(msgspec.Struct, kw_only=True):
    """One agent, or one of the ways to run it."""

    agent: str
    version: str
    cells: dict[str, Cell]
    ask: str | None = None
    """What became of a call that a human would have to allow, with no human there: `not done`, `ran`."""
    interrupted: str | None = None
    """How an interrupted call stands in the record: `without result`, `failed`, `unseen`."""


def empty(agent: str, version: str) -> Row:
    """A row that shows nothing yet."""
    return Row(agent=agent, version=version, cells={kind: Cell() for kind in KINDS})


def write(rows: dict[str, Row], path: Path) -> None:
    """Write the rows that are new; those of agents that did not run stay as they were."""
    known = json.loads(path.read_text("utf-8"))["runs"] if path.exists() else {}
    known |= {name: msgspec.to_builtins(row) for name, row in rows.items()}
    table = {"made_by": "make test-agents", "runs": dict(sorted(known.items()))}
    path.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
