"""Calls of tools as real agents made them, wherever they stand in a recording."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parents[1] / "recordings"
SHARED = Path(__file__).parents[3] / "shared" / "data"
_NAMES = ("tool_name", "toolName", "tool", "name", "functionName")
_ARGUMENTS = ("tool_input", "toolArgs", "kwargs", "arguments", "args", "input", "tool_args", "parameters")


def calls_in(value: Any) -> Iterator[tuple[str, Any]]:
    """Name and arguments of everything that looks like a call in a JSON value."""
    if isinstance(value, list):
        for item in value:
            yield from calls_in(item)
    elif isinstance(value, dict):
        yield from _call(value)
        for item in value.values():
            yield from calls_in(item)
    elif isinstance(value, str) and value[:2] in ('{"', "[{"):
        try:
            yield from calls_in(json.loads(value))
        except ValueError:
            return


def _call(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    state = value.get("state")
    inner = value | state if isinstance(state, dict) else value
    args = next((inner[key] for key in _ARGUMENTS if key in inner and inner[key] is not None), None)
    is_description = isinstance(args, dict) and ("properties" in args or "hint" in args)
    if name is not None and args is not None and not is_description:
        yield name, args


def recorded_calls(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Agent, tool and arguments of all calls in the files below a folder. The agent is the first part of the path."""
    for path in sorted(folder.rglob("*")):
        agent = path.relative_to(folder).parts[0].split("-")[0].split("_")[0]
        for value in _values(path):
            for tool, args in calls_in(value):
                yield agent, tool, args


def _values(path: Path) -> Iterator[Any]:
    if path.suffix == ".db":
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                yield [list(row) for row in connection.execute(f'SELECT * FROM "{table}"')]
        connection.close()
    elif path.suffix in (".jsonl", ".json"):
        text = path.read_text("utf-8", errors="replace")
        for line in text.splitlines() if path.suffix == ".jsonl" else [text]:
            try:
                yield json.loads(line)
            except ValueError:
                continue
