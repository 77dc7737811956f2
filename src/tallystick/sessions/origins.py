"""How a session began, as its journal seals it.

Owns what is read off its first entry and the entry of the parent that it belongs to. Must not know where journals are.
Sources: docs/format.md 7; the relations that the readers of histories note in `session_start`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, SessionKind
from tallystick.sessions.provenance import Entry, Kind, Link

_RELATIONS = {
    "compression": Kind.CONTINUATION,
    "rollover": Kind.CONTINUATION,
    "branch": Kind.BRANCH,
    "delegate": Kind.DELEGATE,
    "tool": Kind.TOOL,
    "other": Kind.OTHER,
}
_KINDS: Mapping[str, Kind] = {
    SessionKind.ROOT: Kind.ROOT,
    SessionKind.CHILD: Kind.DELEGATE,
    SessionKind.CONTINUATION: Kind.CONTINUATION,
    SessionKind.FORK: Kind.FORK,
}
_SCHEDULED = ("cron", "webhook")


OPENING = "session-opening"
"""The `event` of a `system` step by which a source says of a session what another began it with could not know."""


def is_revised_opening(step: Recorded) -> bool:
    """Whether a step says otherwise than the first entry how its session belongs to others."""
    is_opening = step.type == "system" and step.member("event") == OPENING
    return is_opening and type(step.meta.get("revises")) is int and step.member("kind") is not None


def revised_opening(steps: Iterable[Recorded]) -> Recorded:
    """The first entry of a session, with kind and parent as the newest step that revises it has them.

    Raises: StopIteration: there are no steps.
    """
    each = iter(steps)
    first = next(each)
    for step in each:
        if is_revised_opening(step):
            first = as_revised(first, step)
    return first


def as_revised(first: Recorded, step: Recorded) -> Recorded:
    """The first entry of a session as a step that revises it says."""
    meta = {key: value for key, value in first.meta.items() if key != "parent_source"}
    said = {key: value for key in ("kind", "parent_source") if (value := step.member(key)) is not None}
    parents = tuple(parent for parent in step.parents if "#" in parent)[:1]
    return replace(first, meta=meta | said, parents=parents)


def sealed_parent(first: Recorded) -> tuple[str, str] | None:
    """The journal and the hash of the entry that a session's first entry names; None: it names none."""
    if not first.parents:
        return None
    journal, sharp, digest = first.parents[0].partition("#")
    if sharp:
        return journal, digest
    return None


def claimed_parent(first: Recorded) -> str | None:
    """The agent's own id of the parent that a session claims; None: it claims none, or one of another agent."""
    claim = first.member("parent_source")
    named = None
    if isinstance(claim, dict) and "agent" not in claim:
        named = claim.get("session")
    if isinstance(named, str) and named:
        return named
    return None


def link_of(first: Recorded, parent: str | None, cause: Recorded | None = None, *, task: int | None = None) -> Link:
    """A session's link.

    Args: first: its first entry. parent: what links name its parent by; None: it has none. cause: the entry that it
    belongs to, if it can be read. task: which task of the call it works on.
    """
    sealed = sealed_parent(first)
    began = None
    if sealed is not None and parent is not None:
        began = _entry(sealed, cause)
    return Link(
        kind=_kind(first, parent),
        parent=parent,
        reason=_reason(first, cause) if parent is not None else None,
        call=_call(cause) if cause is not None and parent is not None else None,
        task=task,
        claimed=parent is not None and began is None,
        name=_text(first.member("source_session")),
        agent=_text(first.member("agent")),
        journal=first.session,
        began=began,
    )


def _entry(sealed: tuple[str, str], cause: Recorded | None) -> Entry:
    journal, digest = sealed
    if cause is None:
        return Entry(journal=journal, hash=digest)
    return Entry(journal=journal, hash=digest, n=cause.n, type=cause.type)


def _kind(first: Recorded, parent: str | None) -> Kind:
    """The agent's own word for it, where the journal has it and it is about this edge."""
    kind, relation = _text(first.member("kind")), _text(first.member("relation"))
    if kind == SessionKind.ROOT or kind is None:
        is_scheduled = parent is None and first.member("surface") in _SCHEDULED
        if is_scheduled:
            return Kind.SCHEDULED
        return Kind.ROOT
    if first.member("relation_by") == "copies":
        return Kind.FORK
    if relation in _RELATIONS:
        return _RELATIONS[relation]
    return _KINDS.get(kind, Kind.OTHER)


def _reason(first: Recorded, cause: Recorded | None) -> str | None:
    """Why it began, in its agent's word."""
    told = (cause.member("reason") if cause is not None else None, first.member("relation"), first.member("reason"))
    return next((text for text in told if isinstance(text, str)), None)


def _call(cause: Recorded) -> str | None:
    """The agent's id of the call that began it: what it belongs to is the call, or the start of a sub-agent that names it."""
    if cause.type in ("tool_call", "tool_result", "subagent_start"):
        return _text(cause.member("corr"))
    return None


def task_of(args: Json, goal: str | None) -> int | None:
    """Which of a call's `tasks` has this goal; None where the call gives none, or none like it."""
    tasks = None
    if isinstance(args, dict):
        tasks = args.get("tasks")
    if not isinstance(tasks, list) or not goal:
        return None
    goals = [task.get("goal") if isinstance(task, dict) else task for task in tasks]
    return next((place for place, each in enumerate(goals) if isinstance(each, str) and each and each in goal), None)


def _text(value: Json) -> str | None:
    if isinstance(value, str) and value:
        return value
    return None
