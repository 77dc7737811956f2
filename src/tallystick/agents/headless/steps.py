"""Events of the headless agent as steps.

Owns what goes to which field, which step an event follows from, and whether the log shows what a model call was given.
Roles share one session: security events name no agent and a role may run twice at once, so a session for each would
say more than the log does. Their steps are branches of the same graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy

import msgspec

from tallystick.agents.headless.checks import CHECKS, Checked
from tallystick.agents.headless.event import OPERATIONAL, SPOKEN, Happening
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.spelling import words
from tallystick.model.step import Input, Json, Ref, Step

MAIN = "main"
_SPAWNS = frozenset(words("headless", "spawns"))
_PHASES = ("phase_commit", "phase_execute", "phase_reconcile", "phase_supervise", "checkpoint")
_TYPE = re.compile(r"[a-z][a-z0-9_]{0,47}\Z")
# Types that have a meaning of their own in a journal, no matter who writes them.
_RESERVED = frozenset(
    ("session_start", "session_end", "session_update", "recovery", "sighting", "gap", "fork", "merge", "compaction")
)
_PLAIN_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,5}[1-9])?Z\Z", re.ASCII)
_NO_TIME = "0001-01-01T"


def time_of(text: str | None) -> tuple[str | None, dict[str, Json]]:
    """A time as `ts`, and the member that keeps its spelling where `ts` would not: nanoseconds, other zones."""
    if text is None or text.startswith(_NO_TIME):
        return None, {}
    return text, {} if _PLAIN_TIME.match(text) else {"timestamp": text}


class _Call(msgspec.Struct, frozen=True):
    """A tool call without its result yet."""

    source_id: str
    event: Happening


class Weaver:
    """Gives each event its step or steps. Remembers where each lane (the main agent, each sub-agent role) stands."""

    def __init__(self, session: str, *, keeps_errors: bool) -> None:
        self._session = session
        self._keeps_errors = keeps_errors
        self._tips: dict[str, str] = {}
        self._starts: dict[str, str] = {}
        self._ended: list[str] = []
        self._calls: dict[str, tuple[_Call, ...]] = {}
        self._used: dict[str, None] = {}
        self._results: dict[str, tuple[str, str | None]] = {}
        self._check_tips: dict[str, str] = {}
        self._goal: str | None = None
        self._has_prompt = False
        self._talk = ""
        self._shows_input = False

    def undo(self) -> Callable[[], None]:
        """What takes back all that the next events change."""
        small = {name: copy(value) for name, value in vars(self).items() if name != "_used"}
        used = len(self._used)

        def take_back() -> None:
            vars(self).update(small)
            while len(self._used) > used:
                self._used.popitem()

        return take_back

    def steps(self, item: Checked) -> Iterator[Step]:
        """The steps of one event; at least one."""
        event = item.event
        if event.type in CHECKS:
            yield self._check(item)
        elif event.type == "assistant":
            yield from self._reply(event)
        elif event.type == "tool_call":
            yield self._tool_call(item)
        elif event.type == "tool_result":
            yield self._tool_result(item)
        elif event.type in ("bash_security", "security_block"):
            yield self._remark(event)
        elif event.type in ("subagent_start", "subagent_end"):
            yield self._subagent(event)
        else:
            yield self._main_step(event)

    # Where a step hangs ----------------------------------------------------------------------------------------------

    def _after(self, lane: str, *more: str | None) -> tuple[Ref, ...]:
        """The lane's last step, what else is named, and for the main lane the sub-agents that ended since."""
        ids = [self._tip_of(lane), *more]
        if lane == MAIN:
            ids += self._ended
            self._ended = []
        return tuple(Ref(source_id) for source_id in dict.fromkeys(ids) if source_id is not None)

    def _tip_of(self, lane: str) -> str | None:
        """The last step of a lane; for a role that begins without a start event, the call that spawned it."""
        if lane in self._tips or lane == MAIN:
            return self._tips.get(lane)
        spawning = [call for calls in self._calls.values() for call in calls if _spawns(call.event)]
        if spawning:
            return spawning[-1].source_id
        return self._tips.get(MAIN)

    def _step(self, event: Happening, **rest: Json) -> Step:
        values: dict[str, Json] = {**_values(event), **rest.pop("values", {})}
        ts, spelling = time_of(event.timestamp)
        meta: dict[str, Json] = {**_members(event), **spelling, **rest.pop("meta", {})}
        kind = rest.pop("type", event.type)
        if not _TYPE.match(kind) or kind in _RESERVED:
            values["content.extra"] = {**(values.get("content.extra") or {}), "type": kind}
            kind = "unknown"
        return Step(
            session=self._session,
            type=kind,
            source_id=rest.pop("source_id", event.source_id),
            ts=ts,
            meta=known(meta),
            values=known(values),
            within=Ref(f"#{event.parent}") if event.parent else None,
            **rest,
        )

    # The main lane ---------------------------------------------------------------------------------------------------

    def _main_step(self, event: Happening) -> Step:
        """Prompts, goals, phases: each follows from the one before, but a conversation belongs to its goal's start."""
        if event.type == "warning":
            tip = self._tip_of(event.lane)
            return self._step(event, after=(Ref(tip),) if tip else ())
        opens_request = False
        after = self._after(MAIN)
        if event.type in ("goal_start", *_PHASES) or event.type.startswith("workflow_"):
            self._talk = ""
        elif event.type == "goal_end" or (event.type == "system" and not self._talk):
            after = tuple(dict.fromkeys(([Ref(self._goal)] if self._goal else []) + list(after)))
        if event.type in ("system", "user"):
            opens_request = self._note_prompt(event.type)
        elif event.type in ("goal_start", "goal_end"):
            if event.type == "goal_start":
                self._goal = event.source_id
            else:
                self._goal = None
            self._has_prompt, self._talk = False, ""
        self._tips[MAIN] = event.source_id
        if event.type == "user" and not opens_request:
            origin = {"origin": "injected"}
        else:
            origin = {}
        return self._step(event, after=after, meta=origin, opens_request=opens_request)

    def _note_prompt(self, kind: str) -> bool:
        """Follow how the conversation with the model stands; True for the first prompt of a goal.

        A conversation is shown whole if it begins with a system text and a prompt and no other system text comes after:
        the agent uses that type for notes of its own too, which the model is not given.
        """
        if kind == "system":
            self._shows_input, self._talk = False, "system" if not self._talk else "unclear"
            return False
        if self._talk == "system":
            self._shows_input = True
        is_first = self._talk != "prompted" and not self._has_prompt
        if self._talk == "unclear":
            self._talk = "unclear"
        else:
            self._talk = "prompted"
        self._has_prompt = True
        return is_first

    def _reply(self, event: Happening) -> Iterator[Step]:
        """A model call with what is known of it, and what the model said if the log holds it."""
        lane = event.lane
        after = self._after(lane)
        said = {"content.text": event.content, "content.thinking": event.meta.get("thinking")}
        if not ({"model", "tokens_in", "tokens_out", "prompt", "response"} & event.meta.keys()):
            self._tips[lane] = event.source_id
            yield self._step(event, after=after, values=said)
            return
        shown = lane == MAIN and self._shows_input and self._talk == "prompted"
        self._tips[lane] = source_id = f"{event.source_id}/usage"
        yield self._step(
            event,
            type="model_call",
            source_id=source_id,
            after=after,
            values=dict.fromkeys(said),
            input=Input.PATH if shown else Input.HIDDEN,
        )
        if any(said.values()):
            self._tips[lane] = event.source_id
            bare = msgspec.structs.replace(event, duration_ms=None, parent=None, meta={}, extra={}, extra_meta={})
            yield self._step(bare, after=(Ref(source_id),), values=said)

    # Calls and what is said about them -------------------------------------------------------------------------------

    def _tool_call(self, item: Checked) -> Step:
        event = item.event
        corr = event.corr_id or event.source_id
        source_id = corr
        if corr in self._used:
            source_id = event.source_id
        self._used[corr] = None
        after = self._after(event.lane, self._check_tips.pop(item.run or event.source_id, None))
        self._calls[corr] = (*self._calls.get(corr, ()), _Call(source_id, event))
        self._tips[event.lane] = source_id
        return self._step(event, source_id=source_id, after=after, values={"content.args": event.args})

    def _tool_result(self, item: Checked) -> Step:
        event = item.event
        call = self._answered(event.corr_id)
        if call:
            source_id = f"{call.source_id}/result"
        else:
            source_id = event.source_id
        meta, values = self._outcome(item), {"content.output": event.content, "content.text": None}
        more = (call.source_id if call else None, self._check_tips.pop(item.run or event.source_id, None))
        after = self._after(event.lane, *more)
        self._tips[event.lane] = source_id
        self._results[event.tool or ""] = (source_id, event.corr_id)
        return self._step(
            event, source_id=source_id, after=after, meta=meta, values={**values, "content.args": event.args}
        )

    def _answered(self, corr: str | None) -> _Call | None:
        calls = None
        if corr is not None:
            calls = self._calls.get(corr)
        if not calls or corr is None:
            return None
        call, *more = calls
        if more:
            self._calls[corr] = tuple(more)
        else:
            del self._calls[corr]
        return call

    def _outcome(self, item: Checked) -> dict[str, Json]:
        """Whether the call failed. `failure` tells that this is no `success` of the log, and how we know."""
        event = item.event
        if item.checks and event.corr_id is None:
            denial: dict[str, Json] = {"decision": "deny", "decided_by": "security", "pairing": "inferred"}
            return {"success": False, "failure": "denied", "corr": event.source_id, **denial}
        if event.success is not None:
            return {}
        if event.error:
            return {"success": False, "failure": "error"}
        if event.content == "null" and not self._keeps_errors:
            return {"success": False, "failure": "null_output"}
        return {}

    def _check(self, item: Checked) -> Step:
        """A check before a call: it follows from the check before it, else from where the caller stands."""
        subject = item.subject
        key = item.run or (subject.source_id if subject else f"tool:{item.event.tool}")
        tip = self._check_tips.get(key) or self._tip_of((subject or item.event).lane)
        self._check_tips[key] = item.event.source_id
        if subject:
            joined = {"corr": subject.corr_id or subject.source_id, "pairing": "inferred"}
        else:
            joined = {}
        return self._step(item.event, after=(Ref(tip),) if tip else (), meta=joined)

    def _remark(self, event: Happening) -> Step:
        """A check of a running command, or a block made of a result: a leaf on the call or result that it is about."""
        source = str(event.meta.get("source", ""))
        if event.type == "security_block":
            found = self._results.get(source.removeprefix("tool:"))
        else:
            found = self._running_command(source)
        if found is None:
            tip = self._tip_of(MAIN)
            return self._step(event, after=(Ref(tip),) if tip else ())
        return self._step(event, after=(Ref(found[0]),), meta={"corr": found[1], "pairing": "inferred"})

    def _running_command(self, command: str) -> tuple[str, str | None] | None:
        running = [call for calls in self._calls.values() for call in calls if call.event.tool == "bash"]
        same = [call for call in running if (call.event.args or {}).get("command") == command]
        chosen = (same or running)[-1:]
        if chosen:
            return chosen[0].source_id, chosen[0].event.corr_id
        return None

    def _subagent(self, event: Happening) -> Step:
        lane = event.agent_role or str(event.meta.get("subagent_role") or event.agent or "subagent")
        values = {"content.task": event.meta.get("subagent_task"), "content.output": event.meta.get("subagent_output")}
        if event.type == "subagent_start":
            main = self._tips.get(MAIN)
            self._tips[lane] = self._starts[lane] = event.source_id
            return self._step(event, after=(Ref(main),) if main else (), values=values)
        ids = dict.fromkeys((self._starts.pop(lane, None), self._tip_of(lane)))
        self._tips.pop(lane, None)
        self._ended.append(event.source_id)
        return self._step(event, after=tuple(Ref(source_id) for source_id in ids if source_id), values=values)


def _spawns(event: Happening) -> bool:
    return event.lane == MAIN and event.tool in _SPAWNS


_RENAMED = {"subagent_task": "task", "subagent_output": "output"}


def _members(event: Happening) -> dict[str, Json]:
    """What goes to `meta`: numbers, ids and words of the program."""
    tokens = {name: event.meta.get(f"tokens_{short}") for name, short in (("input", "in"), ("output", "out"))}
    return {
        **{key: value for key, value in event.meta.items() if key in OPERATIONAL},
        "tokens": known(tokens) or None,
        "seq": event.seq,
        "seq_copy": event.copy if event.copy > 1 else None,
        "parent_seq": event.parent,
        "corr": event.corr_id,
        "agent": event.agent,
        "agent_role": event.agent_role,
        "tool": event.tool,
        "success": event.success,
        "duration_ms": event.duration_ms,
    }


def _values(event: Happening) -> dict[str, Json]:
    """What goes to `content.*`: text, paths, commands, names that someone chose."""
    extra = {**event.extra, **({"meta": dict(event.extra_meta)} if event.extra_meta else {})}
    if event.type in ("subagent_start", "subagent_end"):
        renamed = _RENAMED
    else:
        renamed = {}
    return {
        **{f"content.{renamed.get(key, key)}": value for key, value in event.meta.items() if key in SPOKEN},
        "content.goal": event.goal,
        "content.step": event.step,
        "content.text": event.content,
        "content.args": event.args,
        "content.error": event.error,
        "content.extra": extra or None,
    }
