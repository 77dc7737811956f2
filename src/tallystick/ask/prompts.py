"""Who asked for a step, in words: the prompt, or that it was erased; and where it only agrees, what it agreed to.

Owns joining the way up to a prompt with the words that are in the record. The words are people's and agents' own: anyone who
shows them makes them safe first.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph
from tallystick.graph.nodes import RequestNode
from tallystick.graph.prompts import At, Origin, asked_for, prompts_before, said_before
from tallystick.lineage.assents import agreed_to, is_assent
from tallystick.model.request import RequestKind
from tallystick.sessions.wording import ERASED

_LONGEST = 2_000
_WHILE_WORKING = (RequestKind.ANSWER, RequestKind.QUEUED)
"""Kinds of requests that come while the agent works for another one."""


class Prompted(msgspec.Struct, frozen=True, kw_only=True):
    """Whose prompt it was for. `step` None: none is known. `why_not` says why, or why the words of a prompt are not shown.

    Where no human's is known, but what another agent asked for, it is that: `kind` is `task`, and `why_not` is set.

    `agreed_to` is what the agent had said, where the prompt only agrees; `before` the prompt before, where this one is an
    answer or was typed while the agent worked; `task` what another agent asked for.
    """

    step: str | None = None
    session: str | None = None
    agent: str | None = None
    at_ms: int | None = None
    kind: str | None = None
    """A RequestKind."""
    text: str | None = None
    why_not: str | None = None
    agreed_to: str | None = None
    before: str | None = None
    before_step: str | None = None
    task: str | None = None
    is_claimed: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether no prompt of a human is known."""
        return self.step is None or self.kind == RequestKind.TASK


def prompted(graph: Graph, step: At) -> Prompted:
    """Whose prompt a step was taken for. Raises GraphError."""
    return told_prompt(graph, asked_for(graph, step))


def told_prompt(graph: Graph, asked: Origin) -> Prompted:
    """A prompt that was found, in words."""
    prompt, task = asked.prompt, None
    if prompt is None and asked.task is not None and asked.task.prompt is not None:
        prompt = asked.task
    elif asked.task is not None and asked.task.prompt is not None:
        task = asked.task.prompt[:_LONGEST]
    if prompt is None:
        return Prompted(why_not=asked.why_not, is_claimed=asked.is_claimed)
    why_not, agreed = asked.why_not, None
    if prompt.is_erased:
        why_not = ERASED
    elif prompt.prompt is None:
        why_not = f"(a {prompt.kind or RequestKind.PROMPT} without text)"
    elif is_assent(prompt.prompt):
        said = said_before(graph, prompt)
        if said is not None:
            agreed = agreed_to(prompt.prompt, said)[:_LONGEST] or None
    before = None
    if agreed is None and prompt.kind in _WHILE_WORKING:
        before = _asked_before(graph, prompt)
    return Prompted(
        step=f"{prompt.session}:{prompt.n}",
        session=prompt.session,
        agent=prompt.agent,
        at_ms=prompt.created_at_ms,
        text=None if prompt.is_erased else prompt.prompt,
        kind=prompt.kind,
        why_not=why_not,
        agreed_to=agreed,
        before=None if before is None else before.prompt,
        before_step=None if before is None else f"{before.session}:{before.n}",
        task=task,
        is_claimed=asked.is_claimed,
    )


def _asked_before(graph: Graph, prompt: RequestNode) -> RequestNode | None:
    """The prompt that the agent worked for when another one came."""
    for found in prompts_before(graph, prompt):
        if found.kind not in _WHILE_WORKING and not is_assent(found.prompt or ""):
            return found
    return None
