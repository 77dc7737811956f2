"""The kinds of requests: what makes an agent act.

Owns the vocabulary, and which step of a record opens a request of which kind. A reader of an agent's files, and its hooks,
name the kind in `meta.asks`; a prompt that a person typed needs no word. Must not know how an agent writes one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from tallystick.model.step import Json

ASKS = "asks"
"""The member of `meta` that names the kind."""


class RequestKind(enum.StrEnum):
    """What made an agent act."""

    PROMPT = "prompt"
    """A person typed it."""
    QUEUED = "queued"
    """A person typed it while the agent worked; the agent was given it between two calls."""
    COMMAND = "command"
    """A slash command, the agent's own or one that a person made, which gives the model a prompt."""
    PLAN = "plan"
    """A person approved a plan."""
    ANSWER = "answer"
    """What a person answered to a question of the agent, or said when refusing a call."""
    TASK = "task"
    """What another agent asked for."""
    HOOK = "hook"
    """A hook told the agent to go on."""
    SCHEDULE = "schedule"
    """A scheduler gave it a prompt that was set up before."""
    CONTINUATION = "continuation"
    """No new request: the session goes on with the one before its compaction."""

    @property
    def is_new(self) -> bool:
        """Whether it says in its own words what is wanted; the others go on with the request before."""
        return self not in (RequestKind.HOOK, RequestKind.CONTINUATION)


_KINDS = {str(kind): kind for kind in RequestKind if kind is not RequestKind.CONTINUATION}
_OF_ANOTHER = frozenset(("corroborates", "revises"))
_NOT_TYPED = frozenset(("origin", "corroborates", "revises"))


def opened_kind(type_: str, meta: Mapping[str, Json]) -> RequestKind | None:
    """The kind of the request that a step opens; None if it opens none."""
    if type_ != "user":
        return None
    said = meta.get(ASKS)
    if isinstance(said, str) and said in _KINDS and _OF_ANOTHER.isdisjoint(meta):
        return _KINDS[said]
    if not _NOT_TYPED.isdisjoint(meta):
        return None
    return RequestKind.QUEUED if meta.get("queued") is True else RequestKind.PROMPT
