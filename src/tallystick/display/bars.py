"""Small bars, for people who would rather look than read.

Owns how long one is. Must not know what it stands for.
"""

from __future__ import annotations

_EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 12


def bar(part: int, whole: int, width: int = WIDTH) -> str:
    """`part` of `whole` as a bar of at most `width` columns, in eighths; whatever is more than nothing can be seen."""
    if part <= 0 or whole <= 0:
        return ""
    eighths = max(min(part, whole) * width * 8 // whole, 1)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
