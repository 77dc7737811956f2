"""Settings in which an editor lets agents and tasks act unasked.

Owns the names of these settings. Must not know which files hold them, nor who writes them. Sources: the settings references
of Visual Studio Code and of the editors made from it (chat, tasks, workspace trust).
"""

from __future__ import annotations

import re

TAG = "acts-unasked"
"""What a text is tagged with that switches asking off."""
_NAME = (
    r"chat\.(?:[\w.]{1,60}\.)?autoapprove|chat\.autopilot[\w.]{0,40}|"
    r"[\w-]{1,60}\.(?:[\w.]{1,60}\.)?(?:autoapprove|yolo(?:mode)?|autorun|autoexecution\w{0,20}|alwaysallow\w{0,20})|"
    r"task\.allowautomatictasks|security\.workspace\.trust\.enabled"
)
_VALUE = r"true|false|\{[^}]{0,400}|[\"'](?:on|always|turbo|all)[\"']"
_SETTING = re.compile(rf"[\"'](?:{_NAME})[\"']\s{{0,20}}:\s{{0,20}}({_VALUE})")
_MOST = 256 << 10


def switches_of(text: str) -> frozenset[str]:
    """TAG, if settings let agents or tasks act unasked."""
    for found in _SETTING.finditer(text[:_MOST].lower()):
        is_trust = "workspace.trust" in found[0]
        if (found[1] == "false") is is_trust:
            return frozenset((TAG,))
    return frozenset()
