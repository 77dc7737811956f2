"""The objects of a transcript with their line numbers: JSON lines, two objects on one line, or one document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ("Lines", "lines_of", "text_of")

_DECODER = json.JSONDecoder()


class Lines:
    """What a file holds: its objects, each with its line; `bad` counts what is not JSON."""

    def __init__(self, rows: list[tuple[int, dict[str, Any]]], bad: int = 0) -> None:
        self.rows = rows
        self.bad = bad

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return iter(self.rows)

    def first(self) -> dict[str, Any]:
        return self.rows[0][1] if self.rows else {}


def lines_of(path: Path) -> Lines:
    text = path.read_bytes().decode("utf-8", "replace")
    if text.lstrip().startswith("{\n") or path.suffix == ".json":
        try:
            document = json.loads(text)
        except ValueError:
            return Lines([], 1)
        return Lines([(1, document)] if isinstance(document, dict) else [])
    rows: list[tuple[int, dict[str, Any]]] = []
    bad = 0
    for number, line in enumerate(text.split("\n"), 1):
        rest = line.strip()
        while rest:
            try:
                value, end = _DECODER.raw_decode(rest)
            except (ValueError, RecursionError):
                bad += 1
                break
            rest = rest[end:].lstrip()
            if isinstance(value, dict):
                rows.append((number, value))
    return Lines(rows, bad)


def text_of(content: object) -> str:
    """The words of a message: a string, or its text blocks joined."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or content.get("blockingError"))
    if not isinstance(content, list):
        return ""
    kept = ("text", "input_text", "output_text", None)
    words = (b if isinstance(b, str) else b.get("text") or "" for b in content if _worded(b, kept))
    return "\n".join(w for w in words if isinstance(w, str) and w)


def _worded(block: object, kept: tuple[str | None, ...]) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and block.get("type") in kept)
