"""The model calls of a Codex rollout, which Codex writes as what came of them.

Owns the order: a model call stands before the steps it produced, but its usage is written after them, sometimes only
after the tools have run. So one response is held back until its usage is known. Must not know how lines are spelled.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import int_of
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Json, Step


class _Held(msgspec.Struct):
    """A step that waits for the model call before it."""

    step: Step
    answers: str | None = None
    beside: bool = False
    of: str | None = None


class _Response(msgspec.Struct):
    """What one model call produced, so far."""

    call: Step
    held: list[_Held] = []
    answered: bool = False
    """A tool has run: what the model says next belongs to another call."""


class Responses:
    """Puts steps in order and says where they belong. `model`, `run` and `copied` describe the calls to come."""

    def __init__(self) -> None:
        self.trail = Trail()
        self.model: str | None = None
        self.run: str | None = None
        self.copied = False
        self._open: _Response | None = None
        self._unpriced: Step | None = None
        self._total: tuple[Json, ...] = ()

    def produced(self, at: Point, step: Step | None) -> Iterator[Step]:
        """The model produced the item at this point; `step` is what is recorded of it."""
        if self._open is not None and self._open.answered:
            yield from self.flush()
        if self._open is None:
            self._open = _Response(call=self._call(at))
        if step is not None:
            self._open.held.append(_Held(step))

    def answered(self, step: Step, call: str) -> Iterator[Step]:
        """A tool answered `call`."""
        if self._open is None:
            yield self.trail.along(step, answers=call)
        else:
            self._open.answered = True
            self._open.held.append(_Held(step, answers=call))

    def beside(self, step: Step, *, of: str | None = None) -> Iterator[Step]:
        """A step that no model is shown happened, while tools ran."""
        if self._open is None:
            yield self.trail.beside(step, of=of)
        else:
            self._open.held.append(_Held(step, beside=True, of=of))

    def told(self, step: Step) -> Iterator[Step]:
        """Something else came to the model's knowledge: a prompt, an instruction. Ends the response before it."""
        yield from self.flush()
        yield self.trail.along(step)

    def priced(
        self, at: Point, usage: dict[str, Json], total: dict[str, Json], meta: dict[str, Json]
    ) -> Iterator[Step]:
        """The usage of the last model call, which brought the session's to `total`; nothing if that is known."""
        marks = tuple(total.get(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
        if marks == self._total:
            return
        self._total = marks
        if not self.copied:
            meta = {**meta, "tokens": tokens(usage)}
        if self._open is not None:
            self._open.call = _with_meta(self._open.call, meta)
            yield from self.flush()
        elif self._unpriced is not None:
            yield _with_meta(self._unpriced, meta)
        else:  # a call that left no item: a compaction used its answer up, or it was empty
            yield self.trail.along(_with_meta(self._call(at), meta))
        self._unpriced = None

    def flush(self) -> Iterator[Step]:
        """Yield what is held back."""
        response, self._open = self._open, None
        if response is None:
            return
        if "tokens" in response.call.meta:
            self._unpriced = None
        else:
            self._unpriced = response.call
        yield self.trail.along(response.call)
        for held in response.held:
            if held.beside:
                yield self.trail.beside(held.step, of=held.of)
            else:
                yield self.trail.along(held.step, answers=held.answers)

    def _call(self, at: Point) -> Step:
        return at.part("usage").model_call({"model": self.model, "run": self.run})


def _with_meta(step: Step, meta: dict[str, Json]) -> Step:
    return msgspec.structs.replace(step, meta={**step.meta, **meta})


def tokens(usage: dict[str, Json]) -> dict[str, int]:
    """Codex counts cached tokens as input, too; here `input` is what was neither read from nor written to a cache.

    `reasoning` is a part of `output`, as Codex counts it.
    """
    counts = {
        "input": int_of(usage.get("input_tokens")),
        "output": int_of(usage.get("output_tokens")),
        "cache_read": int_of(usage.get("cached_input_tokens")),
        "cache_write": int_of(usage.get("cache_write_input_tokens")),
        "reasoning": int_of(usage.get("reasoning_output_tokens")),
    }
    found = {name: count for name, count in counts.items() if count is not None and count >= 0}
    if "input" in found:
        found["input"] = max(found["input"] - found.get("cache_read", 0) - found.get("cache_write", 0), 0)
    return found
