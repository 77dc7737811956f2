"""Words in quotes that are only said, in texts of PowerShell: messages, patterns that are looked for.

Owns which commands take such words. Texts of that language are searched as a whole, and
`git commit -m "Add New-Service"` adds none.
"""

from __future__ import annotations

import re

from tallystick.model.pattern import pattern_of

_MOST_TEXT = 64 << 10
_MOST_BEFORE = 400
_SAYS = pattern_of(
    r"(?im)((?:^|[;|{]|-c(?:ommand)?\s)\s{0,8}(?:write-(?:output|host|verbose|warning|information|error|debug)|echo|git\s{1,4}(?:commit|tag|log|grep)"
    r"|gh\s{1,4}(?:pr|issue)|rg|grep|select-string|sls|findstr)\b)([^\n;|]{1,4000})"
)
_QUOTED = pattern_of(r"\"[^\"$`\n]{0,4000}\"|'[^'\n]{0,4000}'")


def without_talk(text: str) -> str:
    """A text without what is only said in it. A quoted text with a `$` in it may be worked out first, so it stays."""
    if "'" not in text and '"' not in text:
        return text
    text, rest = text[:_MOST_TEXT], text[_MOST_TEXT:]
    # Quotes first: a separator inside of one ends no command.
    return _SAYS.sub(lambda said: said[1] + _QUOTED.sub("''", said[2]), _bare(text)) + rest


def _bare(text: str) -> str:
    """The text with no separators inside of its quotes."""
    return _QUOTED.sub(
        lambda found: re.sub(r"[;|{\n]", " ", found[0]) if _is_message(text, found.start()) else found[0], text
    )


def _is_message(text: str, at: int) -> bool:
    """Whether a quote belongs to a command that only says it, as far as the text before it tells."""
    start = max(0, at - _MOST_BEFORE)
    return _SAYS.search(text[max(start, text.rfind("\n", start, at)) : at + 1]) is not None
