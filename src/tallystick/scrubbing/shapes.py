"""Secrets that are known by their own form: vendors' keys and tokens.

Owns the table of forms. Each begins with a prefix that its vendor chose so that it can be recognised; the patterns are the
vendors' documented ones, widened where a vendor has lengthened its tokens before. Must not know where a form is looked for.
"""

import re
from functools import cache
from typing import NamedTuple

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing import wrapping
from tallystick.scrubbing.judging import is_placeholder, is_words

_WORD = rb"[A-Za-z0-9]"
_FEWEST_CHARACTERS = 7
"""A key of fewer different characters is a drawing of one: `sk-xxxxxxxxxxxxxxxxxxxx`."""
_MOST_DASHES = 3
"""Likewise one of words with more dashes between them: `sk-ant-your-key-goes-here`."""


class Shape(NamedTuple):
    """A form: its kind, the literals it begins with, and the pattern of what follows them."""

    kind: str
    prefixes: tuple[bytes, ...]
    body: bytes
    cut: bool = True
    """Whether a piece at the very end of a text counts: `ghp_16C7e42F…`. Not where the prefix is a common word."""


class _Form(Entry, frozen=True, array_like=True):
    """A row of catalog/secret_shapes.toml."""

    kind: str
    prefixes: tuple[str, ...]
    body: str
    cut: bool = True


class _Forms(Entry, frozen=True):
    shapes: tuple[_Form, ...]


SHAPES = tuple(
    Shape(form.kind, tuple(prefix.encode() for prefix in form.prefixes), form.body.encode(), form.cut)
    for form in load("secret_shapes", _Forms).shapes
)


_LETTER_BEFORE = pattern_of(
    rb"(?:\\(?:[abfnrtv0]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|%[0-9A-Fa-f]{2}|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,8}[a-zA-Z])\Z"
)

_ESCAPES = (b"\\", b"%", b"\x1b")


def begins_word(data: bytes, start: int) -> bool:
    r"""Whether no letter or digit goes before, other than that of an escape: `\n`, `%3D`, a terminal's colour."""
    if start == 0 or not data[start - 1 : start].isalnum():
        return True
    before = data[max(0, start - 20) : start]
    return any(sign in before for sign in _ESCAPES) and _LETTER_BEFORE.search(before) is not None


@cache
def _patterns(shape: Shape) -> tuple[re.Pattern[bytes], re.Pattern[bytes] | None]:
    prefix = rb"(?:" + rb"|".join(re.escape(prefix) for prefix in shape.prefixes) + rb")"
    tail = rb"[A-Za-z0-9_.-]{0,256}?(?=\Z|\xe2\x80\xa6|\.\.\.)"
    cut = re.compile(prefix + rb"(?=[A-Za-z_.-]{0,40}[0-9])(?=[0-9_.-]{0,40}[A-Za-z])" + _WORD + rb"{8}" + tail)
    return re.compile(prefix + shape.body), cut if shape.cut else None


def may_match(shape: Shape, data: bytes, start: int) -> bool:
    """Whether a secret of this form may begin at `start`, in JSON: there a text does not end with the data."""
    return begins_word(data, start) and (shape.cut or match_shape(shape, data, start, len(data)) is not None)


def match_shape(shape: Shape, data: bytes, start: int, limit: int) -> int | None:
    """Where the secret of this form that begins at `start` ends, at `limit` at the latest, or None."""
    if not begins_word(data, start):
        return None
    whole, cut = _patterns(shape)
    found = whole.match(data, start, limit) or (cut.match(data, start) if cut is not None else None)
    if found is None:
        return _wrapped(whole, data, start)
    is_drawn = (
        b"EXAMPLE" in found[0]
        or len(set(found[0])) < _FEWEST_CHARACTERS
        or (found[0].count(b"-") > _MOST_DASHES and is_words(found[0]))
        or is_placeholder(found[0])
    )
    if is_drawn:
        return None
    return found.end()


def _wrapped(whole: re.Pattern[bytes], data: bytes, start: int) -> int | None:
    """The same for a secret that is broken by the end of a line, or is two literals."""
    halves = wrapping.halves(data, start)
    if halves is None:
        return None
    joined, end = halves
    found = whole.match(joined)
    if found is None or len(set(found[0])) < _FEWEST_CHARACTERS or is_words(joined):
        return None
    return end - (len(joined) - found.end())
