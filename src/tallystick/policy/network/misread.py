"""Addresses that people read as those of another host than a program does.

Owns how that is done: another host's name before an `@`, marks that turn the direction of writing, letters of one script
among those of another, and names in nothing but letters that look like Latin ones. Must not know what is fetched.
Sources: the WHATWG URL Standard, "Host parsing"; Unicode UTS 39, section 5; RFC 3492 (punycode).
"""

from __future__ import annotations

import re
import unicodedata

from tallystick.model.pattern import pattern_of

_TURNS = pattern_of("[\u202a-\u202e\u2066-\u2069]")
_USER = pattern_of(r"https?:[/\\\\]+([^/?#@\\\\]{1,300})@", re.IGNORECASE)
_HOST_AS_USER = pattern_of(
    r"(?:[\w-]+\.)+(?:com|org|net|io|dev|app|gov|edu|ai|co|[a-z]{2})(?:%2f.*|:\d*)?|.*%2f.*", re.IGNORECASE
)
_LOOK_LATIN = frozenset(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf"
    "\u03b1\u03bf\u03c1\u03c5\u03bd\u03b9"
)
"""Small letters of Cyrillic and Greek that are drawn like Latin ones."""


def is_misread(target: str, host: str) -> bool:
    """Whether the host of a target, made clear, is none that people would read there."""
    if target.isascii() and "@" not in target and "xn--" not in host:
        return False
    user = _USER.match(target.strip())
    if user is not None and _HOST_AS_USER.fullmatch(user[1]) is not None:
        return True
    return _TURNS.search(target) is not None or any(map(_misleads, host.split(".")))


def _misleads(label: str) -> bool:
    """Whether a part of a name mixes scripts, or looks Latin and is not."""
    letters = [letter for letter in _decoded(label) if letter.isalpha()]
    foreign = [letter for letter in letters if not letter.isascii()]
    if not foreign:
        return False
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1 or _LOOK_LATIN.issuperset(letters)


def _decoded(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
