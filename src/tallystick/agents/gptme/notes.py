"""What the text of a gptme system message says: a call's outcome, or a note that belongs to no call.

Owns the openings and endings of messages that gptme writes itself. Must not know steps, nor which call is meant.
"""

from __future__ import annotations

import re

FAILED_REQUEST = "LLM request failed:"
"""How gptme reports that the model did not answer."""

# What gptme puts between a call and its result, told by how it begins.
_NOTE = re.compile(
    r"<(?:system|budget|workspace-|agent-)|# Relevant Lessons|Loaded agent instructions from |<!-- gptme-"
    r"|\[INJECTION BLOCKED|\[UNTRUSTED|⚠️|📂 Workspace|Interrupted by user|Stopped: reached max steps"
    r"|LLM request failed:"
)
_NOTIFICATION = re.compile("[✅❌⏱❓⏳]\ufe0f? ?Subagent ")

_RETURN_CODE = re.compile(r"^Return code: (-?\d{1,10})\s*\Z", re.MULTILINE)
_RAN = re.compile(r"Ran (?:allowlisted )?command\b")
_FAILED = re.compile(r"Error\b|Command (?:timed out|interrupted|killed)|Patch failed|Atomic patch aborted")
_RAISED = re.compile(r"^Exception during execution on line ", re.MULTILINE)
_WORKED = re.compile(r"Saved to |Appended to |Patch successfully applied|Executed code block|Task complete\b")


def outcome(text: str) -> tuple[bool | None, int | None]:
    """Whether a call succeeded and its exit code, as far as the text of its result says."""
    code = _RETURN_CODE.search(text)
    if code:
        return int(code[1]) == 0, int(code[1])
    if _RAN.match(text):  # gptme mentions only codes other than 0
        return True, 0
    if _FAILED.match(text) or (text.startswith("Executed code block") and _RAISED.search(text)):
        return False, None
    if _WORKED.match(text):
        return True, None
    return None, None


def is_note(text: str) -> bool:
    """Whether a message is not a result of a call, whatever call waits for one."""
    return is_notification(text) or _NOTE.match(text) is not None


def is_notification(text: str) -> bool:
    """Whether a message tells how a sub-agent fares."""
    return _NOTIFICATION.match(text) is not None


def is_automatic(prompt: str) -> bool:
    """Whether gptme wrote a prompt itself, to keep the model going."""
    return prompt.startswith("<system>")
