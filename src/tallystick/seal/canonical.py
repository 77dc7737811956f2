"""Canonical JSON (RFC 8785, "JCS") and the one way in which lines are read.

Owns the rule that a value has exactly one text. `rfc8785` is the reference and decides; `orjson` is taken only when the
guard below is certain that both write the same bytes (docs/decisions/0005). Must not know what a value means.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec
import orjson
import rfc8785

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.seal.limits import SAFE_INTEGER

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
# A float that every encoder writes alike: up to 16 digits before the point, no exponent, no trailing zero, and not so
# small that ECMAScript would switch to an exponent.
_PLAIN_FLOAT = re.compile(r"-?(?:0\.0{0,4}[1-9]\d{0,16}|[1-9]\d{0,15}\.\d{1,17})(?<!0)\Z")
_ASTRAL = re.compile(rb"[\xf0-\xf4]")
_LONG_NUMBER = re.compile(rb"\d{16}")


class _UncertainFloat(ValueError):
    """A float whose canonical text the fast path does not vouch for."""


def _plain_float(literal: str) -> float:
    if not _PLAIN_FLOAT.match(literal):
        raise _UncertainFloat(literal)
    return float(literal)


FAST_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=_plain_float)
"""Reads JSON and refuses (msgspec.DecodeError or ValidationError) floats that need the reference encoder."""


def plain_float_hook(literal: str) -> float:
    """For typed decoders elsewhere in this package: see FAST_DECODER."""
    return _plain_float(literal)


def fast_dumps(value: Json) -> bytes:
    """orjson's text of a value that FAST_DECODER read. Canonical unless a key lies beyond U+FFFF; see has_astral_key.

    Raises:
        TypeError: the value holds what JSON or the format cannot, a large integer for example.
    """
    return orjson.dumps(value, option=_OPTIONS)


def canonical(value: Json) -> bytes:
    """The RFC 8785 text of `value` in UTF-8.

    Raises:
        FormatError: `value` has no canonical text: NaN, an infinity, a whole number beyond ±(2^53−1) that is written
            without exponent, a lone surrogate, a key that is not a string, a type that JSON has not.
    """
    text = quick(value)
    if text is None:
        return _reference(value)
    return text


def quick(value: Json) -> bytes | None:
    """`canonical` without the reference; None where only that knows the text, if there is one."""
    try:
        if type(value) is str:
            return orjson.dumps(value)
        text = orjson.dumps(value, option=_OPTIONS)
        if FAST_DECODER.decode(text) == value and (
            text.isascii() or not (_ASTRAL.search(text) and has_astral_key(value))
        ):
            return text
    except (TypeError, RecursionError, msgspec.DecodeError):
        pass
    return None


def has_astral_key(value: Json) -> bool:
    """True if a key holds a character above U+FFFF, where UTF-16 order and byte order part ways."""
    if isinstance(value, dict):
        return any(max(key, default="") > "\uffff" or has_astral_key(item) for key, item in value.items())
    if isinstance(value, list):
        return any(has_astral_key(item) for item in value)
    return False


def _reference(value: Json) -> bytes:
    try:
        text = rfc8785.dumps(value)
        if _LONG_NUMBER.search(text):
            json.loads(text, parse_int=_safe_integer)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise FormatError(f"a value has no canonical JSON text: {error}", rule="canonical") from error
    return text


def _safe_integer(literal: str) -> int:
    """Refuse what RFC 8785 writes for a whole double beyond ±(2^53−1): the format takes it for an integer (3.1)."""
    number = int(literal)
    if abs(number) > SAFE_INTEGER:
        raise ValueError(f"{literal} is beyond ±(2^53−1)")
    return number


def parse(text: bytes) -> Json:
    """Read JSON as a verifier must: no number rounded unseen, nothing that JSON has not.

    Callers check the nesting depth first (limits.exceeds_depth). An integer beyond ±(2^53−1) comes back as one that is
    beyond it too, if not the same: it has no canonical text either way.

    Raises:
        FormatError: not UTF-8, or not JSON (rule `line`); a byte order mark, CR or NUL (rule `canonical`).
    """
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start}", rule="line") from error
    if decoded.startswith("\ufeff") or "\r" in decoded or "\0" in decoded:
        raise FormatError("a byte order mark, CR or NUL", rule="canonical")
    try:
        return json.loads(decoded, parse_constant=_refuse_constant, parse_int=_integer)
    except ValueError as error:
        raise FormatError(f"not JSON: {error}", rule="line") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON, though Python reads it")


def _integer(literal: str) -> int:
    return int(literal[:18])  # thousands of digits are slow to read, and Python refuses them; 18 are too many already


def is_canonical(text: bytes, value: Json) -> bool:
    """True if `text` is the canonical text of `value`, which was parsed from it."""
    try:
        return canonical(value) == text
    except FormatError:
        return False
