"""Answers that several agents understand in the same form.

Owns their JSON. Must not know when they are given.
"""

from __future__ import annotations

from tallystick.agents.hooks import Reply
from tallystick.seal.canonical import canonical


def permission_reply(effect: str, reason: str) -> Reply:
    """`ask` or `deny` before a tool call, as Claude Code, Codex and Qwen Code read it."""
    said = {
        "hookEventName": "PreToolUse",
        "permissionDecision": effect,
        "permissionDecisionReason": reason,
    }
    return Reply(stdout=canonical({"hookSpecificOutput": said}))
