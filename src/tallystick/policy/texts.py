"""Policy files → policies, each with the line that it begins on.

Owns where one policy ends, so that an error can name a line: the engine names none. Must not know what policies say.
Source: the Cedar reference, "Grammar": a policy ends with `;`; strings are in double quotes; comments run from `//`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|;', re.DOTALL)
_BLANK = re.compile(r"(?:\s+|//[^\n]*)*")


def policies_in(text: str) -> Iterator[tuple[int, str]]:
    """Each policy of a file with the number of the line that it begins on; what stands after the last `;` as well."""
    begin = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            yield _placed(text, begin, token.end())
            begin = token.end()
    if _BLANK.fullmatch(text, begin) is None:
        yield _placed(text, begin, len(text))


def _placed(text: str, begin: int, end: int) -> tuple[int, str]:
    blank = _BLANK.match(text, begin, end)
    start = begin
    if blank is not None:
        start = blank.end()
    return text.count("\n", 0, start) + 1, text[start:end]
