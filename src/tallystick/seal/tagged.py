"""What JSON cannot hold, as tagged strings (docs/format.md 3.2).

Owns both ways: what an agent said becomes what can be sealed, which is the last that is done to it, and what was sealed is
read as it was said. Only writers replace anything: a hasher or verifier never does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NewType

import msgspec

from tallystick.errors import FormatError
from tallystick.model.raw import Instead, NestedText, NumberText, Placeholder, Raw
from tallystick.model.recorded import OddlyRecorded, Recorded
from tallystick.model.step import Json
from tallystick.seal import limits
from tallystick.seal.canonical import FAST_DECODER, canonical, quick

MARK = "\x10tally:"
"""How every tagged string begins."""

ESCAPED_MARK = b"\\u0010tally:"
"""The same in canonical JSON."""

Sealable = NewType("Sealable", object)
"""A value with everything replaced that the format cannot hold. It is no Raw: who judges or scrubs does not take it."""

_VALUE_DEPTH = 60
"""Deepest nesting a value may have by itself; the line around it adds at most 2, `content.meta` one more."""

# Sealing ---------------------------------------------------------------------------------------------------------------


def sealed_text(value: Raw) -> bytes:
    """The canonical bytes under which `value` is sealed.

    Raises:
        FormatError: it is not a JSON value.
    """
    text = quick(value)
    if type(value) is str and text is not None and not value.startswith(MARK):  # it has no parts
        return text
    if text is not None and ESCAPED_MARK not in text and not _is_too_deep(text):
        return text
    try:
        return canonical(tag(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"a value has no canonical JSON text: {error}", rule="canonical") from error


def _is_too_deep(text: bytes) -> bool:
    # Brackets in long strings are many and mean nothing: the value that is read from the text is quicker to walk.
    return text.count(b"{") + text.count(b"[") > _VALUE_DEPTH and limits.is_deeper(
        FAST_DECODER.decode(text), _VALUE_DEPTH
    )


def tag_cut(size: int) -> Placeholder:
    """What is kept of a value over the blob limit: its size in bytes."""
    return Placeholder(f"{MARK}cut:{size}")


def tag_unsearched(size: int, digest: str) -> Placeholder:
    """What is kept of a value in which secrets could not be looked for: the size in bytes and the SHA-256 in hex."""
    return Placeholder(f"{MARK}unsearched:{size}:{digest}")


def tag(value: Raw) -> Sealable:
    """`value` with everything replaced that the format cannot hold. Equal to `value` for ordinary JSON.

    Floats that are whole and beyond ±(2^53−1) get their shortest literal: a reader that knows the source's own literal
    keeps it as a NumberText.

    Raises:
        TypeError: it is not a JSON value.
    """
    return Sealable(_tagged(value, 0))


def _tagged(value: Json, depth: int) -> Json:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return tag_text(value)
    if isinstance(value, int):
        if abs(value) <= limits.SAFE_INTEGER:
            return value
        return f"{MARK}num:{value}"
    if isinstance(value, float):
        return _tagged_float(value)
    if depth >= _VALUE_DEPTH and isinstance(value, dict | list | tuple):
        return f"{MARK}json:{json.dumps(value, ensure_ascii=True, default=str)}"
    if isinstance(value, dict):
        return {tag_text(str(key)): _tagged(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tagged(item, depth + 1) for item in value]
    raise TypeError(f"a {type(value).__name__} is not a JSON value")


def tag_text(text: str) -> str:
    """A string, replaced only if it holds half a surrogate pair, takes the place of a value, or could be taken for a tag."""
    if isinstance(text, Instead):
        return _spelled(text)
    if text.startswith(MARK):
        return f"{MARK}str:{text}"
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"{MARK}utf16:{text.encode('utf-16-be', 'surrogatepass').hex()}"
    return text


def _spelled(text: Instead) -> str:
    if isinstance(text, NestedText):
        return f"{MARK}json:{text}"
    if isinstance(text, Placeholder):
        return str(text)
    if text in _WORDS:
        return f"{MARK}{_WORDS[text]}"
    return f"{MARK}num:{text}"


def _tagged_float(value: float) -> Json:
    if math.isnan(value):
        return f"{MARK}nan"
    if math.isinf(value):
        if value > 0:
            return f"{MARK}inf"
        return f"{MARK}-inf"
    if value.is_integer() and limits.SAFE_INTEGER < abs(value) < 1e21:
        return f"{MARK}num:{int(value)}"
    return value


# Reading ---------------------------------------------------------------------------------------------------------------

_TAGGED = re.compile(r"\x10tally:(?:(nan|inf|-inf)|(num|utf16|json|str):(.*))\Z", re.DOTALL)
_WORDS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_NAMED = {word: NumberText(name) for name, word in _WORDS.items()}


def said(value: Json) -> Raw:
    """What was said of which `value` was sealed: the one way from the record to what policies and indexes read.

    Tagged again it is `value`: what is no well-formed tag stays as it stands, and what stands for a value that is not there
    stays a Placeholder.
    """
    if isinstance(value, str):
        if value.startswith(MARK):
            return _said_text(value)
        return value
    if isinstance(value, dict):
        return {_said_text(key) if key.startswith(MARK) else key: said(item) for key, item in value.items()}
    if isinstance(value, list):
        return [said(item) for item in value]
    found: Raw = value
    return found


def _said_text(text: str) -> str:
    match = _TAGGED.match(text)
    if match is None:
        return Placeholder(text)
    word, kind, rest = match.groups()
    if word is not None:
        return _NAMED[word]
    if kind == "num":
        return NumberText(rest)
    if kind == "json":
        return NestedText(rest)
    found = rest
    if kind == "utf16":
        try:
            found = bytes.fromhex(rest).decode("utf-16-be", "surrogatepass")
        except ValueError:
            return Placeholder(text)
    if tag_text(found) == text:
        return found
    return Placeholder(text)


def as_sealed(step: Recorded) -> Recorded:
    """A step with its values as they stand in the journal, for what goes out as JSON: no one must guess what was tagged.

    It is not to be judged: that is what `Sealable` keeps apart, and why this says nothing of it.
    """
    if not isinstance(step, OddlyRecorded):
        return step
    values: Any = {name: tag(value) for name, value in step.values.items()}
    return msgspec.structs.replace(step, values=values)


def json_of(value: object) -> Raw:
    """A value of a Python program as if an agent had said it: keys are text, numbers that JSON has not are texts.

    Raises:
        TypeError: it is not a JSON value.
    """
    return said(_tagged(value, 0))


def json_members(values: Mapping[str, object]) -> dict[str, Raw]:
    """The same of all members of an object, whose names are text or become it."""
    return {str(name): json_of(value) for name, value in values.items()}
