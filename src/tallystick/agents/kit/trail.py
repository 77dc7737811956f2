"""Where each step of a transcript belongs in the graph, for readers whose files mix two kinds of lines.

Owns the difference between the steps that a model is shown (prompts, answers, calls, results: the trail) and those
beside it (hook runs, commands inside a script, what a sub-agent's start left behind). Must not know any agent's format.
"""

from __future__ import annotations

import msgspec

from tallystick.model.step import Ref, Step


class Trail:
    """The end of the trail of each session, and the step yielded last there, which is what steps follow by default."""

    def __init__(self) -> None:
        self._ends: dict[str, str | None] = {}
        self._last: dict[str, str | None] = {}

    def along(self, step: Step, *, answers: str | None = None) -> Step:
        """`step` at the end of the trail; `answers` names the call that it is the result of.

        The results of parallel calls follow one another, so that the trail holds everything the next model call is
        given; such a result has its call as the second parent.
        """
        end = self._ends.get(step.session)
        parents: tuple[str, ...] = ()
        if answers is not None:
            if end in (None, answers):
                parents = (answers,)
            else:
                parents = str(end), answers
        elif end is not None and end != self._last.get(step.session):
            parents = (end,)
        self._ends[step.session] = step.source_id
        return self._placed(step, parents)

    def beside(self, step: Step, *, of: str | None = None) -> Step:
        """`step` off the trail: after the step `of`, else after whatever was yielded last."""
        return self._placed(step, () if of is None else (of,))

    def end(self, session: str) -> str | None:
        """The source id of the last step on the trail of `session`."""
        return self._ends.get(session)

    def turn_back(self, session: str, source_id: str | None) -> None:
        """Let the trail of `session` go on from an earlier step: what came after it was taken back."""
        self._ends[session] = source_id

    def _placed(self, step: Step, parents: tuple[str, ...]) -> Step:
        self._last[step.session] = step.source_id
        if not parents or step.after:
            return step
        return msgspec.structs.replace(step, after=tuple(Ref(parent) for parent in parents))
