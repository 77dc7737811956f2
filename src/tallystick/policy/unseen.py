"""What of a text is not seen where it is shown: signs without width, comments, text in other clothes.

Owns these signs and forms. Must not know what is said in them. Sources: Unicode 16.0 (general category Cf), UTS 51 on flags
and joiners, UTR 36 on bidirectional text; RFC 4648.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

_NARROW = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb"
)
_TURNING = "\u202a-\u202e\u2066-\u2069"
_TAG = "\U000e0020-\U000e007e"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_DROPPED = re.compile(f"[{_NARROW}{_TURNING}{_SELECTORS}]")
_TAGS = re.compile(f"[{_TAG}]")
_FLAG = re.compile(f"\U0001f3f4[{_TAG}]{{1,8}}\U000e007f")
_TURNS = re.compile(f"[{_TURNING}]")
_IN_WORDS = re.compile("[A-Za-z][\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff]{1,8}[A-Za-z]")
_MANY = re.compile(f"[{_NARROW}]{{4}}|[\U000e0100-\U000e01ef]{{2}}|[\ufe00-\ufe0f]{{4}}")
_NOTE = re.compile(r"^\[(?://|comment)\]: ?#? ?[(\"']([^\n]{1,1000})", re.MULTILINE)
_CODED = re.compile(r"[A-Za-z0-9+/]{24,8192}={0,2}|(?:[0-9a-fA-F]{2}){24,4096}")
_MOST_CODED = 20


def visible(text: str) -> str:
    """The text without signs that are not seen; tags, which spell ASCII unseen, as what they spell."""
    return _TAGS.sub(lambda tag: chr(ord(tag[0]) - 0xE0000), _DROPPED.sub("", text))


def has_unseen(text: str) -> bool:
    """Whether signs that are not seen stand where neither a script nor an emoji needs them."""
    if text.isascii():
        return False
    if _TURNS.search(text) or _IN_WORDS.search(text) or _MANY.search(text):
        return True
    return _TAGS.search(text) is not None and _TAGS.search(_FLAG.sub("", text)) is not None


def comments(text: str) -> Iterator[str]:
    """Comments of HTML and Markdown; one without an end goes to the end."""
    begin = text.find("<!--")
    while begin >= 0:
        end = text.find("-->", begin)
        yield text[begin + 4 : end if end >= 0 else None]
        if end >= 0:
            begin = text.find("<!--", end)
        else:
            begin = -1
    for found in _NOTE.finditer(text):
        yield found[1]


def coded_texts(text: str) -> Iterator[str]:
    """Texts that are in a text as base64 or as hexadecimal numbers."""
    for count, found in enumerate(_CODED.finditer(text)):
        if count >= _MOST_CODED:
            return
        for decoded in (_decoded(found[0]), _from_hex(found[0])):
            if decoded is not None:
                yield decoded


def _decoded(text: str) -> str | None:
    bare = text.rstrip("=")
    try:
        return _readable(base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_hex(text: str) -> str | None:
    try:
        return _readable(bytes.fromhex(text))
    except ValueError:
        return None


def _readable(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if all(sign.isprintable() or sign.isspace() for sign in text):
        return text
    return None
