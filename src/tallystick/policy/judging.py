"""A call → Facts: everything that policies see of it, put together.

Owns the order in which things are found out. Must not know what follows from a fact.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.model.decision import Call
from tallystick.policy.acts import acts_of
from tallystick.policy.facts import Act, Action, CallFacts, Context, Facts
from tallystick.policy.guarded import Guarded, Shell, guarded
from tallystick.policy.places import Places
from tallystick.policy.reading import CallReading, read_call
from tallystick.policy.recorder import Recorder
from tallystick.policy.risks import risks_of
from tallystick.policy.settings import Settings
from tallystick.policy.world import Past, World


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for all calls on one machine."""

    home: str
    places: Places
    recorder: Recorder
    shell: Shell
    variables: Mapping[str, str]
    temporary: tuple[str, ...] = ()


def facts_of(call: Call, ground: Ground, world: World, settings: Settings) -> Facts:
    """What is known of a call. Never raises for what an agent gave."""
    past = world.past()
    workspace = past.workspace or call.cwd
    if workspace is not None:
        workspace = world.tracking(workspace).root or workspace
    reading = read_call(
        call, world, home=ground.home, workspace=workspace, variables=[*ground.variables.items(), *past.environment]
    )
    own = guarded(call, ground.places, ground.recorder, ground.shell)
    acts = (_whole(reading, own, settings), *acts_of(reading, world, settings, ground.temporary))
    return Facts(agent=call.agent, context=_context(call, past, settings), acts=acts)


def _whole(reading: CallReading, own: Guarded, settings: Settings) -> Act:
    """The call as a whole."""
    found = list(risks_of(reading, settings))
    names = {risk.name for risk in found}
    names |= {"reads-signing-key"} if own.reads_keys else set()
    names |= {"stops-recorder"} if own.stops_recorder else set()
    names |= {"weakens-record"} if own.weakens_record else set()
    whole = CallFacts(
        tool=reading.call.tool[:200],
        kind=own.kind,
        risks=frozenset(names),
        opaque=frozenset(reading.effects.opaque),
        touches=frozenset(map(str, own.touches)),
        may_touch=frozenset(map(str, own.may_touch)),
        mentions=frozenset(map(str, own.mentions)),
    )
    return Act(action=Action.CALL, resource=whole, because=tuple(f"{risk.name}: {risk.target}" for risk in found))


def _context(call: Call, past: Past, settings: Settings) -> Context:
    return Context(
        tool=call.tool[:200],
        session=call.session[:200],
        folder=call.cwd or "",
        markers=past.markers,
        write_outside_workspace=settings.write_outside_workspace,
        limits_egress=bool(settings.hosts),
    )
