"""Why a call is decided as it is: its acts with all that is known of them, and the rules that speak.

Owns putting a recorded call, or a command that someone types, before the policies in force now. A recorded call is judged
by what its session had done before it, as the journals tell; what was decided when it was made is reported beside it, and
whether the two agree.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from tallystick.catalog.agents import CONVENTIONS
from tallystick.errors import NotFoundError
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.guard.decide import Decider
from tallystick.guard.differing import ComparedAnswer, Outcome, answer_of, compare
from tallystick.guard.fallback_decision import is_undecided
from tallystick.guard.grounds import AgentMachine
from tallystick.guard.policy_rules import own_texts
from tallystick.guard.recorded_context import Moment
from tallystick.guard.what_if import Change, Finding, Judge, changes, findings
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Source
from tallystick.policy.facts import Facts, Plain, attributes, name_of, type_of
from tallystick.policy.settings import Settings
from tallystick.recording.own_session import RECORDER
from tallystick.state.steps import moment_of, tool_of
from tallystick.workspace.index import Index
from tallystick.workspace.names import find_step

_USUAL: tuple[Plain, ...] = ("", "unknown", "trusted", False, 0, [])
"""Values that say nothing in particular."""
_USUAL_OF: tuple[tuple[str, Plain], ...] = (("is_known", True), ("write_outside_workspace", "ask"))


class ToldAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act of a call: what is done to what, what is known of that, and the rules that speak against it."""

    action: str
    type: str
    target: str
    known: dict[str, Json]
    because: tuple[str, ...]
    rules: tuple[str, ...]


NOT_COMPARED: Final = "not-compared"
"""No policy decided: the answer was that of hooks.on_error, or the call was never asked about."""


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A call, what is decided on it now, and why. `recorded` is what was decided when it was made, if it was."""

    call: Call
    decision: Decision
    context: dict[str, Json]
    acts: tuple[ToldAct, ...]
    findings: tuple[Finding, ...] = ()
    """What would be done → which fact → which rule, for each rule that speaks."""
    changes: tuple[Change, ...] = ()
    """Single changes with which the answer would be milder."""
    recorded: dict[str, Json] | None = None
    agreement: Outcome | Literal["not-compared"] | None = None
    """Whether it is the decision that was made then. None: the call is not a recorded one."""


def explain_command(home: Home, command: str, *, tool: str, agent: str, folder: str) -> Explained:
    """What would be decided on a command, or on a call of another tool whose arguments are given as JSON."""
    args: Json = {"command": command}
    if tool not in ("Bash", "shell"):
        try:
            args = msgspec.json.decode(command)
        except msgspec.DecodeError:
            args = {"command": command}
    return explain_call(home, Call(agent=agent, session="explain", tool=tool, args=args, cwd=folder))


def explain_step(index: Index, home: Home, name: str) -> Explained:
    """What is decided now on a call that is in the record, by the state that its session had then.

    Raises: NotFoundError: there is no such step, or it is not a call. What `find_step` raises.
    """
    place = find_step(index, name)
    found = _read(home, place.session, place.n)
    if found.call is None or found.call.type != "tool_call":
        raise NotFoundError(
            f"step {name} is not a call of a tool", hint="`tally log --type tool_call` lists those that are"
        )
    step = found.call
    call = Call(
        agent=str(step.member("agent") or found.agent or CONVENTIONS.assumed),
        session=found.source or place.session,
        tool=tool_of(step),
        args=step.values.get("content.args"),
        cwd=found.folder,
    )
    moment = Moment(_precedes(step), moment_of(step))
    explained = _explained(home, call, lambda decider: decider.facts_at(call, moment))
    decided = found.decided
    return msgspec.structs.replace(
        explained, recorded=decided, agreement=_agreement(index, home, explained.decision, found)
    )


class _Found(NamedTuple):
    """A recorded call, with what its journal says around it."""

    call: Recorded | None
    decided: dict[str, Json] | None
    folder: str | None
    agent: str
    source: str


def _read(home: Home, session: str, n: int) -> _Found:
    """Read the journal of a session up to the decision on a call."""
    call, folder, agent, source = None, None, "", ""
    for step in read_session(home, session, load_blobs=True):
        source = str(step.member("source_session") or source)
        agent = agent or str(step.member("agent") or "")
        if call is None:
            folder = step.text("personal.cwd") or folder
        if step.n == n:
            call = step
        elif call is not None and step.type == "decision" and step.member("corr") == call.member("corr"):
            return _Found(call, {**step.meta, **step.values}, folder, agent, source)
    return _Found(call, None, folder, agent, source)


def _precedes(call: Recorded) -> Callable[[Recorded], bool]:
    """Whether a step of the same family was there before a call."""
    at_us = moment_of(call)

    def precedes(step: Recorded) -> bool:
        if step.session == call.session:
            return step.n < call.n
        return moment_of(step) < at_us

    return precedes


def _agreement(index: Index, home: Home, now: Decision, found: _Found) -> Outcome | Literal["not-compared"]:
    """Whether a decision is the one that was made. Of one that let a call through in silence, nothing is on record."""
    step, then = found.call, found.decided or {}
    if step is None or step.meta.get("source") != Source.HOOK.value or "spooled" in step.meta:
        return NOT_COMPARED
    rules = _rules_in(then)
    if is_undecided(rules) or then.get("decided_by", "policy") != "policy":
        return NOT_COMPARED
    policy, effect, would = then.get("policy", now.policy), then.get("effect", Effect.ALLOW.value), then.get("would")
    shown = compare(ComparedAnswer(_text(policy), str(effect), _text(would), rules), answer_of(now))
    if shown is not Outcome.OTHER_RULES and _has_changed_since(index, home, step):
        return Outcome.OTHER_RULES
    return shown


def _text(said: Json) -> str | None:
    return None if said is None else str(said)


def _rules_in(decided: dict[str, Json]) -> frozenset[str]:
    said = decided.get("rules")
    if isinstance(said, list):
        return frozenset(map(str, said))
    return frozenset()


def _has_changed_since(index: Index, home: Home, call: Recorded) -> bool:
    """Whether the recorder has told of other policies, or of another setting of theirs, since a call."""
    at_us = moment_of(call)
    for row in list_sessions(index.graph, SessionFilter(agents=(RECORDER,))):
        for step in read_session(home, row.session):
            if moment_of(step) > at_us and (step.type == "policy_change" or _is_of_policy(step)):
                return True
    return False


def _is_of_policy(step: Recorded) -> bool:
    return step.type == "config_change" and str(step.meta.get("key", "")).startswith("policy.")


def explain_call(home: Home, call: Call) -> Explained:
    """What is decided on a call, act by act."""

    def facts(decider: Decider) -> Facts:
        decider.read_history(call)
        return decider.facts(call)

    return _explained(home, call, facts)


def _decider(home: Home, settings: Settings | None = None) -> Decider:
    return Decider(home, AgentMachine(Path.home(), environment=os.environ), settings=settings)


def _explained(home: Home, call: Call, find: Callable[[Decider], Facts]) -> Explained:
    decider = _decider(home)
    facts = find(decider)
    policies = decider.policies.in_force(facts.root)
    settings = decider.policies.settings

    def judged_with(other: Settings) -> Decision:
        changed = _decider(home, other)
        found = find(changed)
        return changed.policies.in_force(found.root).decide(found, other)

    judge = Judge(
        policies=policies,
        facts=facts,
        settings=settings,
        own=own_texts(decider.policies, facts.root),
        judged_with=judged_with,
    )
    alone = [policies.decide(msgspec.structs.replace(facts, acts=(act,)), settings).rules for act in facts.acts]
    return Explained(
        call=call,
        decision=policies.decide(facts, settings),
        context=_unusual_members(attributes(facts.context)),
        acts=tuple(
            ToldAct(
                action=str(act.action),
                type=type_of(act.resource),
                target=name_of(act.resource),
                known=_unusual_members(attributes(act.resource)),
                because=act.because,
                rules=rules,
            )
            for act, rules in zip(facts.acts, alone, strict=True)
        ),
        findings=findings(judge),
        changes=changes(judge),
    )


def _unusual_members(found: dict[str, Plain]) -> dict[str, Json]:
    """The members that say something: not those that are as they usually are."""
    return {
        name: list(value) if isinstance(value, list) else value
        for name, value in found.items()
        if value not in _USUAL and (name, value) not in _USUAL_OF
    }
