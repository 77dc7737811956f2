"""The text of a recorded value: what a person would search for in it, and what a model was shown of it.

Owns how a value becomes text, and how much of it is looked at. Must not know what the text is for.
"""

from __future__ import annotations

from tallystick.model.step import Json

CUT_CHARACTERS = 65_536
"""Of each value only so much is text."""


def plain_text(value: Json) -> str:
    """The strings and numbers in a value, one a line, without the names of members: what a person would search for."""
    if isinstance(value, str):
        return value[:CUT_CHARACTERS]
    found: list[str] = []
    length = 0
    waiting = [value]
    while waiting and length < CUT_CHARACTERS:
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item)
            length += len(item) + 1
        elif isinstance(item, dict):
            waiting.extend(reversed([*item.values()]))
        elif isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, int | float) and not isinstance(item, bool):
            found.append(str(item))
            length += len(found[-1]) + 1
    return "\n".join(found)[:CUT_CHARACTERS]
