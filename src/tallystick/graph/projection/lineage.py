"""Calls on their way into the graph: events, intents, and what became of them, step by step.

Owns when an intent counts as done: at the call it is intended, the call's result confirms it or cancels it, a refusal denies
it. Must not know SQL, nor versions of things: accesses wait here until they are written, and `settle` makes versions of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import msgspec
import orjson

from tallystick.graph.pending import LineageRows
from tallystick.graph.projection.active_calls import MOST_CALLS, Running, RunningCalls, open_call
from tallystick.graph.projection.earlier import EarlierCalls, Read, RecordedCall, Scripts
from tallystick.graph.projection.json_columns import (
    content_digest,
    input_of,
    intent_input,
    json_of,
    plain,
    response_of,
    said_outcome,
)
from tallystick.graph.projection.observed import (
    OBSERVED,
    Judged,
    effect_input,
    is_own_account,
    observed_accesses,
    observed_row,
    seen_effect,
    told_accesses,
)
from tallystick.graph.projection.reports import pull_request, reports
from tallystick.graph.projection.rows import (
    BY_TOOL,
    MAYBE,
    intent_confidence,
    intent_evidence,
    intent_row,
    text_or_none,
    whole_or_none,
)
from tallystick.graph.tables import (
    EventRow,
    FlowRow,
    ObservationRow,
    ScriptRow,
    SessionState,
    StepRow,
)
from tallystick.graph.times import milliseconds
from tallystick.lineage.access import AGENT, CHANGING, DEEDS, Access
from tallystick.lineage.correlate import OpenCall
from tallystick.lineage.identity import intent_event_id, observation_id, version_id
from tallystick.lineage.registry import membership
from tallystick.lineage.things import Thing, file_thing, thing_key, touched
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.recorded import Recorded
from tallystick.state.steps import is_refusal

TagsIn: TypeAlias = Callable[[str, str], tuple[str, ...]]
"""The tags of a content that is written to a URI."""

_UNTOLD = 0.9
_THROUGH_MODEL, _FROM_EARLIER = 0.5, 0.3
_MOST_INPUTS = 20
_MOST_READS = 64
_MOST_PATH = 4096
_MOST_OBSERVED = 16_384
"""Characters: 64 KiB in UTF-8 at most."""
_SHORT = 12
_EVENT_TYPES = {
    "tool_call": "PreToolUse",
    "tool_result": "PostToolUse",
    "permission": "PermissionRequest",
    "decision": "decision",
    "subagent_start": "subagent_start",
    "subagent_end": "subagent_end",
    "security_block": "security_block",
    "file_effect": "file_effect",
}
_ENDS_CALLS = frozenset(("user", "session_end"))
"""A call without a result does not run on after these."""
_AUTHORED = frozenset((Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST))
_MOVES = frozenset((Operation.RENAME,))
"""What moves may be a folder, though no option says so."""
_TAKES_ALONG = frozenset((Operation.RENAME, Operation.COPY_SOURCE, Operation.DELETE))
_MOST_BELOW = 1000
_SHOWN = frozenset((Operation.READ, Operation.FETCH))
"""Of what is read, what the model sees: a copy shows nothing, nor does a package, and what runs shows what it prints."""


class _Call(msgspec.Struct):
    """A call whose result is awaited."""

    n: int
    """Which step it is."""
    effects: Effects
    own: int
    """How many of the intents are the tool's own, not a command's."""
    tool: str
    name: str
    """SESSION:n, for evidence."""
    request_id: int
    reached: int
    """n of the step up to which the model had seen results when it made the call."""
    outcome: str


class LineageProjection:
    """Makes the graph's rows of one session, step by step: `take` adds to `rows`."""

    def __init__(self, state: SessionState, earlier: EarlierCalls, rows: LineageRows, tags_in: TagsIn) -> None:
        self.rows = rows
        self._tags_in = tags_in
        self.reached = (0, 0)
        """How many file and network intents the step taken last has."""
        self._state = state
        self._earlier = earlier
        self._calls: dict[int, _Call] = {}
        self._by_corr: dict[str, int] = {}
        self._running = RunningCalls(self._ran_lately)
        self._reads: dict[int, Read] | None = {} if state.size == 0 else None

    def take(self, step: Recorded, row: StepRow) -> bool:
        """Project the next step; whether a row of it names a request."""
        self.reached = (0, 0)
        where = step.text("personal.cwd")
        if where is not None:
            self._state.folder = where[:_MOST_PATH]
        if row.type == "model_call":
            self._state.model_call = row.n
        if row.corroborates is not None:
            return False
        if row.type in _ENDS_CALLS:
            self._running.end_all(milliseconds(row.at_us))
        if row.type in OBSERVED:
            self._take_effect(step, row)
        elif row.type == "tool_call":
            self._take_call(step, row)
        elif row.type == "tool_result":
            self._take_result(step, row)
        elif row.type in _EVENT_TYPES:
            self._take_other(step, row)
        else:
            return self._take_link(step, row)
        return True

    def _take_link(self, step: Recorded, row: StepRow) -> bool:
        """The pull request that a session led to: it is as if a step had written it."""
        thing = pull_request(step)
        if thing is None:
            return False
        said = json_of({"operation": "write", "step": f"{step.session[:_SHORT]}:{step.n}", "told_by": row.agent_id})
        at = (row.at_us, row.id, 0, "write", AGENT, self._request_id(row), BY_TOOL)
        self.rows.accesses.append(Access(self._name(thing), *at, result=row.n, evidence=said))
        return True

    # Calls ----------------------------------------------------------------------------------------------------------

    def _take_call(self, step: Recorded, row: StepRow) -> None:
        if row.revises is not None and 0 <= row.revises < row.n:
            self._earlier.undo_call(row.revises)
            self._calls.pop(row.revises, None)
            self._running.drop(row.revises)
        scripts = Scripts(row.n, self._earlier)
        call = self._read(RecordedCall(step, row, self._state.folder, self._state.model_call), scripts)
        self.rows.scripts += [ScriptRow(row.id, path, self._state.first_id + n) for path, n in scripts.used.items()]
        self._calls[row.n] = call
        if row.corr is not None:
            self._by_corr[row.corr] = row.n
        self.rows.events.append(self._event(step, row, told=(input_of(step, row, call.effects, call.own), None)))
        self.reached = (_count(call.effects, Domain.FILE), _count(call.effects, Domain.NETWORK))
        for k, intent in enumerate(call.effects.intents):
            confidence = intent_confidence(intent, is_own=k < call.own)
            self.rows.intents.setdefault(row.id, []).append(intent_row(row.id, k, intent, confidence))
            if k >= call.own and intent.domain is Domain.FILE:
                self.rows.events.append(self._intent_event(step, row, k, intent))
        if call.effects.intents:
            self._running.begin(row.n, row.corr, self._open(row, call, self._state.folder))
        if row.success is not None:
            self._running.end(row.n, row.corr, milliseconds(row.at_us) + (row.duration_ms or 0))
            self._finish(call, step, row)

    def _open(self, row: StepRow, call: _Call, folder: str | None) -> OpenCall:
        return open_call(row.id, row.session_id, milliseconds(row.at_us), folder, call.effects)

    def _ran_lately(self) -> Iterator[Running]:
        """The newest calls of which an earlier run or this one made rows, oldest first."""
        for again, end_ms in self._earlier.newest_calls(MOST_CALLS):
            call = self._read_again(again)
            opened = self._open(again.row, call, again.folder)
            has_run = again.outcome != "denied"
            yield Running(again.row.n, again.row.corr, msgspec.structs.replace(opened, end_ms=end_ms, has_run=has_run))

    def _read_again(self, again: RecordedCall) -> _Call:
        scripts = Scripts(again.row.n, self._earlier, again.scripts)
        return self._read(again, scripts)

    def _read(self, recorded: RecordedCall, scripts: Scripts) -> _Call:
        from tallystick.graph.calls import effects_of, uses_of_call

        step, row, model_call = recorded.step, recorded.row, recorded.model_call
        uses = uses_of_call(step, recorded.folder, row.agent_id)
        # Only a transcript puts model calls and the calls they made in their true order.
        is_told = row.source == "transcript" and model_call is not None and model_call < row.n
        return _Call(
            row.n,
            effects_of(uses, recorded.folder, scripts.read),
            len(uses.intents),
            row.tool or "?",
            f"{step.session[:_SHORT]}:{step.n}",
            self._request_id(row),
            model_call if is_told and model_call is not None else row.n,
            "intended",
        )

    def _find(self, row: StepRow) -> _Call | None:
        """The call that a step speaks of: by the call's id, else the step that it stands within."""
        n = row.parent
        if row.corr is not None:
            n = self._by_corr.get(row.corr)
            if n is None:
                n = self._earlier.call_of(row.corr)
        if n is None or not 0 <= n <= row.n:
            return None
        if n not in self._calls:
            again = self._earlier.call_again(n)
            if again is None:
                return None
            self._calls[n] = self._read_again(again)
            self._calls[n].outcome = again.outcome
        return self._calls[n]

    # Results --------------------------------------------------------------------------------------------------------

    def _take_result(self, step: Recorded, row: StepRow) -> None:
        self.rows.events.append(self._event(step, row, told=(None, response_of(step, row))))
        call = self._find(row)
        if call is None:
            return
        self._running.end(call.n, row.corr, milliseconds(row.at_us))
        if row.revises is not None and call.outcome != "denied":
            self._earlier.undo_result(call.n)
            self._reads = None
        elif call.outcome != "intended":
            return
        self._finish(call, step, row)

    def _take_other(self, step: Recorded, row: StepRow) -> None:
        self.rows.events.append(self._event(step, row, told=(None, None)))
        if not is_refusal(step):
            return
        call = self._find(row)
        if call is not None and call.outcome == "intended":
            self._decide(call, "denied")

    def _decide(self, call: _Call, outcome: str) -> None:
        call.outcome = outcome
        if outcome == "denied":
            self._running.deny(call.n)
        if call.effects.intents:
            self._note_outcome(outcome, self._state.first_id + call.n, 0, len(call.effects.intents) - 1)

    def _note_outcome(self, outcome: str, step: int, first: int, last: int) -> None:
        waiting = self.rows.intents.get(step)
        if waiting is None:
            self.rows.outcomes.append((outcome, step, first, last))
            return
        for row in waiting[first : last + 1]:
            row.outcome = outcome

    def _finish(self, call: _Call, step: Recorded, row: StepRow) -> None:
        """Confirm the intents of a call, or cancel them."""
        outcome = said_outcome(step, row)
        self._decide(call, outcome)
        if outcome == "denied":
            return
        done: dict[int, Access] = {}
        for k, intent in enumerate(call.effects.intents):
            confidence = intent_confidence(intent, is_own=k < call.own)
            if outcome == "failed":
                # A shell reports how its last statement ended. What stands before it has run; how that ended was not seen.
                if k < call.own or intent.is_last:
                    continue
                confidence = min(confidence, MAYBE)
                self._note_outcome("uncertain", self._state.first_id + call.n, k, k)
            elif row.success is None:
                confidence *= _UNTOLD
            access = self._access(call, k, confidence, row)
            if access is not None:
                done[k] = access
        self._flow(call, done)
        extra = self._below(call, done)
        self._report(call, step, row, done, len(call.effects.intents) + extra)

    def _access(self, call: _Call, k: int, confidence: float, row: StepRow) -> Access | None:
        intent = call.effects.intents[k]
        thing = touched(intent)
        if thing is None or intent.operation not in DEEDS:
            return None
        digest, size = content_digest(intent.content)
        access = Access(
            self._name(thing),
            row.at_us,
            self._state.first_id + call.n,
            k,
            str(intent.operation),
            AGENT,
            call.request_id,
            round(confidence, 3),
            digest,
            size,
        )
        access.result, access.evidence = row.n, intent_evidence(intent, call.tool, call.name, is_own=k < call.own)
        self.rows.accesses.append(access)
        belongs = membership(thing.uri)
        if intent.content is not None:
            tags = self._tags_in(intent.content, thing.uri)
        else:
            tags = ()
        if intent.content is not None and (belongs.is_any or tags):
            # A program's text is in the journal, and is looked at when it runs; what is read as an order is kept at hand.
            kept = None
            if belongs.is_memory or belongs.is_persistent or belongs.is_control_plane:
                kept = intent.content
            self.rows.observations.append(self._observation(access, kept, row, tags))
        return access

    def _observation(self, access: Access, content: str | None, row: StepRow, tags: tuple[str, ...]) -> ObservationRow:
        return ObservationRow(
            observation_id(access.step_id, access.k),
            version_id(access.thing, access.step_id, access.k),
            access.request_id,
            access.step_id,
            self._state.session_id,
            access.digest or "",
            access.size_bytes or 0,
            plain(content, _MOST_OBSERVED) if content is not None else None,
            int(content is None or len(content) > _MOST_OBSERVED),
            milliseconds(row.at_us),
            orjson.dumps({**orjson.loads(access.evidence), "tags": tags}).decode() if tags else access.evidence,
        )

    def _request_of(self, step_id: int) -> int:
        call = self._calls.get(step_id - self._state.first_id)
        if call is not None:
            return call.request_id
        found = self._earlier.request_of(step_id - self._state.first_id)
        if found is None:
            return self._state.first_id
        return found

    def _name(self, thing: Thing) -> int:
        id_ = thing_key(thing, self._state.session_id)
        self.rows.things[id_] = min(thing, self.rows.things.get(id_, thing))
        return id_

    # Flows ----------------------------------------------------------------------------------------------------------

    def _flow(self, call: _Call, done: dict[int, Access]) -> None:
        moved = set()
        for flow in call.effects.flows:
            source, target = done.get(flow.source), done.get(flow.target)
            if source is not None and target is not None:
                moved.add(flow.source)
                confidence = min(source.confidence, target.confidence)
                self.rows.flows.append(
                    FlowRow(target.step_id, target.k, source.step_id, source.k, confidence, "command")
                )
        for k, access in done.items():
            intent = call.effects.intents[k]
            if intent.is_authored and intent.operation in _AUTHORED:
                self._through_model(call, access)
        for k, access in done.items():
            is_shown = access.operation in _SHOWN and not call.effects.intents[k].target.startswith("pkg:")
            if k not in moved and is_shown:
                access.shown = 1
                self._note_read(Read(access.thing, access.step_id, k, access.request_id, access.result or call.n))

    def _through_model(self, call: _Call, access: Access) -> None:
        """What the model had been shown before it wrote: it may be in what it wrote, and that was not seen."""
        known = [read for read in self._known_reads().values() if read.result < call.reached]
        inputs = [read for read in reversed(known) if read.thing != access.thing]
        via = "model"
        if len(inputs) > _MOST_INPUTS:
            via = f"model; {_MOST_INPUTS} of {len(inputs)}"
        for read in inputs[:_MOST_INPUTS]:
            confidence = _FROM_EARLIER
            if read.request_id == call.request_id:
                confidence = _THROUGH_MODEL
            self.rows.flows.append(FlowRow(access.step_id, access.k, read.step_id, read.k, confidence, via))

    def _known_reads(self) -> dict[int, Read]:
        if self._reads is None:
            self._reads = {read.thing: read for read in self._earlier.reads(_MOST_READS)}
        return self._reads

    def _note_read(self, read: Read) -> None:
        known = self._known_reads()
        known.pop(read.thing, None)
        known[read.thing] = read
        if len(known) > _MOST_READS:
            del known[next(iter(known))]

    # What an intent brings with it ------------------------------------------------------------------------------------

    def _below(self, call: _Call, done: dict[int, Access]) -> int:
        """What a folder takes along that is copied, moved or removed: the files in it that are known; how many rows."""
        moves = {flow.source: flow.target for flow in call.effects.flows}
        k = len(call.effects.intents)
        for position, access in list(done.items()):
            intent = call.effects.intents[position]
            if intent.domain is not Domain.FILE or not (intent.operation in _MOVES or intent.is_deep):
                continue
            if intent.operation not in _TAKES_ALONG:
                continue
            target = done.get(moves.get(position, -1))
            where = None
            if target is not None:
                where = call.effects.intents[moves[position]].target
            for path in self._earlier.files_below(intent.target, _MOST_BELOW):
                self._along(access, path, k)
                if target is not None and where is not None:
                    self._along(target, where + path[len(intent.target) :], k + 1)
                    confidence = min(access.confidence, target.confidence)
                    self.rows.flows.append(FlowRow(access.step_id, k + 1, access.step_id, k, confidence, "command"))
                k += 2
        return k - len(call.effects.intents)

    def _along(self, access: Access, path: str, k: int) -> None:
        thing = self._name(file_thing(path))
        self.rows.accesses.append(msgspec.structs.replace(access, thing=thing, k=k, digest=None, size_bytes=None))

    def _report(self, call: _Call, step: Recorded, row: StepRow, done: Mapping[int, Access], first: int) -> None:
        """What the result says was made and changed, but for files of which the call itself says so."""
        known = {access.thing for access in done.values() if access.deed in CHANGING}
        told = ((self._name(one.thing), one) for one in reports(call.effects, step, self._state.folder))
        for k, (thing, one) in enumerate(((thing, one) for thing, one in told if thing not in known), first):
            evidence = json_of({"operation": one.what, "tool": call.tool, "step": call.name})
            at = (row.at_us, self._state.first_id + call.n, k)
            self.rows.accesses.append(
                Access(thing, *at, one.operation, AGENT, call.request_id, BY_TOOL, result=row.n, evidence=evidence)
            )

    # What was observed ----------------------------------------------------------------------------------------------

    def _take_effect(self, step: Recorded, row: StepRow) -> None:
        if is_own_account(step, row):
            self.rows.events.append(self._event(step, row, told=(effect_input(step), None)))
            for thing, access in told_accesses(step, row, self._state.folder, self._request_id(row)):
                access.thing = self._name(thing)
                self.rows.accesses.append(access)
            return
        seen = seen_effect(step, row, self._state.folder)
        judged = Judged()
        if seen is not None and not self._running.is_empty:
            judged = Judged(self._running.cause_of(seen), has_calls=True)
        request_id = self._request_id(row)
        if judged.cause is not None:
            request_id = self._request_of(judged.cause.step)
        self.rows.system.append(observed_row(step, row, self._state.folder, request_id))
        for thing, access in observed_accesses(step, row, self._state.folder, request_id, judged):
            access.thing = self._name(thing)
            self.rows.accesses.append(access)

    # Rows -----------------------------------------------------------------------------------------------------------

    def _request_id(self, row: StepRow) -> int:
        return self._state.first_id + (row.request or 0)

    def _event(self, step: Recorded, row: StepRow, *, told: tuple[str | None, str | None]) -> EventRow:
        return EventRow(
            row.id,
            whole_or_none(step.meta.get("pid")) or 0,
            self._request_id(row),
            milliseconds(row.at_us),
            row.agent_id,
            _EVENT_TYPES[row.type],
            self._state.folder or "",
            text_or_none(step.member("permission_mode")),
            row.tool,
            *told,
            row.corr,
            row.id,
        )

    def _intent_event(self, step: Recorded, row: StepRow, k: int, intent: Intent) -> EventRow:
        event = self._event(step, row, told=(intent_input(intent), None))
        event.event_id, event.type = intent_event_id(row.id, k), "file_intent"
        return event


def _count(effects: Effects, domain: Domain) -> int:
    return sum(intent.domain is domain for intent in effects.intents)
