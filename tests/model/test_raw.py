"""Values as agents said them, as a program gets them."""

from __future__ import annotations

import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.raw import Instead, NestedText, NumberText, Placeholder, legible
from tests.support.cases import each

TEXTS = st.text(st.characters(codec=None, exclude_categories=()))
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS | st.builds(NumberText, TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@each(
    "value, found",
    [
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ("\U0001f600 caf\u00e9 \0", "\U0001f600 caf\u00e9 \0"),
        ([1, None, {"\udc80": "\ud800"}], [1, None, {"\ufffd": "\ufffd"}]),
        ({chr(0xD800): 1, chr(0xDC00): 2, chr(0xFFFD): 3}, {"\ufffd": 1, "\ufffd\ufffd": 2, "\ufffd\ufffd\ufffd": 3}),
    ],
    ids=ascii,
)
def test_half_a_pair_is_what_its_bytes_say(value: Any, found: Any) -> None:
    assert legible(value) == found


@given(VALUES)
def test_a_legible_value_can_be_encoded_and_loses_nothing_else(value: Any) -> None:
    found = legible(value)
    repr(found).encode("utf-8")
    assert legible(found) == found
    assert _size(found) == _size(value)


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 1


@each("kind", [NumberText, NestedText, Placeholder])
def test_a_text_in_the_place_of_a_value_stays_one_between_processes(kind: type[Instead]) -> None:
    [back] = pickle.loads(pickle.dumps([kind("1")]))
    assert (type(back), back) == (kind, "1")
    assert type(legible(back)) is str
