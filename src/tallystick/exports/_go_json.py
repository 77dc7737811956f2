"""JSON as the headless agent's writer spells it: compact, some characters of HTML escaped, whole floats without a point.

Owns the spelling. Must not know what is written.
"""

from __future__ import annotations

import json
import re

from tallystick.model.step import Json
from tallystick.seal.canonical import canonical
from tallystick.seal.tagged import MARK

_ESCAPED = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029"})
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


def go_json(value: Json) -> str:
    """The text of a value. Objects keep their order; tagged strings become what they stand for, where JSON can say it."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return canonical(value).decode()
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(key)}:{go_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(go_json(item) for item in value) + "]"
    return json.dumps(value)


def sorted_keys(value: Json) -> Json:
    """A value whose objects have their keys sorted, as the writer does with maps."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


def _text(text: str) -> str:
    if text.startswith(MARK):
        kind, _, rest = text.removeprefix(MARK).partition(":")
        if kind == "num" and _NUMBER.match(rest):
            return rest
        if kind == "str":
            text = rest
        elif kind == "utf16":
            text = bytes.fromhex(rest).decode("utf-16-be", "replace")
    return json.dumps(text, ensure_ascii=False).translate(_ESCAPED)
