"""What is kept of a value that a session was shown, and how a text that leaves is compared with it.

Owns which parts of a value are kept (keyed digests of windows of 12 letters and digits, and of 8 for shorter words), and in
which forms a text is looked through: its letters and digits alone, in either direction and any case, as it is and decoded
from base64, base32, hexadecimal digits, escapes, an address or a packed stream, one in another. Must not know where values
come from, nor what leaves.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import lzma
import re
import string
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2s
from typing import TypeVar
from urllib.parse import unquote_to_bytes

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import is_words

_T = TypeVar("_T")
WINDOW, _PIECE = 12, 8
_DIGEST = 8
_LEAST, _LONGEST = 8, 64 << 10
_MOST_WINDOWS = 256
"""Of one value; of a longer one, windows that are further apart."""
MOST_PRINTS = 4096
"""Of one step."""
_WORDS = bytes(string.ascii_letters + string.digits, "ascii")
_FOLDED = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_SIGNS = bytes(byte for byte in range(256) if byte not in _WORDS)
_NEAR_DIGITS = pattern_of(rb"(?:[a-z]{0,11}[0-9])+[a-z]{0,11}")
_ARMOUR = pattern_of(rb"-----[^-\n]{3,80}-----|^[A-Za-z-]{2,40}: [^\n]{0,200}$", re.MULTILINE)
_ARMOURED = 96
"""So many characters are the same at the beginning of all keys of a kind."""
_WORD = pattern_of(rb"[^\s\"'`=&,;<>(){}\[\]|:@/?]{8,24}")
_MOST_WORK = 48_000
"""Digests for one comparison; of a larger text each fourth window is compared, then no more."""
_STRIDE = 4
_SMALL = 8_000


def prints_of(values: Iterable[bytes], key: bytes) -> bytes:
    """What is kept of values: a run of digests. Of words, and of what is short and plain, nothing."""
    found: dict[bytes, None] = {}
    for value in values:
        if _LEAST <= len(value) <= _LONGEST and not is_words(value):
            found |= dict.fromkeys(_of_value(_core(value), key))
        if len(found) >= MOST_PRINTS:
            break
    return b"".join([*found][:MOST_PRINTS])


def digests_in(prints: bytes) -> Iterator[bytes]:
    """The digests of a run."""
    return (prints[at : at + _DIGEST] for at in range(0, len(prints) - _DIGEST + 1, _DIGEST))


def found_in(data: bytes, known: Mapping[bytes, _T], key: bytes) -> tuple[frozenset[_T], bool]:
    """Of what known digests stand for, what is in a text in any form; and whether all of the text was compared."""
    if not known:
        return frozenset(), True
    found: set[_T] = set()
    forms = _Forms(data)
    left = _MOST_WORK
    for text in forms:
        for pieces in _of_text(text, left):
            left -= 1
            stands_for = {known.get(_digest(piece, key)) for piece in pieces}
            if len(stands_for) == 1:
                found |= {one for one in stands_for if one is not None}
            if not left:
                return frozenset(found), False
    return frozenset(found), forms.is_whole


# One value, one text --------------------------------------------------------------------------------------------------


def _core(value: bytes) -> bytes:
    """A value without what is the same in others of its kind: the frame of a key, the header of a token."""
    if value.startswith(b"eyJ"):
        return value.partition(b".")[2]
    if value.lstrip().startswith(b"-----BEGIN"):
        return _ARMOUR.sub(b"", value).strip()[_ARMOURED:]
    return value


def _of_value(value: bytes, key: bytes) -> Iterator[bytes]:
    letters = value.translate(_FOLDED, _SIGNS)
    apart = 1
    if len(letters) > _MOST_WINDOWS:
        apart = (len(letters) // _MOST_WINDOWS) | 3  # odd: each fourth window of a text meets it
    for size in (WINDOW, _PIECE):
        for at in range(0, len(letters) - size + 1, apart):
            window = letters[at : at + size]
            if not window.isalpha() and not window.isdigit():
                yield _digest(window, key)


def _of_text(text: bytes, left: int) -> Iterator[tuple[bytes, ...]]:
    """What of a text is looked up: windows one by one, and both ends of a word that is shorter than one."""
    for word in _WORD.findall(text):
        letters = word.translate(_FOLDED, _SIGNS)
        if _PIECE <= len(letters) < WINDOW and not letters.isalpha() and not letters.isdigit():
            yield letters[:_PIECE], letters[-_PIECE:]
    letters = text.translate(_FOLDED, _SIGNS)
    apart = _STRIDE if len(letters) + _MOST_WORK - left > _SMALL else 1
    for run in _NEAR_DIGITS.finditer(letters):
        start, end = run.span()
        for at in range(start, end - WINDOW + 1, apart):
            yield (letters[at : at + WINDOW],)


def _digest(data: bytes, key: bytes) -> bytes:
    """Of a window, which is the same backwards."""
    return blake2s(min(data, data[::-1]), key=key[:32], digest_size=_DIGEST).digest()


# Forms ----------------------------------------------------------------------------------------------------------------

_MOST_FORMS, _MOST_BYTES, _DEEPEST = 64, 4 << 20, 4
_READABLE = pattern_of(rb"[\t\r\n -~]{12,}")
_WRAPPED = pattern_of(rb"(?<=[A-Za-z0-9+/_-]{40})[ \t]*(?:\r?\n|\\n)[ \t]*(?=[A-Za-z0-9+/_-])")
_BASE64 = pattern_of(rb"[A-Za-z0-9+/_-]{16,}")
_BASE32 = pattern_of(rb"[A-Z2-7]{20,}|[a-z2-7]{20,}")
_HEX = pattern_of(rb"[0-9a-fA-F]{2}(?:(?:0x|\\{1,8}x|%|[-:,. ]{1,2}(?:0x)?)?[0-9a-fA-F]{2}){11,}")
_BETWEEN = pattern_of(rb"0x|[^0-9a-fA-F]")
_ESCAPE = pattern_of(rb"\\{1,8}u00([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{2});")
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


class _Forms:
    """A text, then what it decodes to, as far as the bounds go."""

    def __init__(self, data: bytes) -> None:
        self._waiting = [(data, 0)]
        self._seen = {data}
        self._bytes = 0
        self.is_whole = True

    def __iter__(self) -> Iterator[bytes]:
        while self._waiting:
            text, depth = self._waiting.pop(0)
            yield text
            if depth < _DEEPEST:
                for form in (each for decode in _DECODERS for each in decode(text)):
                    self._add(form, depth + 1)

    def _add(self, form: bytes | None, depth: int) -> None:
        if form is None:
            self.is_whole = False
            return
        if len(form) < _LEAST or form in self._seen:
            return
        if len(self._seen) >= _MOST_FORMS or self._bytes + len(form) > _MOST_BYTES:
            self.is_whole = False
            return
        self._seen.add(form)
        self._bytes += len(form)
        self._waiting.append((form, depth))


def _of_address(text: bytes) -> Iterator[bytes]:
    if b"%" in text:
        yield unquote_to_bytes(text)


def _of_escapes(text: bytes) -> Iterator[bytes]:
    if b"\\u00" in text or b"&#x" in text:
        yield _ESCAPE.sub(lambda found: bytes.fromhex((found[1] or found[2]).decode("ascii")), text)


def _of_hex(text: bytes) -> Iterator[bytes]:
    parts = []
    for found in _HEX.finditer(text):
        digits = _BETWEEN.sub(b"", found[0])
        for shift in (0, 1):
            parts += _READABLE.findall(bytes.fromhex(digits[shift : len(digits) - (len(digits) - shift) % 2].decode()))
    yield b"\n".join(parts)


def _of_base32(text: bytes) -> Iterator[bytes]:
    runs = (found[0].upper() for found in _BASE32.finditer(text))
    yield b"\n".join(
        part
        for run in runs
        for shift in range(8)
        for part in _READABLE.findall(base64.b32decode(run[shift : len(run) - (len(run) - shift) % 8]))
    )


def _decoded(run: bytes) -> bytes:
    """A run of base64 without its padding, decoded."""
    left = len(run) % 4
    if left == 1:
        run = run[:-1]
    return binascii.a2b_base64(run + b"=" * (-len(run) % 4))


def _of_base64(text: bytes) -> Iterator[bytes | None]:
    """What runs of base64 hold that can be read, from each of the places where one may begin, in both directions."""
    parts: list[bytes] = []
    for found in _BASE64.finditer(_WRAPPED.sub(b"", text)):
        for run in (found[0].translate(_TO_STANDARD), found[0][::-1].translate(_TO_STANDARD)):
            for shift in range(4):
                data = _decoded(run[shift:])
                parts += _READABLE.findall(data)
                yield from _unpacked(data)
    yield b"\n".join(parts)


_MOST_UNPACKED = 2 << 20
_MOST_MEMBERS = 64
_ZIP = b"PK\x03\x04"
_MEMBER = struct.Struct("<4x2xHH4x4x4x4xHH")
_PACKED: tuple[tuple[bytes, Callable[[bytes], Iterator[bytes | None]]], ...] = (
    (b"\x1f\x8b", lambda data: _stream(data, zlib.decompressobj(wbits=31).decompress)),
    (b"BZh", lambda data: _stream(data, bz2.BZ2Decompressor().decompress)),
    (b"\xfd7zXZ", lambda data: _stream(data, lzma.LZMADecompressor().decompress)),
    (_ZIP, lambda data: _members(data)),
)
_SEALED = (b"-----BEGIN PGP MESSAGE", b"age-encryption.org/", b"Salted__", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd", b"Rar!")
"""How what is encrypted begins, or packed in a way that is not undone here."""


def _unpacked(data: bytes) -> Iterator[bytes | None]:
    """What a packed text holds, as far as it goes; None for what cannot be told."""
    if data.startswith(_SEALED):
        yield None
    for magic, unpack in _PACKED:
        if data.startswith(magic):
            try:
                yield from unpack(data)
            except (zlib.error, OSError, EOFError, lzma.LZMAError, ValueError, struct.error):
                yield None


def _stream(data: bytes, unpack: Callable[[bytes, int], bytes]) -> Iterator[bytes | None]:
    text = unpack(data, _MOST_UNPACKED)
    yield text
    if len(text) == _MOST_UNPACKED or not text:
        yield None


def _members(data: bytes) -> Iterator[bytes | None]:
    """The files of a zip archive, and what cannot be read of them. Source: APPNOTE.TXT, 4.3.7."""
    at = 0
    for _ in range(_MOST_MEMBERS):
        flags, method, name, extra = _MEMBER.unpack_from(data, at)
        body = at + _MEMBER.size + name + extra
        if flags & 1 or method not in (0, 8):
            yield None
        elif method == 8:
            yield from _stream(data[body:], zlib.decompressobj(wbits=-15).decompress)
        at = data.find(_ZIP, body)
        if at < 0:
            return
    yield None


_DECODERS = (_of_address, _of_escapes, _of_hex, _of_base32, _of_base64, _unpacked)
