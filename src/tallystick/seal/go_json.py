"""JSON as Go's encoder spells it: compact, some characters of HTML escaped, whole floats without a point.

Owns the spelling: other programs' digests and lines are made of it. Must not know what is written. Objects keep the order
they have; a Go map has its keys sorted, which is for `sorted_keys`. Source: encoding/json, Go 1.22.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from tallystick.model.step import Json
from tallystick.seal.canonical import canonical

_ESCAPED = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029"})


def go_text(text: str) -> str:
    """A string in quotes. A lone surrogate becomes U+FFFD, as bytes that are not UTF-8 do in Go."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.dumps(text, ensure_ascii=False).translate(_ESCAPED)


def go_json(value: Json, *, text: Callable[[str], str] = go_text) -> str:
    """The text of a value. `text` spells a string."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return canonical(value).decode()
    if isinstance(value, dict):
        return "{" + ",".join(f"{text(key)}:{go_json(item, text=text)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(go_json(item, text=text) for item in value) + "]"
    return json.dumps(value)


def sorted_keys(value: Json) -> Json:
    """A value whose objects have their keys sorted, as the encoder does with maps."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [sorted_keys(item) for item in value]
    return value
