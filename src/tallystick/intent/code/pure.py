"""Functions that only make texts of texts: `chr(47)`, `["a", "b"].join("/")`, `base64_decode("…")`.

Owns what each gives, in every language; what they are called is in the catalogue. Must not know how a program is read.
A text may have holes where it is put together: whatever else is made of a hole is not known.
"""

from __future__ import annotations

import base64
import binascii
import codecs
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

from tallystick.catalog.loading import Entry, inverted, load
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

Plain = str | tuple[str, ...]
"""A text or number, or a list of such."""
_LONGEST = 4096
_HIGHEST = 0x10FFFF


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/pure.toml."""

    functions: Mapping[str, str]
    methods: Mapping[str, str]


_FACTS = load("code/pure", _Facts)
FUNCTIONS = inverted({kind: tuple(names.split()) for kind, names in _FACTS.functions.items()})
"""By a function's name: what it does."""
METHODS = inverted({kind: tuple(names.split()) for kind, names in _FACTS.methods.items()})
"""By a method's name: what it does with its owner and its arguments."""


def made(kind: str, given: Sequence[Plain]) -> Plain | None:
    """What a function of a kind gives; None where that is not known."""
    rule = _RULES.get(kind)
    if rule is None or not given or sum(len(part) for part in given) > _LONGEST:
        return None
    if kind not in _WITH_HOLES and any(HOLE in text for text in _flat(given)):
        return None
    try:
        found = rule(*given)
    except (TypeError, ValueError, IndexError, OverflowError, LookupError, binascii.Error):
        return None
    return found if sum(map(len, _flat([found]))) <= _LONGEST else None


def _flat(given: Sequence[Plain]) -> tuple[str, ...]:
    return tuple(text for part in given for text in ((part,) if isinstance(part, str) else part))


def _text(given: Plain) -> str:
    if isinstance(given, str):
        return given
    raise TypeError


def _codes(*given: Plain) -> str:
    return "".join(chr(min(int(text, 0), _HIGHEST)) for text in _flat(given))


def _bytes(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace(HOLE, "\ufffd")


def _base64(text: Plain, *_: Plain) -> str:
    plain = _text(text).replace("-", "+").replace("_", "/").rstrip("=")
    return _bytes(base64.b64decode(plain + "=" * (-len(plain) % 4)))


def _hex(text: Plain, *_: Plain) -> str:
    return _bytes(bytes.fromhex(_text(text)))


def _rot13(text: Plain, *_: Plain) -> str:
    return codecs.decode(_text(text), "rot13")


def _decode(text: Plain, encoding: Plain = "", *_: Plain) -> str:
    rules = {"hex": _hex, "base64": _base64, "base64url": _base64, "rot13": _rot13, "rot_13": _rot13, "hex_codec": _hex}
    if not isinstance(text, str):
        return _codes(text)
    rule = rules.get(_text(encoding).lower())
    return rule(text) if rule is not None else text


def _slice(text: Plain, start: Plain, length: Plain = "") -> str:
    whole, first = _text(text), int(_text(start))
    rest = whole[first:]
    return rest[: int(_text(length))] if length else rest


def _between(text: Plain, start: Plain = "0", end: Plain = "") -> Plain:
    return text[int(_text(start)) : int(_text(end)) if end else None]


def _split(text: Plain, separator: Plain = "", *_: Plain) -> Plain:
    whole, mark = _text(text), _text(separator)
    return tuple(whole.split(mark)) if mark else tuple(whole)


def _format(template: Plain, *given: Plain) -> str:
    left = list(_flat(given))
    return _PLACE.sub(lambda found: "%" if found[0] == "%%" else left.pop(0), _text(template))


def _pack(template: Plain, *given: Plain) -> str:
    texts = _flat(given)
    match _text(template)[:1]:
        case "H":
            return _hex(texts[0])
        case "m":
            return _base64(texts[0])
        case "C" | "c" | "U" | "W":
            return _codes(texts)
        case _:
            return "".join(texts)


def _replace(text: Plain, old: Plain, new: Plain, *_: Plain) -> str:
    return _text(text).replace(_text(old), _text(new))


_PLACE = pattern_of(r"%[sdi]|%%")
_WITH_HOLES = frozenset(("glue", "glue_last", "concat", "format", "same"))
_RULES: dict[str, Callable[..., Plain]] = {
    "codes": _codes,
    "number": lambda text, *_: str(ord(text)) if len(text) == 1 and not text.isdecimal() else str(int(text, 0)),
    "hex": _hex,
    "base64": _base64,
    "base32": lambda text, *_: _bytes(base64.b32decode(_text(text))),
    "rot13": _rot13,
    "unquote": lambda text, *_: unquote(_text(text)).replace(HOLE, "\ufffd"),
    "reverse": lambda given, *_: given[::-1],
    "decode": _decode,
    "format": _format,
    "glue": lambda mark, *given: _text(mark).join(_flat(given)),
    "glue_last": lambda given, mark="", *_: _text(mark).join(_flat([given])),
    "concat": lambda first, *given: (
        "".join(_flat([first, *given])) if isinstance(first, str) else _flat([first, *given])
    ),
    "pack": _pack,
    "pack_last": lambda given, template: _pack(template, given),
    "replace_in": lambda old, new, text, *_: _replace(text, old, new),
    "replace": _replace,
    "lower": lambda text, *_: _text(text).lower(),
    "upper": lambda text, *_: _text(text).upper(),
    "slice": _slice,
    "between": _between,
    "split": _split,
    "same": lambda given, *_: given,
    "repeat": lambda text, count: _text(text) * min(int(count), _LONGEST),
}
