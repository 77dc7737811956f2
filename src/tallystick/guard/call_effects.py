"""What a call that was judged is remembered by when later calls of its session are judged.

Owns making CallEffects, and keeping them for the short time between a decision and the entry of the call in the record. The
record decides what happened; they only save reading the same call again, and say what was there before it ran. Must not know
sessions.
"""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tallystick.errors import FormatError
from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.policy.calls.legitimate_use import in_use
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.facts import Action, Facts, FileFacts, is_sensitive_read
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.network.egress import secrets_below
from tallystick.policy.network.payload import takes_all
from tallystick.policy.risks import environments, searches, secret_managers, secret_names_passed
from tallystick.policy.settings import Settings
from tallystick.policy.taint.origins import REACHES, TAKES
from tallystick.policy.world import FileKind, World
from tallystick.seal.tagged import sealed_text
from tallystick.state.effects import CallEffects

_MOST = 256
_MOST_BYTES = 64 << 10
"""Arguments that are longer are not kept for comparing."""
_SENSITIVE = (
    secret_managers.risks,
    environments.risks,
    environments.variable_risks,
    searches.risks,
    secret_names_passed.risks,
)
"""What finds the risks that the record remembers a call by."""
_CHANGES = (Action.WRITE, Action.DELETE, Action.MOVE)


def deed_of(reading: CallReading, facts: Facts, world: World, settings: Settings) -> CallEffects:
    """What is kept of a call that was judged and is about to run: what is there now was there before it."""
    files = [act.resource for act in facts.acts if act.action in _CHANGES and isinstance(act.resource, FileFacts)]
    existing = {file.path for file in files if file.exists}
    deed = _deed(reading, world, settings, is_sensitive_read(facts), frozenset(existing))
    if any(isinstance(act.resource, FileFacts) and act.resource.is_in_use for act in facts.acts):
        deed = _without_used(deed, reading, settings)
    intents = _into_folders(deed.effects, existing, world)
    if intents is None:
        return deed
    inner = {intent.target for intent in intents if world.state(intent.target).kind is not FileKind.NOTHING}
    effects = replace(deed.effects, intents=intents)
    return replace(deed, effects=effects, existing=frozenset(existing | inner))


def _into_folders(effects: Effects, existing: set[str], world: World) -> tuple[Intent, ...] | None:
    """The intents of a call with `cp a folder` read as `cp a folder/a`: that a folder is there only the machine knows.

    None where nothing goes into a folder that is there.
    """
    found: dict[int, Intent] = {}
    synced = {one.command for one in effects.intents if one.operation is Operation.RUN and one.target == "rsync"}
    for flow in effects.flows:
        source, target = effects.intents[flow.source], effects.intents[flow.target]
        is_copy = target.operation is Operation.COPY_DEST and source.domain is Domain.FILE and target.target in existing
        if is_copy and target.command not in synced and world.state(target.target).kind is FileKind.FOLDER:
            path = posixpath.join(target.target, posixpath.basename(source.target))
            found[flow.target] = replace(target, target=path)
    if found:
        return tuple(found.get(k, one) for k, one in enumerate(effects.intents))
    return None


def recorded_deed(reading: CallReading, world: World, settings: Settings) -> CallEffects:
    """The same of a call that is on record, and that this process did not judge."""
    risks = (risk for find in _SENSITIVE for risk in find(reading, settings))
    return _without_used(
        _deed(reading, world, settings, [f"{risk.name}: {risk.target}" for risk in risks], None), reading, settings
    )


def _without_used(deed: CallEffects, reading: CallReading, settings: Settings) -> CallEffects:
    """The same, where a key to log in with, or a program's own store, is looked at and not read."""
    used = {path for path in in_use(reading) if _is_secret(path, reading, settings)}
    if not used:
        return deed
    intents = tuple(
        replace(one, operation=Operation.LIST) if one.target in used and one.operation in TAKES else one
        for one in deed.effects.intents
    )
    return replace(deed, effects=replace(deed.effects, intents=intents))


def _is_secret(path: str, reading: CallReading, settings: Settings) -> bool:
    kinds = kinds_of(Named(path=path, real=path, home=reading.home, workspace=reading.workspace), settings)
    return not kinds.isdisjoint(("secret", "credential"))


def _deed(
    reading: CallReading, world: World, settings: Settings, shown: Sequence[str], existing: frozenset[str] | None
) -> CallEffects:
    effects = _with_secrets_below(reading, world, settings)
    return CallEffects(
        effects=effects,
        texts=reading.texts,
        folder=reading.folder,
        is_unlisted=_is_unlisted(reading),
        sensitive=tuple(dict.fromkeys((*shown, *_environments(effects, reading, settings)))),
        existing=existing,
        files=sum(intent.domain is Domain.FILE for intent in effects.intents),
        hosts=sum(intent.domain is Domain.NETWORK and intent.operation in REACHES for intent in effects.intents),
    )


def _environments(effects: Effects, reading: CallReading, settings: Settings) -> Iterator[str]:
    """Environments of processes that are read as files."""
    for intent in effects.intents:
        if intent.domain is Domain.FILE and intent.operation in TAKES and "environ" in intent.target:
            named = Named(path=intent.target, real=intent.target, home=reading.home)
            if "environment" in kinds_of(named, settings):
                yield intent.target


def _is_unlisted(reading: CallReading) -> bool:
    uses = reading.uses
    if uses.commands or uses.programs or uses.codes:
        return False
    return any(intent.target == reading.call.tool for intent in uses.intents)


def _with_secrets_below(reading: CallReading, world: World, settings: Settings) -> Effects:
    """What a call does, with the secrets in folders that it takes as a whole: a folder has no content of its own."""
    effects, searched = reading.effects, reading.uses.searched
    if not searched and not any(intent.is_deep for intent in effects.intents):
        return effects
    intents, flows = list(effects.intents), list(effects.flows)
    for k in searched:
        intents[k] = replace(intents[k], operation=Operation.READ)
    for flow in effects.flows:
        source = intents[flow.source]
        if source.domain is Domain.FILE and takes_all(source, reading):
            for path in secrets_below(source.target, reading, world, settings):
                intents.append(replace(source, target=path, is_deep=False))
                flows.append(replace(flow, source=len(intents) - 1))
    return replace(effects, intents=tuple(intents), flows=tuple(flows))


class Deeds:
    """The deeds of calls that were just judged, until they are found in the record. Bounded."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[object, ...], CallEffects] = OrderedDict()
        self._noted: OrderedDict[tuple[object, ...], CallEffects | None] = OrderedDict()
        """Those that were judged lately; None where two calls that look the same did different things."""

    def note(self, call: Call, deed: CallEffects) -> None:
        """Remember what a call does that may be made now."""
        for key in _keys(call):
            self._waiting[key] = deed
            self._waiting.move_to_end(key)
            is_one = self._noted.get(key, deed) == deed
            self._noted[key] = deed if is_one else None
            self._noted.move_to_end(key)
        for table in (self._waiting, self._noted):
            while len(table) > _MOST:
                table.popitem(last=False)

    def find(self, call: Call) -> CallEffects | None:
        """The deed of a call that was judged here lately, whether it was found in the record before or not."""
        return next((found for key in _keys(call) if (found := self._noted.get(key)) is not None), None)

    def take(self, call: Call) -> CallEffects | None:
        """The deed of a call that is in the record now, if it was judged here."""
        for key in _keys(call):
            found = self._waiting.pop(key, None)
            if found is not None:
                return found
        return None


def _keys(call: Call) -> Iterator[tuple[object, ...]]:
    """What a call is known by: its id, and its arguments. In the record these are without secrets, and then differ."""
    session = call.session.partition("/")[0].partition("~")[0]
    if call.call_id is not None:
        yield call.agent, session, call.call_id
    try:
        text = sealed_text(call.args)
    except FormatError:
        return
    if len(text) <= _MOST_BYTES:
        yield call.agent, session, call.tool, text
