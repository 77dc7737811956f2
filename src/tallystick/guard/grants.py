"""Grants as people give them: by the name of a decision on record, for a session, a project, or one call once.

Owns what can be granted and for how long, what is in force, and which questions were always answered with yes. Must not know
how a grant is found when a call is judged (`call_grants`), nor who is asked.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.errors import NotFoundError, UsageError
from tallystick.graph.alerts import get_alert
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.guard.call_grants import is_releasable, project_of
from tallystick.guard.decide import Decider
from tallystick.guard.grant_folder import KeptGrants, rebuild, sealed_grants
from tallystick.guard.grounds import AgentMachine
from tallystick.guard.suggest import answered
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.decision import Call
from tallystick.model.grant import Grant, GrantKind, Scope
from tallystick.model.recorded import Recorded
from tallystick.recording.own_session import RECORDER
from tallystick.state.families import base_of
from tallystick.state.grants import heard_results, scopes_asked, scopes_in
from tallystick.state.steps import Outcome, name_of, outcome_of_result, tool_of
from tallystick.workspace.index import Index
from tallystick.workspace.names import find_step

HOUR_US = 3_600_000_000
DEFAULT_US = {GrantKind.SESSION: 24 * HOUR_US, GrantKind.PROJECT: 30 * 24 * HOUR_US, GrantKind.RELEASE: HOUR_US // 6}
"""How long a grant holds if nothing else is said."""
MOST_US = {GrantKind.SESSION: 7 * 24 * HOUR_US, GrantKind.PROJECT: 366 * 24 * HOUR_US, GrantKind.RELEASE: HOUR_US}
_OFTEN = 2


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was denied or asked about, as it is on record."""

    name: str
    """Of the decision, SESSION:n."""
    call: Call
    effect: str
    rules: tuple[str, ...]
    reason: str
    scopes: tuple[Scope, ...]
    is_scrubbed: bool
    """The record does not have the call as it was: secrets are taken out."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A grant, and whether it is in force."""

    grant: Grant
    ts: str
    is_in_force: bool
    by: str
    """`command`, or `yes`: the answer to a question."""


class Suggested(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked several times and always answered with yes."""

    scope: Scope
    times: int
    step: str
    """The newest decision that asked."""


def find_stopped(home: Home, index: Index, name: str) -> Stopped:
    """The call that a name stands for: an alert's number, or the step of the alert, the decision or the call.

    Raises: NotFoundError, AmbiguousError, UsageError: it names no call that was stopped.
    """
    session, n = _place(index, name)
    steps = {step.n: step for step in read_session(home, session, load_blobs=True)}
    named = steps.get(n)
    number = n
    if named is not None and named.type != "tool_call":
        parent = named.meta.get("parent")
        number = parent if type(parent) is int else -1
    call = steps.get(number)
    decided = [one for one in steps.values() if one.type == "decision" and one.meta.get("parent") == number]
    if call is None or call.type != "tool_call" or not decided:
        raise NotFoundError(f"{name} is not a call that policy stopped", hint="`tally alerts` lists them")
    return _stopped(list(steps.values()), call, decided[-1])


def _place(index: Index, name: str) -> tuple[str, int]:
    if name.isascii() and name.isdigit() and len(name) < 16:
        alert = get_alert(index.graph, int(name))
        if alert is None or alert.session is None or alert.n is None:
            raise NotFoundError(f"no alert {name}", hint="`tally alerts` lists them")
        return alert.session, alert.n
    place = find_step(index, name)
    return place.session, place.n


def _stopped(steps: list[Recorded], call: Recorded, decision: Recorded) -> Stopped:
    agent = source = folder = ""
    for step in steps:
        source = source or str(step.member("source_session") or "")
        agent = agent or str(step.member("agent") or "")
        if step.n <= call.n:
            folder = step.text("personal.cwd") or folder
    rules = decision.meta.get("rules")
    made = Call(
        agent=str(call.member("agent") or agent),
        session=source or call.session,
        tool=tool_of(call),
        args=call.values.get("content.args"),
        cwd=folder or None,
    )
    return Stopped(
        name=name_of(decision),
        call=made,
        effect=str(decision.meta.get("effect", "")),
        rules=tuple(map(str, rules if isinstance(rules, list) else ())),
        reason=decision.text("content.text") or "",
        scopes=scopes_in(decision),
        is_scrubbed=call.meta.get("scrubbed") is not None or "content.args" in call.withheld,
    )


# What may be granted --------------------------------------------------------------------------------------------------


def granting(home: Home, stopped: Stopped, kind: GrantKind, *, now_us: int, for_us: int | None = None) -> Grant:
    """The grant that would let a call through. It is not in force before `grant_folder.give` has sealed it.

    Raises: UsageError: it cannot be granted, or not for so long; the message says why.
    """
    lasts_us = DEFAULT_US[kind]
    if for_us is not None:
        lasts_us = for_us
    if not 0 < lasts_us <= MOST_US[kind]:
        raise UsageError(f"a grant of this kind holds for {MOST_US[kind] // HOUR_US} hours at most")
    _refuse_never(stopped)
    until_us = now_us + lasts_us
    if kind is GrantKind.RELEASE:
        return _release(home, stopped, until_us)
    if not stopped.scopes:
        raise UsageError(
            f"{stopped.name} cannot be granted: {_why_not(stopped)}",
            hint=f"`tally policy release {stopped.name}` lets this one call run once",
        )
    grant = Grant(kind=kind, about=stopped.name, scopes=stopped.scopes, until_us=until_us)
    if kind is GrantKind.PROJECT:
        decider = _decider(home)
        return msgspec.structs.replace(grant, project=project_of(decider.facts(stopped.call), stopped.call))
    return _of_session(grant, stopped)


def _why_not(stopped: Stopped) -> str:
    if stopped.effect == "deny":
        return "its rule denies, and only questions are granted"
    return "what it does is not known well enough for a second call to be the same"


def _refuse_never(stopped: Stopped) -> None:
    if not is_releasable(stopped.rules):
        raise UsageError(
            f"{stopped.name} cannot be let through: {', '.join(stopped.rules) or 'no rule'}",
            hint="rules that protect the record, and values that leave, are lifted by no one; run it yourself if it must run",
        )


def _release(home: Home, stopped: Stopped, until_us: int) -> Grant:
    key = None
    if not stopped.is_scrubbed:
        key = _decider(home).call_key(stopped.call)
    if key is None:
        raise UsageError(
            f"{stopped.name} cannot be released: the record does not have all of it, or files that it runs cannot be read",
            hint="run it yourself",
        )
    return _of_session(Grant(kind=GrantKind.RELEASE, about=stopped.name, call=key, until_us=until_us), stopped)


def _of_session(grant: Grant, stopped: Stopped) -> Grant:
    return msgspec.structs.replace(grant, agent=stopped.call.agent, session=base_of(stopped.call.session))


def _decider(home: Home) -> Decider:
    return Decider(home, AgentMachine(Path.home(), environment=os.environ))


def rebuild_folder(home: Home, index: Index) -> None:
    """Make the folder of grants again from what is sealed, if anything was granted."""
    own = _own_sessions(index)
    if any(True for _ in sealed_grants(home, own)):
        rebuild(home, own)


def _own_sessions(index: Index) -> list[str]:
    return [row.session for row in list_sessions(index.graph, SessionFilter(agents=(RECORDER,), limit=None))]


# What is in force -----------------------------------------------------------------------------------------------------


def list_grants(home: Home, index: Index, *, since: str) -> list[Listed]:
    """Grants by commands, and the yeses of sessions with a step since a time; the newest last."""
    own = _own_sessions(index)
    in_force = {grant.id for grant in KeptGrants(home).in_force()}
    sealed = list(sealed_grants(home, own))
    taken_back = {grant.about for _, grant in sealed if grant.kind is GrantKind.REVOKED}
    found = [
        Listed(grant=grant, ts=ts, is_in_force=grant.id in in_force and grant.id not in taken_back, by="command")
        for ts, grant in sealed
        if grant.kind is not GrantKind.REVOKED
    ]
    rows = list_sessions(index.graph, SessionFilter(since=since, limit=None))
    for row in rows:
        if row.agent != RECORDER:
            found += _yeses(home, row.session, row.source_session or row.session, taken_back)
    return sorted(found, key=lambda one: one.ts)


def _yeses(home: Home, sid: str, source: str, taken_back: set[str]) -> Iterator[Listed]:
    """What a session was asked and allowed."""
    asked: dict[str, Recorded] = {}
    results: dict[str, str] = {}
    for step in read_session(home, sid, load_blobs=True):
        corr = str(step.member("corr"))
        if step.type == "decision" and step.meta.get("effect") == "ask" and scopes_asked(step):
            asked[corr] = step
        elif step.type == "tool_result" and corr in asked and outcome_of_result(step) is Outcome.MADE:
            results[name_of(step)] = corr
        for result in heard_results(step):
            decision = asked.pop(results.pop(result, ""), None)
            if decision is None:
                continue
            name = name_of(decision)
            grant = Grant(
                id=name, kind=GrantKind.SESSION, about=name, scopes=scopes_asked(decision), session=base_of(source)
            )
            yield Listed(grant=grant, ts=str(decision.meta.get("ts", "")), is_in_force=name not in taken_back, by="yes")


def suggest_grants(home: Home, *, since: str | None = None) -> list[Suggested]:
    """What was asked at least twice and always answered with yes, the most frequent first."""
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    yes: defaultdict[Scope, list[str]] = defaultdict(list)
    no: set[Scope] = set()
    for step, was_made in answered(home, since):
        for scope in scopes_asked(step):
            if was_made:
                yes[scope].append(name_of(step))
            else:
                no.add(scope)
    found = [
        Suggested(scope=scope, times=len(steps), step=steps[-1])
        for scope, steps in yes.items()
        if scope not in no and len(steps) >= _OFTEN
    ]
    return sorted(found, key=lambda one: (-one.times, one.scope.rule, one.scope.target))
