"""A Codex thread while it is read: the session it is, its model calls, and what later lines need to know of earlier ones.

Owns how a thread becomes sessions: its ancestry, the continuation that a compaction begins, history copied from another
thread; and the order: a model call stands before the steps it produced, but its usage is written after them, sometimes only
after the tools have run. So one response is held back until its usage is known. Must not know how items and events are
spelled.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.codex.line import Line, known
from tallystick.agents.codex.outcomes import Outcome
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, int_of, text_of
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind, Step


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


AGENT = "codex"


class Thread:
    """One rollout file."""

    def __init__(self, name: str) -> None:
        self.id = self.session = name
        self.opened = False
        self.kind = SessionKind.ROOT
        self.responses = Responses()
        self.settings: dict[str, Json] | None = None
        """What the last turn ran under."""
        self.windows = self.announced = 0
        """Compactions so far, by the lines that are them and by those that announce them."""
        self.called: dict[str, str | None] = {}
        """The tool of each call so far."""
        self.answered: set[str] = set()
        self.outcomes: dict[str, Outcome] = {}
        """How calls ended whose result has not come yet."""
        self.script: str | None = None
        """The call whose script is running: calls that the model does not know are made by it."""
        self._about: dict[str, Json] = {}
        self._where: dict[str, Json] = {}
        self._prompts: list[str | None] = []

    def open(self, header: dict[str, Json], ts: str | None) -> Iterator[Opening]:
        """Open the session that `header` describes; an empty one if the file has lost it."""
        self.opened = True
        self.id = self.session = text_of(header.get("id")) or self.id
        self.kind, parent = _ancestry(header, self.id)
        self._about, self._where = _about(header), _where(header)
        yield self._opening(self.kind, parent, ts)

    def compact(self, line: Line, summary: str | None) -> Iterator[Event]:
        """End the session at a compaction, and open its continuation."""
        old, values = self.session, {"content.text": summary or None}
        yield from self.responses.told(self.at(line, line.at).step("compaction", {}, values))
        yield from self.responses.told(self.at(line, f"{line.at}/end").step("session_end", {"reason": "compaction"}))
        self.windows += 1
        self.session = f"{self.id}~{self.windows}"
        self._prompts.clear()
        yield self._opening(SessionKind.CONTINUATION, Ref(line.at, session=old), line.ts)

    def prompted(self) -> None:
        """Someone is about to give a prompt; what came before is where a rollback returns to."""
        self._prompts.append(self.responses.trail.end(self.session))

    def roll_back(self, prompts: int) -> None:
        """Take back the last prompts and what came of them."""
        for _ in range(min(prompts, len(self._prompts))):
            self.responses.trail.turn_back(self.session, self._prompts.pop())

    def turn(self, payload: dict[str, Json]) -> None:
        """A turn begins, or says what it runs under."""
        turn = text_of(payload.get("turn_id"))
        self.responses.run = text_of(payload.get("root_turn_id")) or turn
        # Both ids begin with their time: a turn older than its thread was copied from another one.
        if turn is None or len(turn) != len(self.id) or turn > self.id:
            self.responses.copied = False

    def at(self, line: Line, source_id: str) -> Point:
        """The point of a step of this thread's session, at the time of `line`."""
        point = Point(self.session, source_id, line.ts)
        if self.responses.copied:
            return msgspec.structs.replace(point, common={"copied": True})
        return point

    def _opening(self, kind: SessionKind, parent: Ref | None, ts: str | None) -> Opening:
        about, where = self._about, self._where
        return Opening(session=self.session, agent=AGENT, kind=kind, parent=parent, ts=ts, meta=about, values=where)


def _ancestry(header: dict[str, Json], thread: str) -> tuple[SessionKind, Ref | None]:
    """How a thread hangs in the tree: below its parent's `subagent_start`, or forked off another thread's end."""
    spawned = dict_of(header.get("source")).get("subagent")
    spawn = dict_of(dict_of(spawned).get("thread_spawn"))
    parent = text_of(header.get("parent_thread_id")) or text_of(spawn.get("parent_thread_id"))
    if parent:
        return SessionKind.CHILD, Ref(f"{thread}/start", session=parent)
    if spawned is not None or header.get("thread_source") == "subagent":
        return SessionKind.CHILD, None
    forked = text_of(header.get("forked_from_id"))
    if forked:
        return SessionKind.FORK, Ref(session=forked)
    return SessionKind.ROOT, None


def _about(header: dict[str, Json]) -> dict[str, Json]:
    """What the header says of the program."""
    provenance = dict_of(dict_of(header.get("base_instructions")).get("provenance"))
    return known(
        agent_version=text_of(header.get("cli_version")),
        originator=text_of(header.get("originator")),
        entry=text_of(header.get("source")),
        provider=text_of(header.get("model_provider")),
        model=text_of(provenance.get("model")),
        agent_role=text_of(header.get("agent_role")),
    )


def _where(header: dict[str, Json]) -> dict[str, Json]:
    """What the header says of the place."""
    git = dict_of(header.get("git"))
    places = {
        "personal.cwd": header.get("cwd"),
        "content.branch": git.get("branch"),
        "content.commit": git.get("commit_hash"),
        "content.url": git.get("repository_url"),
        "content.label": header.get("agent_path") or header.get("agent_nickname"),
    }
    return {name: value for name, value in places.items() if isinstance(value, str)}
