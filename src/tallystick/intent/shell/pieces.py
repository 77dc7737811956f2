"""A script that is too long to be read in one go, in pieces that can be.

Owns where a shell text may be cut: between statements, as far as its lines show them. Must not know the grammar. Pieces are
read one by one, so that what one of them sets is not known in the next: they tell less than the whole would.
"""

from __future__ import annotations

import re

_MOST_PIECES = 16
_LONG = 7_000
_LONGEST = 15_000
_MOST_SIGNS = 300
_MOST_LINES = 200
_SIGNS = re.compile(r"[|()<>{$\[&]")
_BEGINS = re.compile(r"[A-Za-z_./\"'$\[(]")
_GOES_ON = re.compile(r"(?:then|do|else|elif|fi|done|esac|in)\b")
_ENDED = re.compile(r"(?:\}|fi|done|esac|\)|;;)?\s*(?:#.*)?")


def pieces(text: str) -> tuple[list[str], bool]:
    """The pieces of a text without its comments, and whether they are all of it."""
    found: list[str] = []
    lines: list[str] = []
    size = signs = 0
    before = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            before = ""
            continue
        is_over = size > _LONG or signs > _MOST_SIGNS or len(lines) > _MOST_LINES
        if (is_over and lines and _may_begin(line, before)) or size > _LONGEST:
            found.append("\n".join(lines))
            lines, size, signs = [], 0, 0
            if len(found) >= _MOST_PIECES:
                return found, False
        lines.append(line)
        size += len(line) + 1
        signs += len(_SIGNS.findall(line))
        before = line
    return [*found, "\n".join(lines)] if lines else found, True


def _may_begin(line: str, before: str) -> bool:
    """Whether a statement may begin with a line."""
    is_begun = _BEGINS.match(line) is not None and _GOES_ON.match(line) is None
    return is_begun and (_ENDED.fullmatch(before) is not None or not before.endswith(("\\", "|", "&&", "||", "(", "{")))
