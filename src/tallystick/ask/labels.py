"""What a node of the graph is, in a few words, for lines of a tree and for boxes of a picture.

Owns which of a node's values says most about it. The words are the agents' own: anyone who shows them makes them safe
first.
"""

from __future__ import annotations

import orjson

from tallystick.graph.nodes import ArtifactNode, Node, RequestNode, SessionNode, StepNode
from tallystick.graph.resources import Named, shown_name
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_TELLING = ("command", "path", "url", "uri", "query", "pattern", "prompt", "description", "resource")
_SAID = ("content.text", "content.label", "content.goal", "content.reason", "content.error", "content.args")
_CALLS = ("tool_call", "tool_result")
_DECIDING = ("decision", "action", "verdict", "decided_by", "check_path", "check", "decision_reason", "skip_reason")
_LONGEST = 500


def title_of(node: Node | None, said: str | None = None) -> str:
    """What a node is called: a path, a tool and what it was asked, a prompt, a session's title.

    Args:
        said: what its step says in the journal, where the index has no words for it.
    """
    match node:
        case ArtifactNode():
            return shown_name(Named(node.kind, node.uri))
        case StepNode():
            words = said or _asked(node.asked) or _asked(node.effect)
            return " ".join(word for word in (_kind(node), words) if word)
        case RequestNode():
            return node.prompt or node.title or "(no prompt of a human)"
        case SessionNode():
            return node.title or "(no prompt)"
        case None:
            return "not recorded"


def _kind(node: StepNode) -> str:
    """The tool of a call, else the type of the step."""
    if node.type == "file_effect":
        return "effect"
    if node.type in _CALLS:
        return node.tool or node.type
    return node.type


def _asked(text: str | None) -> str:
    """What a call was asked, from its input as the index keeps it; the input may be cut."""
    if not text:
        return ""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text[:_LONGEST]
    if isinstance(said, dict):
        return telling(said)
    return str(said)[:_LONGEST]


def telling(said: dict[str, Json]) -> str:
    """The value that says most about what was asked."""
    for name in _TELLING:
        value = said.get(name)
        if isinstance(value, str) and value:
            return value[:_LONGEST]
    changes = said.get("changes")
    if isinstance(changes, list):
        paths = [str(change.get("path", "")) for change in changes[:5] if isinstance(change, dict)]
        return ", ".join(paths)[:_LONGEST] + (" …" if len(changes) > 5 else "")
    return ""


def said_by(step: Recorded) -> str:
    """What a step says, where it is not a call: its text, or why it was decided so."""
    words = [word for name in _DECIDING if isinstance(word := step.member(name), str)]
    for name in _SAID:
        value = step.values.get(name)
        if isinstance(value, str) and value:
            words.append(value)
            break
        if isinstance(value, dict) and telling(value):
            words.append(telling(value))
            break
    return ": ".join(words)[:_LONGEST]
