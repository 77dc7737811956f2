"""Reading an agent's JSON without losing or altering anything (docs/format.md 3.2).

Owns the tolerant parser: values come out as they were said (model/raw.py), a number that no value holds as its literal; a
duplicate key keeps its last value and is counted. Must not know what any agent's members mean, nor how values are sealed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import orjson

from tallystick.model.raw import NestedText, NumberText
from tallystick.model.step import Event, Json, Loss
from tallystick.seal import limits

_MOST_DEPTH = 60


class Parsed(msgspec.Struct, frozen=True):
    """A value, and what could not be kept of the text it was read from."""

    value: Json
    duplicate_keys: int = 0


class BadJson(ValueError):
    """The text is not JSON; the message says why."""


def loads(text: bytes) -> Parsed:
    """Parse JSON from an agent.

    Raises:
        BadJson: not UTF-8, or not JSON.
    """
    try:
        value = _FAST.decode(text)
        # The writer refuses integers that the format has not. The parser says nothing of duplicate keys, but what it kept
        # then has fewer colons behind quotes than the text.
        written = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
        plain = written.count(b'":') == text.count(b'":')
        if plain and not _is_deep(value, text):
            return Parsed(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
        pass
    return _loads_carefully(text)


class _UnsafeFloat(ValueError):
    """A float that the format writes otherwise than the source."""


def _safe_float(literal: str) -> float:
    number = float(literal)
    if abs(number) > limits.SAFE_INTEGER:
        raise _UnsafeFloat(literal)
    return number


_FAST: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=_safe_float)


def _is_deep(value: Json, text: bytes) -> bool:
    if text.count(b"{") + text.count(b"[") <= _MOST_DEPTH:
        return False
    return isinstance(value, dict | list) and limits.is_deeper(value, _MOST_DEPTH)


def loads_text(text: str) -> Parsed:
    """The same of text, in which lone surrogates may stand: JSON inside a string of JSON.

    Raises:
        BadJson: not JSON.
    """
    try:
        return loads(text.encode("utf-8"))
    except UnicodeEncodeError:
        return _read(text)


def _loads_carefully(text: bytes) -> Parsed:
    try:
        return _read(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadJson(f"not UTF-8 at byte {error.start}") from error


def _read(text: str) -> Parsed:
    duplicates = 0

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal duplicates
        result = dict(items)
        duplicates += len(items) - len(result)
        return result

    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=NumberText,
            parse_int=lambda literal: int(literal) if len(literal) < 16 else _integer(literal),
            parse_float=_float,
        )
        return Parsed(_shallow(value, 0), duplicates)
    except RecursionError as error:
        raise BadJson("nested too deep to read") from error
    except ValueError as error:
        raise BadJson(str(error)) from error


def _integer(literal: str) -> int | NumberText:
    if len(literal) > 17 or abs(int(literal)) > limits.SAFE_INTEGER:
        return NumberText(literal)
    return int(literal)


def _float(literal: str) -> float | NumberText:
    number = float(literal)
    overflows = number in (float("inf"), float("-inf"))
    whole_beyond = abs(number) > limits.SAFE_INTEGER and abs(number) < 1e21
    if overflows or whole_beyond:
        return NumberText(literal)
    return number


def _shallow(value: Json, depth: int) -> Json:
    """The value with the JSON text of what is nested too deep in it."""
    if not isinstance(value, dict | list):
        return value
    if depth >= _MOST_DEPTH:
        return NestedText(json.dumps(value, ensure_ascii=True))
    if isinstance(value, dict):
        return {key: _shallow(item, depth + 1) for key, item in value.items()}
    return [_shallow(item, depth + 1) for item in value]


def duplicate_key_losses(parsed: Parsed, offset: int) -> Iterator[Loss]:
    """One loss for each key that the source wrote twice."""
    for _ in range(parsed.duplicate_keys):
        yield Loss(kind="duplicate_key", detail=f"byte {offset}: a key stands twice, the last value is kept")


def bad_line(error: BadJson, offset: int) -> Loss:
    """The loss that a damaged line is."""
    return Loss(kind="bad_line", detail=f"byte {offset}: {error}", fault=True)


def events_of_object(
    data: bytes, offset: int, take: Callable[[dict[str, Json]], Iterator[Event]], otherwise: Loss
) -> Iterator[Event]:
    """What `take` makes of the JSON object that `data` holds; losses for damage, for duplicate keys, and `otherwise`.

    The frame of most readers' `feed`.
    """
    try:
        parsed = loads(data)
    except BadJson as error:
        yield bad_line(error, offset)
        return
    yield from duplicate_key_losses(parsed, offset)
    if isinstance(parsed.value, dict):
        yield from take(parsed.value)
    else:
        yield otherwise


def text_of(value: Json) -> str | None:
    """`value` if it is text, else None: for members that should be text and are whatever the source wrote."""
    if isinstance(value, str):
        return value
    return None


def dict_of(value: Json) -> dict[str, Json]:
    """`value` if it is an object, else an empty one."""
    if isinstance(value, dict):
        return value
    return {}


def list_of(value: Json) -> list[Json]:
    """`value` if it is an array, else an empty one."""
    if isinstance(value, list):
        return value
    return []


def blocks_of(content: Json) -> list[Json]:
    """The blocks of a message; text alone is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list_of(content)


def batch_of(value: Json) -> list[Json]:
    """The messages of a JSON-RPC line: a batch, or one alone."""
    if isinstance(value, list):
        return value
    return [value]


def values_of(content: Json) -> dict[str, Json]:
    """A content as a field value: its text, or its parts."""
    if isinstance(content, str):
        return {"content.text": content}
    return {"content.parts": content}


def note_of(role: Json) -> dict[str, Json]:
    """The member that says in which role a note was made, if not in the system's."""
    if role == "system":
        return {}
    return {"role": role}


def opposite_of(value: Json) -> bool | None:
    """The opposite of a boolean, or None: for members that say that something failed."""
    if isinstance(value, bool):
        return not value
    return None


def int_of(value: Json) -> int | None:
    """`value` if it is a whole number, else None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return None
