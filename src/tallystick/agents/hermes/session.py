"""A session of Hermes while it is read, and the events that its own rows become.

Owns what later sessions may ask of an earlier one, the opening, the usage and the end. Must not read rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents.hermes.context import Carry, History, flat_text
from tallystick.agents.hermes.rows import MessageRow, SessionRow, UsageRow, uncounted
from tallystick.agents.hermes.steps import CallIds, Speaker
from tallystick.agents.hermes.tree import KINDS, Relation, parent_id
from tallystick.agents.kit.columns import known, moment
from tallystick.model.step import Json, Opening, Ref, SessionKind, Step

NAME = "hermes"


class Session(msgspec.Struct):
    """What is known of a session."""

    row: SessionRow
    relation: Relation | None = None
    parent: Session | None = None
    history: History = msgspec.field(default_factory=History)
    calls: CallIds = msgspec.field(default_factory=CallIds)
    usage: list[UsageRow] = []
    goals: list[tuple[str, Ref]] = []
    """Goals given to sub-agents that have not been met yet, and the calls that gave them."""
    delegations: dict[str, str] = {}
    """The results that announced background delegations."""
    generation: int = 0
    """How often the context was compacted in place."""
    begins: int = 0
    """Where in `history` the present context begins."""
    carry: Carry | None = None
    extra: tuple[Ref, ...] = ()
    """What the next step follows from besides the step before it: the last message that was kept."""
    rewound: list[str] = []
    """Messages that were taken back since the last that was not."""
    live: str | None = None
    """The last step that was not taken back."""
    last: MessageRow | None = None
    sees_all: bool = True
    """Whether all that the model is given has steps of its own in this session."""
    is_open: bool = False
    is_closed: bool = False

    @property
    def name(self) -> str:
        """The session as it is recorded now."""
        return self.name_of(self.generation)

    def name_of(self, generation: int) -> str:
        """The session as it was recorded after so many compactions in place."""
        if generation:
            return f"{self.row.id}~{generation}"
        return self.row.id

    @property
    def compaction_id(self) -> str:
        """The source id of the compaction that ended this session."""
        return f"compaction@{moment(self.row.ended) or 'end'}"

    def speaker(self, *, is_first: bool, is_summary: bool) -> Speaker:
        """What the session says about a message of it."""
        models = {usage.model for usage in self.usage if not usage.task}
        return Speaker(
            session=self.name,
            surface=self.row.surface,
            model=models.pop() if len(models) == 1 else None,
            is_child=self.relation is Relation.DELEGATE or self.row.surface == "subagent",
            is_first=is_first,
            is_summary=is_summary,
            sees_all=self.sees_all,
        )


def opening(session: Session, parent: Ref | None, schema: Json) -> Opening:
    """The opening of a session, under the step that it belongs to."""
    row, how = session.row, session.relation
    if parent is None and how is not None:
        parent = _parent_step(session)
    meta: dict[str, Json] = {
        "surface": row.surface,
        "model": row.model,
        "relation": how.value if how is not None else None,
        "relation_by": "copies" if how is not None and parent_id(row) is None else None,
        "schema": schema,
    }
    values: dict[str, Any] = {
        "personal.cwd": row.cwd,
        "personal.origin": row.origin or None,
        "content.branch": row.branch,
        "content.repository": row.repository,
        "content.title": row.title,
        "content.config": row.config or None,
    }
    return Opening(
        session=session.name,
        agent=NAME,
        kind=KINDS[how] if how is not None else SessionKind.ROOT,
        parent=parent,
        ts=moment(row.started),
        meta=known(meta),
        values=known(values),
    )


def _parent_step(session: Session) -> Ref | None:
    """The step of the parent that a session belongs to; where nothing says which, its last one."""
    parent = session.parent
    if parent is None:
        named = parent_id(session.row)
        if named is None:
            return None
        return Ref(None, named)
    if session.relation is Relation.COMPRESSION:
        return Ref(parent.compaction_id, parent.name)
    if session.relation is Relation.DELEGATE and parent.goals:
        return _spawning_call(parent, session.last)
    return Ref(None, parent.name)


def _spawning_call(parent: Session, prompt: MessageRow | None) -> Ref:
    """The call that gave a sub-agent its goal: the first that gave this one, else the last that gave any."""
    text = ""
    if prompt is not None:
        text = flat_text(prompt.content)
    for place, (goal, call) in enumerate(parent.goals):
        if text.startswith(goal):
            del parent.goals[place]
            return call
    return parent.goals[-1][1]


def closing_steps(session: Session) -> Iterator[Step]:
    """What stands at the end of a session as it was recorded first: its usage, task by task, and its title."""
    row = session.row
    for place, usage in enumerate(session.usage):
        yield _usage_step(row.id, f"usage/{place}", usage)
    rest = uncounted(row, session.usage)
    if rest is not None:
        yield _usage_step(row.id, "usage/session", rest)
    if row.title is not None:
        values = {"content.title": row.title}
        yield Step(session=row.id, type="system", source_id="title", values=values)


def _usage_step(session: str, source_id: str, usage: UsageRow) -> Step:
    meta: dict[str, Json] = {
        "model": usage.model,
        "task": usage.task or "main",
        "tokens": usage.tokens or None,
        "calls": usage.calls,
        "cost_microusd": usage.cost_microusd,
        "provider": usage.provider,
        **usage.meta,
    }
    return Step(
        session=session,
        type="usage",
        source_id=source_id,
        ts=moment(usage.last),
        meta=known(meta),
        values={"content.url": usage.url} if usage.url else {},
    )


def ending_steps(session: Session) -> Iterator[Step]:
    """How a session ended, if it did. A later end of a session that went on has another source id."""
    for generation in range(session.generation):
        name = session.name_of(generation)
        yield Step(session=name, type="session_end", source_id="end", meta={"reason": "compaction"})
    row = session.row
    if row.ended is None and row.end_reason is None:
        return
    ts = moment(row.ended)
    if row.end_reason == "compression":
        mode: dict[str, Json] = {"mode": "rotation"}
        yield Step(session=session.name, type="compaction", source_id=session.compaction_id, ts=ts, meta=mode)
    meta: dict[str, Json] = {"reason": row.end_reason or "unknown", **row.counts}
    yield Step(session=session.name, type="session_end", source_id=f"end@{ts or 'unknown'}", ts=ts, meta=meta)
