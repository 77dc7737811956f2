"""What a person allowed, as recorded steps tell: what was asked about, and what a command granted or took back.

Owns these readings, and the step that a grant is sealed as. That an asked call was made is the yes: a result says that, so a
yes in a session has no step of its own. Must not know when a grant is used.
"""

from __future__ import annotations

import msgspec

from tallystick.model.grant import Grant, GrantKind, Scope
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Source, Step
from tallystick.state.steps import name_of

_ABOUT = "grant"
_ASKED = "content.asked"
_RECORDER = "recorder"


def scopes_asked(step: Recorded) -> tuple[Scope, ...]:
    """What a decision asked the user about. Nothing where the agent was refused, for then a result is not a yes."""
    if step.member("told") is not None:
        return ()
    return scopes_in(step)


def scopes_in(step: Recorded) -> tuple[Scope, ...]:
    """What a decision or a grant is about, as far as that can be remembered."""
    try:
        return msgspec.convert(step.values.get(_ASKED, []), tuple[Scope, ...])
    except msgspec.ValidationError:  # a part of it is withheld, or it is another's
        return ()


def heard_results(step: Recorded) -> tuple[str, ...]:
    """The steps that a hook tells of as results. A transcript does not count: it is a file that an agent could write."""
    if step.meta.get("source") != Source.HOOK.value:
        return ()
    if step.type == "tool_result":
        first = step.meta.get("corroborates", step.n)
        return (f"{step.session[:12]}:{first}",)
    seen = step.meta.get("steps")
    if step.type != "sighting" or not isinstance(seen, list):
        return ()
    return tuple(f"{step.session[:12]}:{one.get('n')}" for one in seen if isinstance(one, dict))


def step_of_grant(grant: Grant, *, ts: str) -> Step:
    """The step of a grant, of the session `recorder`."""
    is_yes = grant.kind is not GrantKind.REVOKED
    meta: dict[str, Json] = {
        "about": _ABOUT,
        "decision": "allow" if is_yes else "deny",
        "decided_by": "user",
        "kind": grant.kind.value,
        "refers": grant.about,
        "until_us": grant.until_us,
    }
    values: dict[str, Json] = {
        "content.agent": grant.agent,
        "content.session": grant.session,
        "personal.project": grant.project,
        "content.call": grant.call,
        _ASKED: [msgspec.to_builtins(scope) for scope in grant.scopes],
    }
    said = {name: value for name, value in values.items() if value}
    return Step(session=_RECORDER, type="permission", source=Source.SDK, ts=ts, meta=meta, values=said)


def sealed_grant(step: Recorded) -> Grant | None:
    """The grant that a recorded step holds; None for any other step."""
    kind, about, until_us = step.member("kind"), step.member("refers"), step.member("until_us")
    if step.type != "permission" or step.member("about") != _ABOUT or not isinstance(about, str):
        return None
    if kind not in list(GrantKind) or type(until_us) is not int:
        return None
    return Grant(
        id=name_of(step),
        kind=GrantKind(kind),
        about=about,
        scopes=scopes_in(step),
        agent=step.text("content.agent") or "",
        session=step.text("content.session") or "",
        project=step.text("personal.project") or "",
        call=step.text("content.call") or "",
        until_us=until_us,
    )
