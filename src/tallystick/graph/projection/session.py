"""One session on its way into the index: what its row and those of its requests say, step by step.

Owns the sums and the rules behind them. A step that revises another takes its place in every sum; what a second witness
saw and sightings are not counted again. Must not know SQL: rows wait here until project.py writes them.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from tallystick.graph.pending import SessionRows
from tallystick.graph.projection.earlier import EarlierCalls
from tallystick.graph.projection.json_columns import plain
from tallystick.graph.projection.lineage import LineageProjection, TagsIn
from tallystick.graph.projection.rows import (
    checkpoint_row,
    edge_rows,
    known_time,
    replaced_checkpoints,
    step_row,
    text_or_none,
    whole_or_none,
    written_for_an_hour,
)
from tallystick.graph.tables import TOKENS, EdgeRow, RequestState, SessionState, StepRow, UsageState
from tallystick.graph.times import milliseconds
from tallystick.model.moments import microseconds
from tallystick.model.plain_text import plain_text
from tallystick.model.recorded import Recorded
from tallystick.model.request import RequestKind, opened_kind
from tallystick.sessions.origins import as_revised, is_revised_opening
from tallystick.sessions.states import Moment, Status, after, end_status, is_there, open_status, word_of_end
from tallystick.sessions.wording import ERASED, asked_in, title_of

_PROMPT = "content.text"
_TITLED = frozenset(
    (RequestKind.PROMPT, RequestKind.QUEUED, RequestKind.COMMAND, RequestKind.PLAN, RequestKind.SCHEDULE)
)
"""Kinds of requests that say what a session is about."""
_UNTITLED = frozenset(("summary", "injected", "notification", "command"))
"""Origins of text in a prompt's place that no one asked with."""
_INHERITED = {"child": RequestKind.TASK, "continuation": RequestKind.CONTINUATION, "fork": RequestKind.CONTINUATION}
"""By the kind of a session, whose request it is that nothing in the session opened."""
_MOST_WORDS = 1_000
_DAY_US = 86_400_000_000
_TOKEN_COLUMNS = tuple(f"tokens_{kind}" for kind in TOKENS)


class Earlier(EarlierCalls, Protocol):
    """Rows of the same session that were made before."""

    def step(self, n: int) -> StepRow | None:
        """The row of step `n`."""
        ...

    def request(self, n: int) -> RequestState | None:
        """The row of the request that prompt `n` opened."""
        ...

    def usage(self, model: str, day: int) -> UsageState | None:
        """What a model used in the session on a day."""
        ...


class SessionProjection:
    """Makes the rows of one session, step by step: `take` adds to `rows`."""

    def __init__(self, state: SessionState, earlier: Earlier, rows: SessionRows, tags_in: TagsIn) -> None:
        self.state = state
        self.rows = rows
        self.lineage = LineageProjection(state, earlier, rows.lineage, tags_in)
        self._earlier = earlier
        self._prompts: dict[int, int | None] = {}

    def take(self, step: Recorded, offset: int) -> None:
        """Project the next step, whose line begins at `offset`."""
        state = self.state
        if step.n == 0:
            self._begin(step)
        if state.closed_at is None and is_there(step.type, step.meta.get("source")):
            state.status = Status.ACTIVE.value
        at_us = self._see_time(step)
        replaced = self._replaced(step)
        request = self._request_of(step, replaced)
        row = step_row(step, state, at_us=at_us, request=request, offset=offset)
        if request == step.n:
            self._open_request(step, at_us)
        self._count(row, 1)
        self._look_inside(step, row, replaced)
        self.rows.steps.append(row)
        if step.type in ("checkpoint", "compaction") and row.corroborates is None:
            mark = checkpoint_row(step, row)
            mark.run_id = mark.run_id or state.run_id  # one that names none is of the run that its session is in
            self.rows.checkpoints.append(mark)
            self.rows.replaced += [(step.n, replaced) for replaced in replaced_checkpoints(step)]
        if self.lineage.take(step, row):
            self._rate(self._find(request) or self._unasked(), *self.lineage.reached)
        if is_revised_opening(step):
            self._belong(step)
        elif step.n == 0 or any("#" in parent for parent in step.parents):
            self.rows.edges += edge_rows(step)
        state.size = step.n + 1
        state.last_hash = step.hash

    # Of the session -------------------------------------------------------------------------------------------------

    def _begin(self, step: Recorded) -> None:
        state = self.state
        state.status = open_status(there=False).value
        state.agent_id = text_or_none(step.member("agent")) or "?"
        state.source_session = text_or_none(step.member("source_session"))
        self._belong_to(step)

    def _belong(self, step: Recorded) -> None:
        """A source says otherwise than the first entry how the session belongs to others: that is its edge from now on."""
        opening = as_revised(msgspec.structs.replace(step, n=0), step)
        self._belong_to(opening)
        self.rows.edges += edge_rows(opening)

    def _belong_to(self, opening: Recorded) -> None:
        state = self.state
        state.kind = text_or_none(opening.member("kind")) or "root"
        edges = edge_rows(opening)[:1] or [EdgeRow(opening.session, 0, 0, state.kind, None, None, None, None)]
        for edge in edges:
            state.parent_session, state.parent_step = edge.parent_session, edge.parent_step
            state.claimed_session, state.claimed_step = edge.claimed_session, edge.claimed_step

    def _see_time(self, step: Recorded) -> int:
        """Widen the session's span to the step's time, and give that time in microseconds."""
        state = self.state
        known = known_time(step)
        if known is not None:
            at_us, text = known
            if state.started is None or text < state.started:
                state.started, state.first_event_at = text, milliseconds(at_us)
            if state.last is None or text > state.last:
                state.last, state.last_event_at = text, milliseconds(at_us)
            return at_us
        # A line that says no time happened, as far as anyone knows, when the newest thing before it did.
        before = microseconds(state.last)
        if before is not None:
            return before
        recorded = microseconds(step.meta.get("recorded")) or 0
        if step.n == 0:
            state.first_event_at = milliseconds(recorded)
        state.last_event_at = milliseconds(recorded)
        return recorded

    def _look_inside(self, step: Recorded, row: StepRow, replaced: StepRow | None) -> None:
        state = self.state
        if row.model is not None:
            state.model = row.model
        if state.cwd is None:
            state.cwd = step.text("personal.cwd")
        state.run_id = text_or_none(step.member("run")) or state.run_id
        match step.type:
            case "user":
                self._take_prompt(step, row, replaced)
            case "assistant" if (text := _spoken_text(step)) is not None:
                self._touch(row.request, final_response=text)
            case "session_end":
                word = word_of_end(step.member("status"), step.member("success"))
                self._change(Moment(step.n, is_end=True, word=word), row)
            case "session_start":
                there = is_there(step.type, step.meta.get("source"))
                self._change(Moment(step.n, False, None, step.meta.get("resumed") is True, there), row)
                state.goal = state.goal or _short(step.text("content.goal"))
                state.workspace = state.workspace or _short(step.text("content.workspace"))

    def _change(self, moment: Moment, row: StepRow) -> None:
        """The session ends or goes on, if it can; what it cannot do is reported by `tally session show`."""
        state = self.state
        now = Status.ACTIVE if state.closed_at is None else end_status(state.status)
        then = after(now, moment)
        if then is now:
            return
        if then is Status.ACTIVE:
            state.status, state.closed_at = open_status(there=moment.is_there).value, None
        else:
            state.status, state.closed_at = then.value, milliseconds(row.at_us)
            self._complete()

    def _take_prompt(self, step: Recorded, row: StepRow, replaced: StepRow | None) -> None:
        text = _spoken_text(step)
        rank = self._rank(step, row)
        if text is not None:
            if replaced is not None and "origin" not in step.meta:
                self._touch(row.request, original_user_prompt=asked_in(text))
            if rank == 1 and row.request != step.n:
                self._unasked().original_user_prompt = asked_in(text)
        self._take_title(ERASED if _PROMPT in step.withheld else title_of(text or ""), rank)

    def _rank(self, step: Recorded, row: StepRow) -> int:
        """How well the words of a step say what the session is about: 2 if a person asked, 1 if another agent did."""
        origin = step.meta.get("origin")
        kind = opened_kind(step.type, step.meta)
        if kind in _TITLED or (kind is None and row.request == step.n):
            return 2
        if kind is RequestKind.TASK or origin == "parent":
            return 1
        return -1 if kind is not None or origin in _UNTITLED else 0

    def _take_title(self, title: str, rank: int) -> None:
        if title and rank >= 0 and (self.state.title is None or rank > self.state.title_rank):
            self.state.title, self.state.title_rank = title, rank

    # Sums -----------------------------------------------------------------------------------------------------------

    def _count(self, row: StepRow, sign: int) -> None:
        """Add a step to the sums of its session and request, or take it out again."""
        if row.type == "sighting" or row.corroborates is not None:
            return
        request = self._find(row.request)
        if request is not None:
            _add(request, row, sign)
            request.total_tokens += sign * _total_tokens(row)
            request.last_at = max(request.last_at, milliseconds(row.at_us))
            if request.completed_at is not None:
                request.completed_at = request.last_at
        _add(self.state, row, sign)
        if row.tokens_output is not None or row.tokens_input is not None:
            _add_tokens(self.state, row, sign)
            used = self._used(row.model or "", max(row.at_us, 0) // _DAY_US)
            used.calls += sign
            used.tokens_cache_write_1h += sign * written_for_an_hour(row)
            _add_tokens(used, row, sign)

    def _used(self, model: str, day: int) -> UsageState:
        """What a model used on a day. It counts as changed: who looks for it changes it."""
        found = self.rows.usage.get((model, day))
        if found is None:
            found = self._earlier.usage(model, day) or UsageState(self.state.session_id, model, day)
            self.rows.usage[model, day] = found
        return found

    def _replaced(self, step: Recorded) -> StepRow | None:
        """The row whose value the step replaces, taken out of the sums."""
        n = whole_or_none(step.meta.get("revises"))
        found = None
        if n is not None and 0 <= n < step.n:
            found = self._earlier.step(n)
        while found is not None and found.revised_by is not None:
            found = self._earlier.step(found.revised_by)
        if found is not None:
            self._count(found, -1)
            self.rows.revised.append((step.n, found.id))
        return found

    # Requests -------------------------------------------------------------------------------------------------------

    def _request_of(self, step: Recorded, replaced: StepRow | None) -> int | None:
        """The prompt that a step belongs to: its own number if it is one that a human gave."""
        if replaced is not None:
            return replaced.request
        twin = whole_or_none(step.meta.get("corroborates"))
        if opened_kind(step.type, step.meta) is not None:
            self._prompts[step.n] = step.n
            return step.n
        return self._prompt_at(twin if twin is not None else whole_or_none(step.meta.get("request")))

    def _prompt_at(self, n: int | None) -> int | None:
        """The prompt of the request that entry `n` belongs to; `n` may be one that revises or corroborates the prompt."""
        if n is None or not 0 <= n < self.state.size:
            return None
        if n not in self._prompts:
            row = self._earlier.step(n)
            self._prompts[n] = None
            if row is not None:
                self._prompts[n] = row.request
        return self._prompts[n]

    def _open_request(self, step: Recorded, at_us: int) -> None:
        self._complete()
        self.state.request = step.n
        self.state.requests += 1
        at = milliseconds(at_us)
        self.rows.requests[step.n] = RequestState(
            self.state.first_id + step.n,
            step.session,
            original_user_prompt=_asked(step),
            created_at=at,
            last_at=at,
            n=step.n,
            hash=step.hash,
            kind=opened_kind(step.type, step.meta),
            is_erased=int(_PROMPT in step.withheld),
        )

    def _rate(self, request: RequestState, files: int, hosts: int) -> None:
        """Count what a request's calls mean to reach, and how much that is a minute."""
        request.file_intents += files
        request.network_intents += hosts
        minutes = max(1.0, (request.last_at - request.created_at) / 60_000)
        request.file_accessed_rate = round(request.file_intents / minutes, 3)
        request.network_rate = round(request.network_intents / minutes, 3)

    def _unasked(self) -> RequestState:
        """The request that stands for what happened without a human's prompt; in a sub-agent, for its parent's task."""
        found = self._find(0)
        if found is None:
            at = self.state.first_event_at
            kind = _INHERITED.get(self.state.kind)
            found = RequestState(self.state.first_id, self.state.session_id, created_at=at, last_at=at, kind=kind)
            self.rows.requests[0] = found
        return found

    def _complete(self) -> None:
        """The newest request is over."""
        request = self._find(self.state.request)
        if request is not None:
            request.completed_at = request.last_at

    def _find(self, n: int | None) -> RequestState | None:
        """The request of prompt `n`. It counts as changed: who looks for it changes it."""
        if n is None:
            return None
        found = self.rows.requests.get(n)
        if found is None:
            found = self._earlier.request(n)
            if found is not None:
                self.rows.requests[n] = found
        return found

    def _touch(self, n: int | None, **members: str) -> None:
        request = self._find(n)
        if request is not None:
            for name, value in members.items():
                setattr(request, name, value)


def _add(sums: SessionState | RequestState, row: StepRow, sign: int) -> None:
    sums.steps += sign
    if row.type == "tool_call":
        sums.tool_calls += sign
    if row.success == 0:
        sums.failures += sign


def _add_tokens(sums: SessionState | UsageState, row: StepRow, sign: int) -> None:
    for name in _TOKEN_COLUMNS:
        count = getattr(row, name)
        if count is not None:
            setattr(sums, name, getattr(sums, name) + sign * count)


def _total_tokens(row: StepRow) -> int:
    """All tokens of a step. Those of reasoning are among those of the output."""
    return sum(
        count or 0 for count in (row.tokens_input, row.tokens_output, row.tokens_cache_read, row.tokens_cache_write)
    )


def _asked(step: Recorded) -> str | None:
    """What was asked, without what the agent's program put around it."""
    text = _spoken_text(step)
    return None if text is None else asked_in(text)


def _spoken_text(step: Recorded) -> str | None:
    """What was said, as far as it is searchable too."""
    value = step.values.get("content.text")
    if value is None:
        return None
    return plain_text(value) or None


def _short(text: str | None) -> str | None:
    if text:
        return plain(text, _MOST_WORDS)
    return None
