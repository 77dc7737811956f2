"""Any Python value as JSON, for arguments and results of people's own functions.

Owns what becomes of values that JSON cannot hold. Objects that say nothing of themselves are named by their class only: a
client or a connection may hold a key, and so may its repr.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from tallystick.model.step import Json

_DEPTH = 24
_TYPES_BY_ITSELF = (str, int, float, bool, type(None))


def plain(value: object, *, _depth: int = 0) -> Json:
    """`value` as JSON: containers, dataclasses, structs, models, times and paths by what they hold, others by their class.

    Never raises for what a value does.
    """
    if isinstance(value, _TYPES_BY_ITSELF) and type(value) in _TYPES_BY_ITSELF:
        return value
    if _depth >= _DEPTH:
        return named(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, _depth=_depth + 1) for key, item in value.items() if not is_omitted(item)}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, _depth=_depth + 1) for item in value]
    return _object(value, _depth)


def _object(value: object, depth: int) -> Json:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    dump = getattr(value, "model_dump", None)  # a model of pydantic, which the API clients answer with
    try:
        if callable(dump) and not isinstance(value, type):
            return plain(dump(mode="json", exclude_unset=True, warnings=False), _depth=depth + 1)
        return plain(msgspec.to_builtins(value, enc_hook=named), _depth=depth + 1)
    except Exception:  # whatever a foreign class does when asked for its contents
        return named(value)


def named(value: object) -> str:
    """A value by its class alone."""
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


def is_omitted(value: Any) -> bool:
    """Whether it is the mark by which API clients say that an argument was not given."""
    return type(value).__name__ in ("NotGiven", "Omit")
