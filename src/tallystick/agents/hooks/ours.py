"""How a command of ours, or the address of our port, is known in settings that people keep.

Owns these marks. Must not know where they stand.
"""

from __future__ import annotations

import re
import shlex

_URL = re.compile(r"http://127\.0\.0\.1:\d{1,5}/hook/[a-z][a-z-]*")
_SCRIPT = "/tallystick/hook.py"


def is_ours(command: str) -> bool:
    """Whether a shell command calls our hook, wherever Tallystick was installed when it was written."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return "-I" in words and any(word.endswith(_SCRIPT) for word in words[words.index("-I") :])


def is_our_url(url: str) -> bool:
    """Whether an address is that of a recorder's hooks, on whatever port it listened when it was written."""
    return _URL.fullmatch(url) is not None


def calls_by_http(settings: bytes) -> bool:
    """Whether settings call a recorder's port, whatever their format."""
    return _URL.search(settings.decode("utf-8", "replace")) is not None
