"""How a command of ours is known in settings that people keep.

Owns that mark. Must not know where commands stand.
"""

from __future__ import annotations

import shlex

_SCRIPT = "/tallystick/hook.py"


def is_ours(command: str) -> bool:
    """Whether a shell command calls our hook, wherever Tallystick was installed when it was written."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return "-I" in words and any(word.endswith(_SCRIPT) for word in words[words.index("-I") :])
