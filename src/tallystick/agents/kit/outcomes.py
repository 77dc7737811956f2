"""How a call ended, by the exit code of its command.

Owns the rule that a command with another code than 0 has failed, whatever its agent calls that, and finding the code in a
text that reports one. Must not know which agent writes which text.
"""

from __future__ import annotations

import re

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import text_of
from tallystick.model.step import Json

_EDGE_CHARS = 200
"""A report stands before or after an output; what lies between is the output's own words."""
CODE_LINE = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE | re.ASCII)
"""How the shell tools of Gemini CLI and Qwen Code report a code."""


def ended(success: Json, code: int | None) -> dict[str, Json]:
    """The members of `meta` that say how a call ended: what its agent says, and what the code means."""
    if code is not None and code != 0:
        success = False
    elif code == 0 and not isinstance(success, bool):
        success = True
    return known({"success": success, "exit_code": code})


def code_after(output: Json, pattern: re.Pattern[str]) -> int | None:
    """The code that the end of an output reports, the last one of several; None if it reports none."""
    return _code(pattern.findall((text_of(output) or "")[-_EDGE_CHARS:]))


def code_before(output: Json, pattern: re.Pattern[str]) -> int | None:
    """The code that the beginning of an output reports; None if it reports none."""
    return _code(pattern.findall((text_of(output) or "")[:_EDGE_CHARS]))


def _code(found: list[str]) -> int | None:
    if found:
        return int(found[-1])
    return None
