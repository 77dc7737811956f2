"""Secrets that a text names, where it is unknown what is done with them: prompts, code, commands for another machine.

Owns finding paths in text, also in base64. Must not know where texts come from, nor which names are secrets (`kinds` does).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from tallystick.model.paths import placed
from tallystick.policy.kinds.secrets import is_secret

_MOST_CHARACTERS = 64 << 10
_MOST_TOKENS = 2000
_TOKEN = re.compile(r"(?:\$\{?HOME\}?|\$env:USERPROFILE|%USERPROFILE%|~[\w-]*)?[\w.@+*?%\\/\[\]-]{2,300}")
_HOME = re.compile(r"(?:\$\{?HOME\}?|\$env:USERPROFILE|%USERPROFILE%)(?=[\\/]|$)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,4000}={0,2}")
_MOST_DECODED = 20
_LIKELY = ("/", "\\", ".env", "id_", ".netrc", ".pgpass", ".pypirc", ".npmrc", "_history", "credentials", ".key")


def secrets_in(text: str, *, home: str, folder: str | None) -> Iterator[str]:
    """The secrets that a text names by their paths, as they are spelled."""
    yield from (token for _, token in places_in(text, home=home, folder=folder))


def places_in(text: str, *, home: str, folder: str | None) -> Iterator[tuple[int, str]]:
    """The same with where they begin."""
    cut = text[:_MOST_CHARACTERS]
    if not any(part in cut for part in _LIKELY):
        return
    for n, found in enumerate(_TOKEN.finditer(cut)):
        if n >= _MOST_TOKENS:
            return
        token = found[0].rstrip(".")
        if _names_secret(token, home, folder):
            yield found.start(), token


def secrets_encoded_in(text: str, *, home: str, folder: str | None) -> Iterator[str]:
    """The secrets that base64 in a text names."""
    for n, found in enumerate(_BASE64.finditer(text[:_MOST_CHARACTERS])):
        if n >= _MOST_DECODED:
            return
        yield from secrets_in(_decoded(found[0]), home=home, folder=folder)


def _names_secret(token: str, home: str, folder: str | None) -> bool:
    if not any(part in token for part in _LIKELY):
        return False
    path = _HOME.sub(lambda _: home, token, count=1)
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    path = path.replace("\\", "/")
    return is_secret(placed(path, folder), home)


def _decoded(text: str) -> str:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "ignore")
    except (binascii.Error, ValueError):
        return ""
