"""Whether a pattern of the shell is meant for a name.

Owns that judgement. `.ss?` and `id_*` are meant for `.ssh` and `id_rsa`; `*` and `*.json` match much, so they are meant for
nothing by name. Which files a pattern really matches is looked up elsewhere, where there are files.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tallystick.model.pattern import pattern_of

_WILD = pattern_of(r"[*?\[{]")
_PARTS = pattern_of(r"\[[^\]]{1,40}\]|\{[^}]{1,200}\}|[*?]")
_LONGEST = 120


def has_wildcards(text: str) -> bool:
    """Whether a text is a pattern."""
    return _WILD.search(text) is not None


@lru_cache(maxsize=8192)
def may_name(pattern: str, name: str) -> bool:
    """Whether one part of a pattern matches one part of a path, and says enough of it: at least half."""
    if len(pattern) > _LONGEST or (name.startswith(".") and not pattern.startswith((".", "[", "{"))):
        return False
    spoken = len(_PARTS.sub("", pattern))
    if spoken * 2 < len(name):
        return False
    found = _compiled(pattern)
    return found is not None and found.fullmatch(name) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern as a regular expression; None for one with too many stars to be matched in little time."""
    if pattern.count("*") > 4:
        return None
    said, at = [], 0
    for found in _PARTS.finditer(pattern):
        said += [re.escape(pattern[at : found.start()]), _part(found[0])]
        at = found.end()
    try:
        return re.compile("".join((*said, re.escape(pattern[at:]))))
    except re.error:
        return None


def _part(text: str) -> str:
    match text[0]:
        case "*":
            return ".*"
        case "?":
            return "."
        case "[":
            inner = text[1:-1]
            is_none_of = inner[:1] in ("!", "^")
            return f"[{'^' if is_none_of else ''}{_of_class(inner[1:] if is_none_of else inner)}]"
        case _:
            return f"(?:{'|'.join(re.escape(choice) for choice in text[1:-1].split(','))})"


def _of_class(text: str) -> str:
    return text.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
