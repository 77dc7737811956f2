"""Who says what Gemini CLI hands on as a prompt.

Owns how the words begin that no person typed. Must not know whether a hook or a chat has them.
"""

from __future__ import annotations

_INJECTED = ("<session_context>", "<hook_context>")


def origin_of(text: str, *, is_child: bool = False) -> str | None:
    """Where a prompt comes from; None: a person typed it. `is_child`: it is a sub-agent's."""
    start = text.lstrip()
    if start.startswith(_INJECTED):
        return "injected"
    if is_child:
        return "parent"
    if start.startswith("/"):
        return "command"
    return None
