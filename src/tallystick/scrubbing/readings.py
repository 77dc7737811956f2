r"""A text as it is read by what it is for: escapes undone, invisible characters left out, continued lines joined.

Owns which spellings hide a secret from a search (`p\u0061ssword`, `%22token%22`, `&quot;`, UTF-16, a terminal's colours,
a backslash at the end of a line), and the way back from a place in the reading to the place in the text.
Must not know what is searched for. One pass, so the work grows with the text and no faster.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from tallystick.model.pattern import pattern_of

_NAMED = {b"&quot;": b'"', b"&amp;": b"&", b"&lt;": b"<", b"&gt;": b">", b"&apos;": b"'"}
_SIGNS = {"\u00a0": " ", "\uff1a": ":", "\uff1d": "="}
_INVISIBLE = ("\u200b", "\u200c", "\u200d", "\u2060", "\u00ad", "\ufeff")
LITERALS = (
    "\\u00", "\\x", "%3D", "%3d", "%3A", "%3a", "%22", "%40", *map(bytes.decode, _NAMED), "&#", *_SIGNS, *_INVISIBLE,
    "\x1b[", "=\n", "\\\n", "=\r\n", "\\\r\n", "\\/", "\0",
)  # fmt: skip
"""One of these is in every text that is read otherwise than it is written."""

_TOKEN = rb"[A-Za-z0-9_+/=.-]"
_HEX = rb"[2-7][0-9a-fA-F]"
# One sign that begins each spelling is read first: the search for it is as quick as one for a single character.
_AFTER = {
    rb"\\": (
        rb"(?P<json>u00" + _HEX + rb"(?:\\u00" + _HEX + rb")*)|(?P<code>x" + _HEX + rb"(?:\\x" + _HEX + rb")*)"
        rb"|\\{1,7}(?:u00|x)(?P<escape>" + _HEX
        + rb")|\\{0,3}u0000|\r?\n[ \t]{0,32}(?=" + _TOKEN + rb")|(?=/)(?<=[A-Za-z0-9]\\)"
    ),
    rb"%": rb"(?P<percent>" + _HEX + rb"(?:%" + _HEX + rb")*)",
    rb"&": rb"#(?P<number>[0-9]{2,3});|#x(?P<number16>" + _HEX + rb");|(?P<named>(?:quot|amp|lt|gt|apos);)",
    rb"\x00": rb"(?P<wide>[\t\n\r -~](?:\0[\t\n\r -~]){2,}\0?)",
    rb"\x1b": rb"\[[0-9;]{0,8}[a-zA-Z]",
    rb"=": rb"\r?\n[ \t]{0,32}(?=" + _TOKEN + rb")",
}  # fmt: skip
_SIGNS_IN_BYTES = {sign.encode(): read.encode() for sign, read in _SIGNS.items()}
_AFTER |= {
    first: b"|".join(re.escape(sign.encode()[1:]) for sign in (*_SIGNS, *_INVISIBLE) if sign.encode()[:1] == first)
    for first in (b"\xc2", b"\xe2", b"\xef")
}
_SPELLINGS = pattern_of(
    rb"[\\%&\x00\x1b=\xc2\xe2\xef](?:"
    + rb"|".join(rb"(?<=" + first + rb")(?:" + rest + rb")" for first, rest in _AFTER.items())
    + rb")"
)
_BEFORE, _FAR = 64, 1024


class Reading:
    """What a text reads as, and where each of its bytes is in the text."""

    def __init__(self, data: bytes) -> None:
        """Read a text."""
        self._starts = [0]
        """Places in the reading from which on a byte of it is so many bytes of the text,"""
        self._from = [0]
        """where those are in the text,"""
        self._steps = [1]
        """and how many."""
        pieces: list[bytes] = []
        position = length = 0
        for found in _SPELLINGS.finditer(data):
            kept = data[position : found.start()]
            read, step = _read(found)
            pieces += (kept, read)
            length += len(kept)
            if read:
                self._mark(length, found.start(), step)
                length += len(read)
            position = found.end()
            self._mark(length, position, 1)
        pieces.append(data[position:])
        self.data = b"".join(pieces)
        self.spellings = len(pieces) // 2
        """How many places are read otherwise than they are written."""

    def _mark(self, at: int, place: int, step: int) -> None:
        if self._starts[-1] == at:
            self._from[-1], self._steps[-1] = place, step
            return
        self._starts.append(at)
        self._from.append(place)
        self._steps.append(step)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """From where to where in the text is what is read at `start` to `end`."""
        (first, _), (last, step) = map(self._place, (start, end - 1))
        return first, last + step

    def is_near(self, at: int) -> bool:
        """Whether what is read at `at`, or a little after it, is written otherwise."""
        after = max(1, bisect_right(self._starts, at - _BEFORE))
        return after < len(self._starts) and self._starts[after] < at + _FAR

    def _place(self, at: int) -> tuple[int, int]:
        index = bisect_right(self._starts, at) - 1
        step = self._steps[index]
        return self._from[index] + (at - self._starts[index]) * step, step


_STEPS = {"json": (6, b"\\u00"), "code": (4, b"\\x"), "percent": (3, b"%")}


def _read(found: re.Match[bytes]) -> tuple[bytes, int]:
    """What a spelling is read as, and how many bytes of the text each byte of that is."""
    kind, whole = found.lastgroup, found[0]
    if kind is None:
        return _SIGNS_IN_BYTES.get(whole, b""), len(whole)
    if kind == "wide":
        return whole[1::2], 2
    if kind in _STEPS:
        step, sign = _STEPS[kind]
        return bytes.fromhex(whole.replace(sign, b"").decode()), step
    return _one(kind, found), len(whole)


def _one(kind: str, found: re.Match[bytes]) -> bytes:
    if kind == "named":
        return _NAMED[found[0]]
    if kind == "number":
        code = int(found[kind])
    else:
        code = int(found[kind], 16)
    if 32 <= code < 127:
        return bytes((code,))
    return b" "
