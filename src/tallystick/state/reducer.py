"""From what a family of sessions has done so far, and one more recorded step, to what it has done then.

Owns when a call counts: denied ones never did, one that was asked about counts when its result is there. Every state
follows from the one before it and a step, and from nothing else; what a call does, and what is known of paths, is given by
functions. Must not know journals, nor what follows from what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import msgspec

from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Intent
from tallystick.model.plain_text import plain_text
from tallystick.model.recorded import Recorded, legible_step
from tallystick.model.step import Json
from tallystick.policy.taint.origins import PUTS, TAKES
from tallystick.policy.taint.secret_output import shows_secret
from tallystick.policy.taint.untrusted_input import Done, Earlier, Found, Hearing
from tallystick.state.approvals import asked_about
from tallystick.state.effects import CallEffects, may_change_anything
from tallystick.state.families import Start
from tallystick.state.family_state import FamilyState, FinishedCall, PendingCall
from tallystick.state.files import By, Made
from tallystick.state.grants import heard_results, scopes_asked
from tallystick.state.steps import (
    Outcome,
    folder_of,
    is_first_account,
    moment_of,
    name_of,
    opens_request,
    outcome_of_decision,
    outcome_of_result,
    tool_of,
)

_MOST_PENDING = 64
_MOST_FINISHED = 32
_MOST_SENSITIVE = 16
_MOST_APPROVED = 2_000
_MOST_GRANTED = 1_000
_MOST_SESSIONS = 2_000
_MOST_SHOWN = 256
_MOST_TAKEN = 32
_PRINTS = ("prints-secret", "prints-all-secrets")
"""What a call is remembered by that prints a secret."""

ReadCall: TypeAlias = Callable[[Call], CallEffects]
"""What a recorded call does."""


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What is known besides the steps of a family."""

    read: ReadCall
    is_secret: Callable[[str], bool] = lambda _: False
    """Whether a path holds secrets, by its name."""
    is_shared: Callable[[str], bool] = lambda _: False
    """Whether what a path holds is not a secret, whatever it looks like: it is in version control."""
    held: Callable[[str], str] = lambda _: ""
    """What a file holds now; nothing of what is not text, or too large."""
    ordered: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """What a text that agents load by themselves tells them against their user: tags."""
    earlier: Earlier = lambda _path, _is_deep: Found()
    """What is known of a path that others wrote."""


class FamilyStep(NamedTuple):
    """A step, and what the first entry of its journal says."""

    start: Start
    step: Recorded


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What one step made known."""

    request: int
    """Which prompt it belongs to."""
    call: str | None = None
    """The call that it is, or that it speaks of: SESSION:n."""
    outcome: Outcome | None = None
    """What it says became of that."""
    sensitive: tuple[str, ...] = ()
    """Secrets that were shown, and not before."""
    heard: tuple[str, ...] = ()
    """Where texts came from that were heard with it."""


def advance(state: FamilyState, told: FamilyStep, known: Knowledge) -> tuple[FamilyState, Facts]:
    """What a family has done after one more step of it, and what that step made known."""
    told = FamilyStep(told.start, legible_step(told.step))
    turn = _Turn(state, known)
    if is_first_account(told.step):
        turn.take(told.start, told.step)
    elif told.step.type == "tool_result" and "revises" in told.step.meta:
        turn.revise(told.step)
    turn.accept(heard_results(told.step))
    after = turn.state
    facts = Facts(
        request=after.request,
        call=turn.call,
        outcome=turn.outcome,
        sensitive=tuple(one for one in after.sensitive if one not in state.sensitive),
        heard=tuple(text.source for text in after.heard.texts if text.step not in turn.known_texts),
    )
    return after, facts


def about_to(state: FamilyState, call_id: str | None) -> FamilyState:
    """The state for judging a call: what is on record of it already, from the agent's transcript, has not happened yet."""
    pending = None
    if call_id is not None:
        pending = state.pending.get(call_id)
    if call_id is None or pending is None or pending.is_asked:
        return state
    waiting = msgspec.structs.replace(pending, before={}, is_asked=True)
    return msgspec.structs.replace(
        state, files=state.files.undo(pending.before), pending={**state.pending, call_id: waiting}
    )


class Loaded(NamedTuple):
    """A file that the agent has read by itself at the start."""

    text: str
    name: str
    why: str = ""
    """Why it counts as poisoned, and who wrote it; empty: it does not."""


def loaded(state: FamilyState, texts: dict[str, Loaded], known: Knowledge) -> FamilyState:
    """The state after the agent has read files by itself at the start, by path."""
    turn = _Turn(state, known)
    hearing = turn.hearing()
    for path, one in texts.items():
        if one.why:
            hearing.poisoned(path, one.text, one.name, one.why)
        else:
            hearing.loaded(path, one.text, one.name)
    return msgspec.structs.replace(state, heard=hearing.heard, has_orders=True)


class _Turn:
    """One step on its way into the state."""

    def __init__(self, state: FamilyState, known: Knowledge) -> None:
        self.state = state
        self.call: str | None = None
        self.outcome: Outcome | None = None
        self._known = known
        self.known_texts = {text.step for text in state.heard.texts}

    def hearing(self) -> Hearing:
        """What the family has heard, to be told more."""
        known = self._known
        return Hearing(known.earlier, known.is_secret, known.held, self.state.heard)

    def take(self, start: Start, step: Recorded) -> None:
        """Take in a step that tells something for the first time."""
        folder = folder_of(step)
        if folder is not None and step.type not in _STAY:
            self._put(folders=self.state.folders.put({step.session: folder}, _MOST_SESSIONS))
        match step.type:
            case "session_start":
                if self.state.workspace is None and start.parent is None:
                    self._put(workspace=folder)
            case "checkpoint":
                self._put(home=step.text("personal.home") or self.state.home)
            case "user":
                self._say(step)
                self._ask(start, step)
            case "tool_call":
                self._say(step)
                self._call(start, step)
            case "tool_result":
                self._result(step)
            case "decision" | "permission" | "security_decision":
                self._decided(step)

    def _put(self, **members: object) -> None:
        self.state = msgspec.structs.replace(self.state, **members)

    def _ask(self, start: Start, step: Recorded) -> None:
        if not opens_request(step) or start.is_part:
            return  # the task that a parent gave
        hearing = self.hearing()
        hearing.asked(step.text("content.text") or "")
        self._put(request=self.state.request + 1, heard=hearing.heard)

    # Calls ----------------------------------------------------------------------------------------------------------

    def _call(self, start: Start, step: Recorded) -> None:
        corr = _corr(step)
        call = Call(
            agent=start.agent,
            session=start.source,
            tool=tool_of(step),
            args=step.values.get("content.args"),
            cwd=self.state.folders.get(step.session) or self.state.workspace,
            call_id=corr,
            home=self.state.home,
        )
        tool = step.member("tool")
        pending = PendingCall(
            session=step.session,
            step=name_of(step),
            tool=tool if isinstance(tool, str) else "",
            deed=self._known.read(call),
            at_us=moment_of(step),
        )
        self.call = pending.step
        self._count(pending)
        pending = self._changed(pending)
        if start.sid not in self.state.has_results:
            self._finish_all(start.sid)
        if "content.output" in step.values:  # some agents tell a call and its result as one
            self._wait_for(corr or "", pending)
            self._result(step)
            return
        self._wait_for(corr or f"#{step.hash}", pending)
        while len(self.state.pending) > _MOST_PENDING:
            self._finish(self._taken_out(next(iter(self.state.pending))), None, is_marked=False)

    def _count(self, pending: PendingCall) -> None:
        state = self.state
        self._put(calls=state.calls + 1)
        if pending.deed.hosts:
            times = state.network_times.add(pending.at_us)
            self._put(network_calls=state.network_calls + 1, network_times=times)
        elif pending.deed.files:
            self._put(file_times=state.file_times.add(pending.at_us))

    def _wait_for(self, key: str, pending: PendingCall) -> None:
        self._put(pending={**self.state.pending, key: pending})

    def _taken_out(self, key: str) -> PendingCall:
        pending = self.state.pending[key]
        self._put(pending={other: one for other, one in self.state.pending.items() if other != key})
        return pending

    def _decided(self, step: Recorded) -> None:
        key = self._key_of(step)
        if key is None:
            return
        pending = self.state.pending[key]
        self.call = pending.step
        self.outcome = outcome_of_decision(step)
        if self.outcome is Outcome.DENIED:
            self._taken_back(self._taken_out(key))
            self._put(calls=self.state.calls - 1)
        elif self.outcome is Outcome.ASKED and not pending.is_asked:
            digests, hosts = asked_about(step)
            asked = tuple(scope.key for scope in scopes_asked(step))
            pending = msgspec.structs.replace(
                self._taken_back(pending),
                is_asked=True,
                digests=digests,
                hosts=hosts,
                asked=asked,
                decision=name_of(step),
            )
            self._wait_for(key, pending)

    def _key_of(self, step: Recorded) -> str | None:
        """The call that a decision is on: the one with its id, or without one the newest of its session."""
        corr, pending = _corr(step), self.state.pending
        if corr is None:
            return next((key for key in reversed(pending) if pending[key].session == step.session), None)
        if corr in pending:
            return corr
        return None

    def _result(self, step: Recorded) -> None:
        if step.session not in self.state.has_results:
            self._put(has_results=self.state.has_results.put({step.session: True}, _MOST_SESSIONS))
        key = _corr(step) or ""
        if key not in self.state.pending:
            return
        pending = self._taken_out(key)
        self.call, self.outcome = pending.step, outcome_of_result(step)
        if self.outcome is Outcome.DENIED:
            self._taken_back(pending)
            return
        self._end(key, pending, self.outcome, name_of(step))
        if may_change_anything(pending.deed.effects):
            self._put(files=self.state.files.loosen(moment_of(step)))
        output = step.values.get("content.output")
        is_marked = step.meta.get("scrubbed") is not None
        told = None if "unsearched" in step.meta else _output_text(output)
        is_read = self._finish(pending, told, is_marked=is_marked)
        if is_marked and (is_read or not any(map(_is_taken, pending.deed.effects.intents))):
            self._show(step, pending.step if is_read else f"?{pending.step}")

    def _end(self, key: str, pending: PendingCall, outcome: Outcome, result: str) -> None:
        """What a call changed counts as its result says. What it would be otherwise is kept: another source may say so."""
        if pending.is_asked:
            pending = self._changed(pending)
        made = self.state.files
        own = {path: known for path, known in pending.before.items() if _is_of(pending, made.made_files.get(path))}
        self._put(files=made.undo(own))
        paths = self._changed(pending, _stood_before).before.keys() | own.keys()
        finished = FinishedCall(
            outcome=outcome,
            if_made=made.at(paths),
            if_failed=self.state.files.at(paths),
            digests=pending.digests,
            hosts=pending.hosts,
            asked=pending.asked,
            decision=pending.decision,
            result=result,
        )
        self._put(files=made)
        if outcome is Outcome.MADE:
            self._approve(finished)
        else:
            self._changed(self._taken_back(pending), _stood_before)
        if paths or pending.is_asked:
            others = {other: one for other, one in self.state.finished.items() if other != key}
            self._put(finished=dict([*others.items(), (key, finished)][-_MOST_FINISHED:]))

    def revise(self, step: Recorded) -> None:
        """Another source says how a call ended: what no later call changed is as that says."""
        key = _corr(step)
        finished, outcome = self.state.finished.get(key or ""), outcome_of_result(step)
        if key is None or finished is None or outcome is finished.outcome or outcome is Outcome.DENIED:
            return
        self.outcome = outcome
        was, now = finished.if_made, finished.if_failed
        if outcome is Outcome.MADE:
            was, now = now, was
        files = self.state.files
        same = {path for path, known in files.at(was).items() if known == was[path]}
        self._put(
            files=files.undo({path: known for path, known in now.items() if path in same}),
            finished={**self.state.finished, key: msgspec.structs.replace(finished, outcome=outcome)},
        )
        if outcome is Outcome.MADE:
            self._approve(finished)
        else:
            self._put(
                approved=self.state.approved.put(dict.fromkeys(finished.digests), _MOST_APPROVED),
                hosts=self.state.hosts - set(finished.hosts),
            )

    def accept(self, results: tuple[str, ...]) -> None:
        """A hook tells of results: what was asked about calls that were made is granted, for this session."""
        for finished in self.state.finished.values() if results else ():
            if finished.asked and finished.result in results and finished.outcome is Outcome.MADE:
                granted = dict.fromkeys(finished.asked, finished.decision)
                self._put(granted=self.state.granted.put(granted, _MOST_GRANTED))

    def _approve(self, finished: FinishedCall) -> None:
        """The user said yes to what a call was asked about, if it was: it was made."""
        self._put(
            approved=self.state.approved.put(dict.fromkeys(finished.digests, True), _MOST_APPROVED),
            hosts=self.state.hosts | set(finished.hosts),
        )

    def _finish_all(self, session: str) -> None:
        """Calls of a session whose results no one reports."""
        pending = self.state.pending
        for key in [key for key, one in pending.items() if one.session == session and not one.is_asked]:
            self._finish(self._taken_out(key), None, is_marked=False)

    def _say(self, step: Recorded) -> None:
        """A secret was said, if one was: by the user, or in a call."""
        if step.meta.get("scrubbed") is not None:
            self._show(step, f"?{name_of(step)}")

    def _show(self, step: Recorded, origin: str) -> None:
        """A step showed a secret."""
        self._put(shown=self.state.shown.put({name_of(step): origin}, _MOST_SHOWN))

    def _finish(self, pending: PendingCall, output: str | None, *, is_marked: bool) -> bool:
        """A call was made; whether it showed a secret.

        Args:
            output: None where it is not on record. is_marked: it held a secret, as the scrubber saw.
        """
        deed, known = pending.deed, self._known
        gives = shows_secret(
            deed.effects, output or "", root=self.state.workspace, is_marked=is_marked, is_shared=known.is_shared
        )
        sensitive = deed.sensitive
        if output is not None and not is_marked:
            sensitive = _still_sensitive(deed)
        done = Done(
            step=pending.step,
            tool=pending.tool,
            effects=deed.effects,
            texts=deed.texts,
            output=output,
            folder=deed.folder or "",
            is_unlisted=deed.is_unlisted,
            is_sensitive=gives or bool(sensitive),
        )
        if output is None and any(one.startswith(_PRINTS) for one in sensitive):
            self._put(has_unseen=True)
        if deed.values:
            self._put(taken=self.state.taken.put({pending.step: deed.values}, _MOST_TAKEN))
        before = self.state.heard.sensitive
        hearing = self.hearing()
        hearing.done(done)
        self._put(heard=hearing.heard)
        is_new = (len(hearing.sensitive), hearing.sensitive[-1:]) != (len(before), before[-1:])
        if is_new:
            self._note_sensitive(hearing.sensitive[-1:])
        elif gives or sensitive:
            self._note_sensitive(tuple(f"{what} ({pending.step})" for what in sensitive or (_what(pending),)))
        return gives or is_new or bool(sensitive)

    def _note_sensitive(self, what: tuple[str, ...]) -> None:
        sensitive = tuple(dict.fromkeys((*self.state.sensitive, *what)))[-_MOST_SENSITIVE:]
        self._put(sensitive=sensitive)

    def _changed(self, pending: PendingCall, wanted: Callable[[Intent], bool] = lambda _: True) -> PendingCall:
        by = By(
            at_us=pending.at_us,
            session=pending.session,
            step=pending.step,
            request=self.state.request,
            existing=pending.deed.existing,
        )
        changed = self.state.files.change(by, pending.deed.effects, wanted)
        self._put(files=changed.files)
        return msgspec.structs.replace(pending, before=changed.before)

    def _taken_back(self, pending: PendingCall) -> PendingCall:
        self._put(files=self.state.files.undo(pending.before))
        return msgspec.structs.replace(pending, before={})


_STAY = frozenset(("tool_result", "decision", "permission", "security_decision"))
"""Steps whose folder is not where their session works."""


def _stood_before(intent: Intent) -> bool:
    """Whether an intent of a script that failed has happened: a shell reports how its last statement ended."""
    return not intent.is_last


def _still_sensitive(deed: CallEffects) -> tuple[str, ...]:
    """What a call reads that is a secret, where all that it printed is on record and holds none: files, or into files."""
    if any(one.domain is Domain.FILE and one.operation in PUTS for one in deed.effects.intents):
        return deed.sensitive
    return tuple(one for one in deed.sensitive if one.startswith("/"))


def _is_taken(intent: Intent) -> bool:
    return intent.domain is Domain.FILE and intent.operation in TAKES


def _is_of(pending: PendingCall, made: Made | None) -> bool:
    """Whether what is known of a path is what a call made of it, and not another one after it."""
    return made is None or made.step == pending.step


def _corr(step: Recorded) -> str | None:
    corr = step.member("corr")
    if isinstance(corr, str):
        return corr
    return None


def _output_text(output: Json) -> str | None:
    if output is None:
        return None
    return plain_text(output)


def _what(pending: PendingCall) -> str:
    """What a call was, for people."""
    paths = [intent.target for intent in pending.deed.effects.intents if intent.operation in TAKES]
    return (paths or [*pending.deed.texts] or [pending.tool or "a call"])[0][:200]
