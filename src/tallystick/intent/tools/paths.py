"""Paths and URLs as tools are given them → the names that the graph knows them by.

Owns `file:` URLs, the home folder's short names, and what is not a path at all. Must not know which tool it is for, nor how
systems spell paths: `model.paths` does. Nothing is looked up.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of

_MOST = 4096
"""Characters of a path or URL: PATH_MAX of Linux."""
_PLAIN = pattern_of(
    r"/(?!(?:[A-Za-z]|cygdrive|proc|private|mnt|[Uu]sers|System)(?:/|\Z))"
    r"(?:[\w@+,=%~ -][\w.@+,=%~ -]*/)*[\w@+,=%~ -][\w.@+,=%~ -]*",
    re.ASCII,
)
"""Absolute paths that are spelled as they are kept already: most of them. No segment begins with a dot."""
_HOME_FOLDER = pattern_of(r"(?:~|\$\{?HOME\}?|\$env:(?:USERPROFILE|HOME)|%USERPROFILE%)(?=[\\/]|\Z)", re.IGNORECASE)
_URL = pattern_of(r"(?i:https?|wss?|ftps?|file)://", re.ASCII)
_SCHEME = pattern_of(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://")


def absolute(path: str, folder: str | None, home: str | None) -> tuple[str, bool]:
    """The path that is meant, and whether it is known whole.

    `~` becomes `home` if that is known. Without `folder` a relative path stays relative. Overlong text is cut, and what no
    file's name can hold (NUL, half a surrogate) becomes U+FFFD: both are not known whole.
    """
    is_known = True
    if len(path) > _MOST:
        path, is_known = path[:_MOST], False
    if "\0" in path or not path.isascii():
        safe = printable(path)
        path, is_known = safe, is_known and safe == path
    if path[:7].lower() == "file://":
        path = _of_file_url(path)
    if _PLAIN.fullmatch(path):
        return path, is_known
    return _placed(path, folder, home), is_known


@lru_cache(maxsize=1024)
def _placed(path: str, folder: str | None, home: str | None) -> str:
    short = _HOME_FOLDER.match(path)
    if short is None:
        return placed(path, folder)
    rest = path[short.end() :].lstrip("/\\")
    if home:
        return placed(rest, home)
    return f"~/{placed(rest, None)}" if rest.strip(".") else "~"


def _of_file_url(url: str) -> str:
    """The path of a `file:` URL (RFC 8089), whatever host it names."""
    rest = url[7:]
    start = max(rest.find("/"), 0)
    path = printable(unquote(f"/{rest[start:].lstrip('/')}", errors="replace"))
    return path[1:] if path[2:3] == ":" else path  # file:///C:/x


def printable(text: str) -> str:
    """The text with U+FFFD for NUL and for halves of surrogate pairs: what UTF-8 and SQLite can hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can hold it."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_url(text: str) -> bool:
    """Whether it begins like a URL of the web or of a file."""
    return _URL.match(text) is not None


def has_scheme(text: str) -> bool:
    """Whether it begins like any URL."""
    return _SCHEME.match(text) is not None


def web_address(text: str) -> str:
    """A URL as the graph names it: whole, with a scheme, on one line, at most 4096 characters."""
    text = printable(text[:_MOST]).strip()
    if has_scheme(text):
        return text
    return f"http://{text}"
