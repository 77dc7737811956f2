"""How a command of ours, a module of ours or the address of our port is known in settings that people keep.

Owns these marks. Must not know which settings they are in, nor whether a file is there.
"""

from __future__ import annotations

import re
import shlex

from tallystick.catalog.agents import AGENTS

_URL = re.compile(r"http://127\.0\.0\.1:\d{1,5}/hook/[a-z][a-z-]*")
_SCRIPT = "/tallystick/hook.py"
_PLUGINS = tuple(
    f"plugins/{facts.hooks.plugin_module}"
    for facts in AGENTS.values()
    if facts.hooks is not None and facts.hooks.plugin_module
)
_MODULE = re.compile(rf"""/[^"'`\n]*?/tallystick/(?:{"|".join(map(re.escape, ("hook.py", *_PLUGINS)))})(?![\w.])""")


def is_ours(command: str) -> bool:
    """Whether a shell command calls our hook, wherever Tallystick was installed when it was written."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return "-I" in words and any(word.endswith(_SCRIPT) for word in words[words.index("-I") :])


def names_store(command: str) -> bool:
    """Whether a shell command of ours says where the store is; else its environment does, which an agent may change."""
    return " --home " in command


def is_our_url(url: str) -> bool:
    """Whether an address is that of a recorder's hooks, on whatever port it listened when it was written."""
    return _URL.fullmatch(url) is not None


def calls_by_http(settings: bytes) -> bool:
    """Whether settings call a recorder's port, whatever their format."""
    return _URL.search(settings.decode("utf-8", "replace")) is not None


def module_paths(settings: bytes) -> tuple[tuple[str, ...], ...]:
    """The modules of ours that settings name, whatever their format: the hook, or the plugin that an agent loads.

    Returns:
        A tuple a place, each with the paths that may be meant there, the longest first: a path may hold spaces, and words
        of a command may stand before it.
    """
    found: dict[tuple[str, ...], None] = {}
    for match in _MODULE.finditer(settings.decode("utf-8", "replace")):
        text = match[0]
        starts = [0, *(at.end() - 1 for at in re.finditer(r"[\s\[(,=]/", text))]
        found.setdefault(tuple(text[start:] for start in starts))
    return tuple(found)
