"""The stream that a tree's probe writes: one line a fact, as JSON, `[key, value]`.

Owns its form and what is taken out of values because it is another one in each run. Must not know what facts there are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

Emit = Callable[[str, Any], None]
"""Takes a key, which no other fact has, and a value that JSON can hold."""


def emitting(file: TextIO) -> Emit:
    """Write facts into a file; a key that came before gets a number."""
    seen: dict[str, int] = {}

    def emit(key: str, value: Any) -> None:
        count = seen.get(key, 0)
        seen[key] = count + 1
        file.write(json.dumps([f"{key} #{count + 1}" if count else key, value], ensure_ascii=False, default=str) + "\n")

    return emit


def read_stream(path: Path) -> Iterator[tuple[str, Any]]:
    """All facts of a stream, in order."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            key, value = json.loads(line)
            yield key, value


def without(value: Any, texts: dict[str, str]) -> Any:
    """A value with some texts replaced wherever they are in it: folders of this run."""
    if isinstance(value, str):
        for text, name in texts.items():
            value = value.replace(text, name)
        return value
    if isinstance(value, list):
        return [without(item, texts) for item in value]
    if isinstance(value, dict):
        return {without(name, texts): without(item, texts) for name, item in value.items()}
    return value
