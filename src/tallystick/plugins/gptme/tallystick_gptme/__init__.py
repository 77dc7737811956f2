"""The plugin of gptme. Its name, its package's and its entry point's agree as far as gptme's allowlist needs it."""

from __future__ import annotations

from typing import Any

NAME = "tallystick"


def plugin() -> Any:
    """The manifest that gptme asks the entry point for."""
    from gptme.plugins import GptmePlugin

    from . import commands, hooks

    return GptmePlugin(name=NAME, register_hooks=hooks.register, register_commands=commands.register)
