"""The form in which these tests write down what a call does."""

from __future__ import annotations

from typing import Any

from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import ToolCall, Uses
from tallystick.model.intent import Domain, Intent

PATCH = """*** Begin Patch
*** Add File: new.txt
+one
+two
*** Update File: old.txt
@@
-x
+y
*** Delete File: gone.txt
*** Update File: before.txt
*** Move to: after.txt
@@
-x
+y
*** End Patch
"""


def uses(tool: str, args: Any, **more: str) -> Uses:
    """What a call does that was made in /w by a user whose home is /home/dev."""
    return uses_of(ToolCall(tool=tool, args=args, folder="/w", home="/home/dev", **more))


def lines(found: Uses) -> list[str]:
    """Each intent in a line: what is done, in which domain unless it is a file, the target; `?` if that is not known."""
    return [_line(intent) for intent in found.intents]


def _line(intent: Intent) -> str:
    domain = "" if intent.domain is Domain.FILE else f"{intent.domain} "
    marks = (" deep" if intent.is_deep else "") + (" authored" if intent.is_authored else "")
    return f"{domain}{intent.operation} {intent.target}{'' if intent.is_known else '?'}{marks}"
