from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tallystick.recording.jsonify import is_omitted, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Colour(enum.Enum):
    RED = "red"


class Model(BaseModel):
    name: str
    inner: list[int] = []


@dataclass
class Point:
    x: int
    at: datetime.date


class Struct(msgspec.Struct):
    secret: Client | int


class Client:
    key = "sk-0123"

    def __repr__(self) -> str:
        return self.key


class Liar:
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no")


@given(JSON)
def test_json_is_what_it_is(value: Any) -> None:
    assert plain(value) == value


def test_values_that_hold_others_are_shown_by_what_they_hold() -> None:
    assert plain({"m": Model(name="a", inner=[1]), "p": Point(1, datetime.date(2026, 1, 2))}) == {
        "m": {"name": "a", "inner": [1]},
        "p": {"x": 1, "at": "2026-01-02"},
    }
    assert plain([Colour.RED, Path("a/b"), b"123", (1, {2})]) == ["red", "a/b", "<3 bytes>", [1, [2]]]


def test_objects_that_say_nothing_of_themselves_are_named_by_their_class_only() -> None:
    assert plain([Client(), Struct(Client()), Liar(), print]) == [
        f"<{__name__}.Client>",
        {"secret": f"<{__name__}.Client>"},
        f"<{__name__}.Liar>",
        "<builtins.builtin_function_or_method>",
    ]


def test_what_refers_to_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "builtins.list" in str(plain(loop))


def test_marks_for_arguments_that_were_not_given_are_left_out() -> None:
    class Omit:
        pass

    assert is_omitted(Omit())
    assert plain({"a": Omit(), "b": None}) == {"b": None}
