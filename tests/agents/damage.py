"""Spoiling what readers are fed: any value in the place of any other."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def spoilt(value: Any, data: st.DataObject) -> Any:
    """`value` with one thing in it, wherever it is, replaced by anything. JSON text is opened."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: spoilt(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], spoilt(value[place], data), *value[place + 1 :]]
    if isinstance(value, str) and value.startswith("{"):
        return json.dumps(spoilt(json.loads(value), data)) if value.endswith("}") else data.draw(JSON)
    return data.draw(JSON)
