"""A call → Facts: everything that policies see of it, put together.

Owns the order in which things are found out. Must not know what follows from a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import msgspec

from tallystick.model.decision import Call, legible_call
from tallystick.model.paths import System, folder_of, home_of, system_of
from tallystick.policy.calls.acts import acts_of, is_below
from tallystick.policy.calls.reader import CallReader
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.cedar.globs import Anchors
from tallystick.policy.content.inspection import module_risks
from tallystick.policy.detector import Detector, detected
from tallystick.policy.facts import Act, Action, CallFacts, Context, Facts
from tallystick.policy.limits import over
from tallystick.policy.network.unknown_packages import strangers
from tallystick.policy.protected.guarded import Disk, Guarded, guarded
from tallystick.policy.protected.own_commands import Does
from tallystick.policy.protected.places import Places
from tallystick.policy.protected.plain_settings import left_of_hook
from tallystick.policy.protected.recorder import Recorder
from tallystick.policy.risks import Risk, risks_of
from tallystick.policy.settings import Settings
from tallystick.policy.taint.flows import findings
from tallystick.policy.world import FileKind, Past, World


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for all calls on one machine."""

    home: str
    places: Places
    recorder: Recorder
    variables: Mapping[str, str]
    temporary: tuple[str, ...] = ()


def judged(
    call: Call, ground: Ground, world: World, settings: Settings, detectors: Sequence[Detector] = ()
) -> tuple[CallReading, Facts]:
    """A call as it was read, as a program would get it, and what is known of it. Never raises for what an agent gave."""
    call = legible_call(call)
    past = world.past()
    began = folder_of(past.workspace or call.cwd)
    home = ground.home
    if system_of(call.cwd) is System.WINDOWS:
        home = home_of(call.cwd) or home
    root = _root(began, world, home)
    workspace = root or began
    variables = [*ground.variables.items(), *past.environment]
    reader = CallReader(world, home=home, workspace=workspace, variables=variables)
    reading = reader.read(call)
    given = (ground, world, settings, detectors)
    acts = tuple(act for part in (reading, *reader.parts(reading)) for act in _acts(part, past, given))
    context = _context(reading, past, world, settings)
    anchors = _anchors(ground.home, workspace, world)
    return reading, Facts(agent=call.agent, context=context, acts=acts, root=root, anchors=anchors)


def _anchors(home: str, workspace: str | None, world: World) -> Anchors:
    """What globs of policies are relative to."""
    if workspace is None:
        return Anchors(home=home)
    return Anchors(home=home, projects=tuple(dict.fromkeys((workspace, world.real(workspace)))))


def _acts(reading: CallReading, past: Past, given: tuple[Ground, World, Settings, Sequence[Detector]]) -> Iterator[Act]:
    """A call as a whole, and what it does."""
    ground, world, settings, detectors = given
    disk = Disk(_exists(world), lambda intent: left_of_hook(intent, reading, world, settings))
    own = guarded(reading, ground.places, ground.recorder, disk)
    risks = [*risks_of(reading, settings), *detected(detectors, reading, settings)]
    risks += findings(reading, world, past.heard)
    risks += module_risks(reading)
    risks += strangers(reading, world, settings)
    yield _whole(reading, own, risks)
    yield from acts_of(reading, world, settings, ground.temporary)


def _exists(world: World) -> Callable[[str], bool]:
    """Whether something is at a path. It is looked for once: a call may name one path many times."""
    return cache(lambda path: world.state(path).kind not in (FileKind.NOTHING, FileKind.UNKNOWN))


def _root(folder: str | None, world: World, home: str) -> str | None:
    """The top of the repository that a folder is in. One that holds the home folder is nobody's workspace."""
    root = None
    if folder is not None:
        root = world.repository(folder)
    if root is None or is_below(home, (root,)):
        return None
    return root


OF_RECORD = {
    "reads-signing-key": "the key that signs the record is read",
    "stops-recorder": "the recorder is stopped",
    "feeds-record": "a command of ours is run that adds to the record",
    "weakens-record": "a command of ours is run that changes the record, or what protects it",
}
"""What a call does to what protects the record, with the meanings."""
_OF_OWN_COMMANDS = {Does.RECORD: "feeds-record", Does.CHANGE: "weakens-record"}


def _whole(reading: CallReading, own: Guarded, found: Sequence[Risk]) -> Act:
    """The call as a whole."""
    names = {risk.name for risk in found}
    if own.reads_keys:
        names |= {"reads-signing-key"}
    if own.stops_recorder:
        names |= {"stops-recorder"}
    names |= {_OF_OWN_COMMANDS[does] for does in own.own_commands}
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


def _context(reading: CallReading, past: Past, world: World, settings: Settings) -> Context:
    call = reading.call
    return Context(
        tool=call.tool[:200],
        session=call.session[:200],
        folder=call.cwd or "",
        markers=past.markers,
        over=over(reading, past, world, settings.limits),
        write_outside_workspace=settings.write_outside_workspace,
        limits_egress=bool(settings.hosts),
    )
