"""Plugins of ours that run inside an agent: their files, and what they are answered.

Owns the mark by which a file of ours is known, and the one form of answer that all of our plugins obey. Must not know any
agent, nor what a plugin says.
"""

from __future__ import annotations

from tallystick.agents.hooks import SILENT, Payload, Reply, SettingsFile
from tallystick.agents.hooks.asks import answer_to
from tallystick.errors import FormatError
from tallystick.model.decision import Decision
from tallystick.seal.canonical import canonical

MARK = "Tallystick records what this agent does"
_HEAD_BYTES = 200


def is_ours(content: bytes) -> bool:
    """Whether a file was made here: its first lines say so."""
    return MARK.encode() in content[:_HEAD_BYTES]


def hooked(content: bytes, events: tuple[str, ...]) -> tuple[str, ...]:
    """All events that a plugin of ours delivers, if the file is one."""
    if is_ours(content):
        return events
    return ()


def replaced(file: SettingsFile, content: bytes, made: bytes) -> bytes:
    """What a file of ours is made to hold.

    Raises: FormatError: a file of that name is there, and is someone else's.
    """
    if content.strip() and not is_ours(content):
        raise FormatError(f"{file.path} is not ours", hint="move it away, then install again")
    return made


def emptied(content: bytes) -> bytes:
    """Nothing, if the file is ours; else what it holds."""
    if is_ours(content):
        return b""
    return content


def reply(agent: str, payload: Payload, decision: Decision) -> Reply:
    """`{"deny": reason}` or `{"ask": reason}`: what a plugin makes its agent's own refusal or question of."""
    answer = answer_to(agent, payload, decision)
    if answer is None:
        return SILENT
    return Reply(stdout=canonical({answer.effect.value: answer.reason or "refused by policy"}))
