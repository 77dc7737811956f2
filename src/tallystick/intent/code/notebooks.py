"""Notebooks: the cells that are run, and in which language.

Owns Jupyter's format and the magics that run a shell. Must not know what code does. Sources: the format of nbformat 4;
IPython's list of magics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tallystick.model.pattern import pattern_of

_MOST_CELLS = 500
_CELL = pattern_of(r"%%(bash|sh|script|python3?|perl|ruby|javascript|writefile)\b[^\n]*\n?")
_SHELL_LINE = pattern_of(r"^[ \t]*(?:\w+[ \t]*=[ \t]*)?(?:!|%(?:sx|system|sc)[ \t]+)([^\n]{1,4000})$", re.MULTILINE)
_MAGIC_LINE = pattern_of(r"^([ \t]*)(?:\w+[ \t]*=[ \t]*)?[%!][^\n]*$", re.MULTILINE)
_LANGUAGES = {"bash": "sh", "sh": "sh", "script": "sh", "python": "python", "python3": "python"}


def cells(text: str) -> Iterator[tuple[str, str]]:
    """The language and text of each cell that is code."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return
    found = None
    if isinstance(notebook, dict):
        found = notebook.get("cells")
    if isinstance(found, list):
        for cell in found[:_MOST_CELLS]:
            source = None
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                source = cell.get("source")
            if isinstance(source, list):
                source = "".join(part for part in source if isinstance(part, str))
            if isinstance(source, str):
                yield from in_cell(source)


def in_cell(source: str) -> Iterator[tuple[str, str]]:
    """The same of one cell."""
    magic = _CELL.match(source)
    if magic is not None:
        if magic[1] != "writefile":
            yield _LANGUAGES.get(magic[1], magic[1]), source[magic.end() :]
        return
    for line in _SHELL_LINE.finditer(source):
        yield "sh", line[1]
    plain = _MAGIC_LINE.sub(r"\1pass", source)
    if plain.strip():
        yield "python", plain
