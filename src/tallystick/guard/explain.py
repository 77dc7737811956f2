"""Why a call is decided as it is: its acts with all that is known of them, and the rules that speak.

Owns putting a recorded call, or a command that someone types, before the policies in force now. What was decided when
the call was made is in the record; both are reported.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from tallystick.catalog.agents import CONVENTIONS
from tallystick.errors import NotFoundError
from tallystick.guard.decide import AgentMachine, Decider
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.decision import Call, Decision
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.facts import Plain, attributes, name_of, type_of
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


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A call, what is decided on it now, and why. `recorded` is what was decided when it was made, if it was."""

    call: Call
    decision: Decision
    context: dict[str, Json]
    acts: tuple[ToldAct, ...]
    recorded: dict[str, Json] | None = None


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
    """What is decided now on a call that is in the record.

    Raises: NotFoundError: there is no such step, or it is not a call. What `find_step` raises.
    """
    place = find_step(index, name)
    steps = read_session(home, place.session, load_blobs=True)
    folder: str | None = None
    call: Recorded | None = None
    decided: dict[str, Json] | None = None
    source = ""
    for step in steps:
        source = str(step.member("source_session") or source)
        if call is None:
            folder = step.text("personal.cwd") or folder
        if step.n == place.n:
            call = step
        elif call is not None and step.type == "decision" and step.member("corr") == call.member("corr"):
            decided = {**step.meta, **step.values}
            break
    if call is None or call.type != "tool_call":
        raise NotFoundError(
            f"step {name} is not a call of a tool", hint="`tally log --type tool_call` lists those that are"
        )
    asked = Call(
        agent=str(call.member("agent") or CONVENTIONS.assumed),
        session=source or place.session,
        tool=str(call.member("tool") or ""),
        args=call.values.get("content.args"),
        cwd=folder,
    )
    return msgspec.structs.replace(explain_call(home, asked), recorded=decided)


def explain_call(home: Home, call: Call) -> Explained:
    """What is decided on a call, act by act."""
    decider = Decider(home, AgentMachine(Path.home(), environment=os.environ))
    decider.read_history(call)
    facts = decider.facts(call)
    policies = decider.policies.in_force(facts.root)
    settings = decider.policies.settings
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
    )


def _unusual_members(found: dict[str, Plain]) -> dict[str, Json]:
    """The members that say something: not those that are as they usually are."""
    return {
        name: list(value) if isinstance(value, list) else value
        for name, value in found.items()
        if value not in _USUAL and (name, value) not in _USUAL_OF
    }
