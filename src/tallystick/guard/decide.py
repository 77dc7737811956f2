"""Deciding on a call before it runs.

Owns which paths of this machine are protected. Must not know where policies come from (`policies` does), nor what speaks
against a call: they say that.
"""

from __future__ import annotations

import os
import posixpath
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.agents.hooks import HookAdapter, SettingsFile, hook_agents, hook_files
from tallystick.capture.tracking import load_git, repository_of, tracking_of
from tallystick.catalog.agents import Base, folder_variables, hook_switches
from tallystick.graph import rules
from tallystick.guard.call_effects import Deeds, deed_of, recorded_deed
from tallystick.guard.call_grants import CallGrants
from tallystick.guard.discards import threatened, without_needless
from tallystick.guard.grant_folder import KeptGrants
from tallystick.guard.judgement import LAG_US, MOST_CHARACTERS, Judgement, NotedWorld
from tallystick.guard.leaving import secrets_in
from tallystick.guard.live_world import LiveWorld, inspect_written
from tallystick.guard.policies import Policies, detectors
from tallystick.guard.recorded_context import Moment, OnRecord
from tallystick.guard.removals import Removals
from tallystick.guard.unread_history import WorstHistory, cautious
from tallystick.hook_looks import only_looks
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.intent import Domain, Operation
from tallystick.model.paths import placed
from tallystick.policy.calls.acts import is_below
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.inspection import order_tags
from tallystick.policy.facts import Act, Action, Facts, FileFacts, Place
from tallystick.policy.judging import Ground, judged
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.protected.places import Kind, Naming, Places, Projects, Protected
from tallystick.policy.protected.recorder import Recorder
from tallystick.policy.settings import Settings
from tallystick.policy.taint.origins import TAKES
from tallystick.policy.world import Content, World
from tallystick.state.effects import CallEffects
from tallystick.state.reducer import Knowledge

_MOST_JUDGEMENTS = 64
_MOVING = (*folder_variables(), "TMPDIR")


class AgentMachine(msgspec.Struct, frozen=True):
    """The machine that agents run on, as far as its places are protected.

    `user_home` is the home folder of the user that agents run as; `projects` are folders whose settings count wherever an
    agent works. Variables of the agents' `environment` that move an agent's settings elsewhere are looked up in it.
    `package` is the folder of Tallystick's own files; None: where this module is. `adapters` are the agents whose settings
    are protected; None: all.
    """

    user_home: Path
    projects: Sequence[Path] = ()
    environment: Mapping[str, str] = {}
    package: Path | None = None
    adapters: Sequence[HookAdapter] | None = None


class Decider:
    """The policies in force for one store, and what is protected on this machine. Safe for several threads.

    Loading takes some 100 ms, mostly for the engine's library. Files of policies that have changed are read again; one that
    cannot be used leaves the last good set in force: `policies.error` says why.
    """

    def __init__(self, home: Home, machine: AgentMachine, *, settings: Settings | None = None) -> None:
        """Load the policies that are shipped and those in the store.

        Args:
            home: The store. It need not exist.
            machine: Whose places are protected.
            settings: By default those of the store.
        """
        variables = dict(machine.environment)
        user_home = machine.user_home
        self.policies = Policies(home, environment=variables, settings=settings)
        """The policies in force."""
        places = Places(
            _protected(home, machine, variables),
            home=str(user_home),
            projects=Projects(
                settings=tuple(dict.fromkeys(_of_projects(machine))), folders=tuple(map(str, machine.projects))
            ),
            naming=Naming(resolve=_without_links, ignores_case=sys.platform == "darwin"),
        )
        line = f"{sys.executable} -I -m tallystick.service {home.folder}"
        self._ground = Ground(
            home=str(user_home),
            places=places,
            recorder=Recorder(process=lambda: _process(home), line=line),
            variables=_known_variables(home, user_home, variables),
            temporary=tuple(text for name in ("TMPDIR", "TEMP") if (text := variables.get(name, "")).startswith("/")),
        )

        self._home = home
        self._grants = KeptGrants(home)
        self._removals = Removals(home, lambda path, text: self._is_secret(path) or LiveWorld().has_secret(text))
        self._deeds = Deeds()
        self._beside = Knowledge(
            read=self._recorded,
            is_secret=self._is_secret,
            is_shared=self._is_shared,
            held=_file_text,
            ordered=lambda text: order_tags(text, str(user_home)),
        )
        self._record = OnRecord(home, self._beside, self._rules)
        self.judgements: deque[Judgement] = deque(maxlen=_MOST_JUDGEMENTS)
        """The newest decisions, for `agreement` to make them again."""
        self.states = self._record.states
        """What the sessions that called lately have done."""

    def facts(self, call: Call) -> Facts:
        """What is known of a call that is about to be made."""
        return self._facts(call, LiveWorld(self._record.before(call)))[1]

    def facts_at(self, call: Call, moment: Moment) -> Facts:
        """What was known of a call at an earlier moment, from the journals alone; files are as they are now."""
        return self.facts_in(LiveWorld(self._record.at(call, moment)), call)

    def record_again(self, asked: Callable[[str], object], looked: Callable[[str], object]) -> OnRecord:
        """The record, as one finds it who has judged nothing but knows what the newest calls found on the machine.

        Args:
            asked: called with the paths that histories ask about.
            looked: called with the files that they look into, as these are now.
        """

        def read(call: Call) -> CallEffects:
            return self._deeds.find(call) or self._read(call, NotedWorld(LiveWorld(), looked))

        def held(path: str) -> str:
            looked(path)
            return _file_text(path)

        return OnRecord(self._home, msgspec.structs.replace(self._beside, read=read, held=held), self._rules, asked)

    @property
    def has_old_judgement(self) -> bool:
        """Whether a decision is old enough for the index to have what it rests on."""
        return bool(self.judgements) and time.time_ns() // 1000 - self.judgements[0].at_us >= LAG_US

    def read_history(self, call: Call) -> None:
        """Read all that the session of a call has done, however long that takes."""
        self._record.read_all(call)

    def has_read(self, call: Call) -> bool:
        """Whether all that the session of a call has done is read."""
        return self._record.before(call).is_whole

    def _facts(self, call: Call, world: World) -> tuple[CallReading, Facts]:
        settings = self.policies.settings
        reading, facts = self._judged(call, world)
        deed = deed_of(reading, facts, world, settings)
        taken = [file.path for act in facts.acts if (file := _secret_taken(act)) is not None]
        if taken:
            deed = msgspec.structs.replace(deed, values=secrets_in(taken, self._record.values))
        self._deeds.note(call, deed)
        return reading, facts

    def warm(self) -> None:
        """Read what is on record of the newest sessions, so that no call waits for it."""
        self._record.warm()
        LiveWorld().has_secret("")  # the tables of secrets' forms are made when they are first used
        load_git()

    def facts_in(self, world: World, call: Call) -> Facts:
        """What is known of a call in a world that is given."""
        return self._judged(call, world)[1]

    def _judged(self, call: Call, world: World) -> tuple[CallReading, Facts]:
        reading, facts = judged(call, self._ground, world, self.policies.settings, detectors())
        return reading, without_needless(reading, facts, world)

    def decide(self, call: Call) -> Decision:
        """What the policies say of a call.

        Raises:
            PolicyError: they cannot judge it. The caller answers with `undecided`.
        """
        with self._record.index.fixed():
            return self._decide(call)

    def _decide(self, call: Call) -> Decision:
        at_us = time.time_ns() // 1000
        before = self._record.before(call)
        world = NotedWorld(LiveWorld(before))
        reading, facts = self._facts(call, world)
        grants = CallGrants(call, facts, world, self._grants.in_force(), self._grants.take)
        decision = self._decided(facts, grants)
        if before.is_whole:
            if grants.is_of_record:
                self._note(call, decision, world, before.read, at_us)
            return self._told(call, decision, reading, grants)
        worst = self._decided(self.facts_in(LiveWorld(WorstHistory(before)), call), grants)
        return cautious(decision, worst, is_interactive=self.policies.settings.is_interactive)

    def _told(self, call: Call, decision: Decision, reading: CallReading, grants: CallGrants) -> Decision:
        """A decision with what the call would remove, if it may run, or with that it is known to be harmless."""
        settings = self.policies.settings
        if settings.answers_allow and decision == Decision(policy=decision.policy):
            said = {"tool_name": call.tool, "tool_input": call.args, "cwd": call.cwd}
            return msgspec.structs.replace(decision, is_plain=only_looks(str(self._home.folder), call.agent, said))
        if decision.effect is Effect.DENY or not grants.removing:
            return decision
        found = tuple(threatened(reading, grants.removing))
        return self._removals.told(call, decision, found, settings.keep_megabytes)

    def decide_in(self, world: World, call: Call) -> Decision:
        """What the policies in force now say of a call in a world that is given. Raises PolicyError."""
        facts = self.facts_in(world, call)
        return self._decided(facts, CallGrants(call, facts, world))

    def call_key(self, call: Call) -> str | None:
        """The digest by which a person lets a call through once, with the files that it runs as they are now."""
        world = LiveWorld(self._record.before(call))
        return CallGrants(call, self.facts_in(world, call), world).call_key()

    def _note(self, call: Call, decision: Decision, world: NotedWorld, read: Mapping[str, int], at_us: int) -> None:
        if world.size <= MOST_CHARACTERS:
            self.judgements.append(
                Judgement(
                    call=call,
                    decision=decision,
                    settings=self.policies.settings,
                    machine=world.answers,
                    read=read,
                    at_us=at_us,
                )
            )

    def _decided(self, facts: Facts, grants: CallGrants) -> Decision:
        return grants.told(self.policies.in_force(facts.root).decide(facts, self.policies.settings, grants))

    def look_after(self, call: Call) -> Decision:
        """What the policies say of the content that a call has left in the files that it wrote. It may have been made or not.

        Raises:
            PolicyError: they cannot judge it.
        """
        facts = self.facts_in(LiveWorld(self._record.before(call)), call)
        written = [
            act.resource for act in facts.acts if act.action is Action.WRITE and isinstance(act.resource, FileFacts)
        ]
        acts = tuple(_as_found(file, Path(self._ground.home)) for file in written[:_MOST_LOOKED_AT] if file.is_known)
        found = msgspec.structs.replace(facts, acts=tuple(act for act in acts if act is not None))
        return self.policies.in_force(found.root).decide(found, self.policies.settings)

    def _rules(self) -> str:
        """The digest of what the state of a session follows from besides its journals: this program, and the settings."""
        settings = msgspec.json.encode(self.policies.settings, order="deterministic")
        return f"{rules.current(rules.STATES)}-{sha256(settings).hexdigest()[:16]}"

    def _recorded(self, call: Call) -> CallEffects:
        """What a call that is on record does."""
        return self._deeds.take(call) or self._read(call, LiveWorld())

    def _read(self, call: Call, world: World) -> CallEffects:
        variables = self._ground.variables.items()
        reading = read_call(call, world, home=self._ground.home, workspace=call.cwd, variables=variables)
        deed = recorded_deed(reading, world, self.policies.settings)
        files = (one.target for one in deed.effects.intents if one.domain is Domain.FILE and one.operation in _TAKING)
        taken = [path for path in files if path.startswith("/") and self._is_secret(path)]
        if taken:
            return msgspec.structs.replace(deed, values=secrets_in(taken, self._record.values))
        return deed

    def _is_secret(self, path: str) -> bool:
        """Whether a path holds secrets by its name; in a repository, a key of its tests does not."""
        root = _repository(posixpath.dirname(path))
        is_project = root is not None and not is_below(self._ground.home, (root,))
        named = Named(path=path, real=path, home=self._ground.home, workspace=root if is_project else None)
        return not kinds_of(named, self.policies.settings).isdisjoint(("secret", "credential"))

    def _is_shared(self, path: str) -> bool:
        """Whether what a path holds is not a secret, whatever it looks like: the project shares it, or the user says so."""
        home = self._ground.home
        plain = (home + place[1:] if place[:1] == "~" else place for place in self.policies.settings.not_sensitive)
        return is_below(path, tuple(plain)) or tracking_of(path).is_tracked


_TAKING = TAKES | {Operation.EXECUTE}
_TAKES = frozenset((Action.READ, Action.EXECUTE, Action.USE))
_SECRETS = frozenset(("secret", "credential"))


def _secret_taken(act: Act) -> FileFacts | None:
    """The file of secrets that an act reads, if it does."""
    match act.resource:
        case FileFacts() as file if act.action in _TAKES and file.is_known and not file.kinds.isdisjoint(_SECRETS):
            if not file.is_in_use or file.place is Place.WORKSPACE:
                return file
    return None


_repository = lru_cache(maxsize=1024)(repository_of)


def _file_text(path: str) -> str:
    """The text of a file."""
    found = LiveWorld().content(path)
    if isinstance(found, Content) and "\0" not in found.text:
        return found.text
    return ""


_MOST_LOOKED_AT = 8
"""Files of one call whose content is looked at after it."""


def _as_found(file: FileFacts, home: Path) -> Act | None:
    """A written file with what it holds now and nothing else that policies could speak of."""
    found = inspect_written(file.path, home)
    if found is None:
        return None
    told = FileFacts(path=file.path, name=file.name, place=Place.WORKSPACE, tags=found.tags, exists=True)
    return Act(action=Action.WRITE, resource=told, because=(found.digest,) if found.digest is not None else ())


# Places --------------------------------------------------------------------------------------------------------------


def _protected(home: Home, machine: AgentMachine, variables: Mapping[str, str]) -> Iterator[Protected]:
    package = machine.package or Path(__file__).parent.parent
    store = posixpath.abspath(home.folder)
    yield Protected(Kind.STORE, store, is_folder=True)
    yield Protected(Kind.KEYS, posixpath.join(store, "keys"), is_folder=True)
    for path in _of_user_settings(machine, variables):
        yield Protected(Kind.HOOK_SETTINGS, path, is_folder=False)
    for place in hook_switches(Base.MANAGED):
        yield Protected(Kind.HOOK_SETTINGS, f"/{place.path}", is_folder=bool(place.endings))
    is_installed = bool({"site-packages", "dist-packages"} & set(package.parts))
    yield Protected(Kind.PROGRAM if is_installed else Kind.CHECKOUT, posixpath.abspath(package), is_folder=True)


def _settings_files(machine: AgentMachine, *, project: bool) -> Iterator[SettingsFile]:
    """The files of agents that make them call the hook. Of all agents the catalogue knows them: none has to be loaded."""
    if machine.adapters is not None:
        return (file for adapter in machine.adapters for file in adapter.settings(project=project))
    return (file for agent in hook_agents() for file in hook_files(agent, project=project))


def _of_user_settings(machine: AgentMachine, variables: Mapping[str, str]) -> Iterator[str]:
    user_home = machine.user_home
    files = [(file.path, file.variable) for file in _settings_files(machine, project=False)]
    switches = [(place.path, place.variable) for place in hook_switches(Base.USER)]
    for path, variable in (*files, *switches):
        yield posixpath.join(str(user_home), path)
        moved = None
        if variable is not None:
            moved = variables.get(variable)
        if moved:
            yield posixpath.join(moved, *Path(path).parts[1:])


def _of_projects(machine: AgentMachine) -> Iterator[str]:
    yield from (file.path for file in _settings_files(machine, project=True))
    yield from (place.path for place in hook_switches(Base.PROJECT))


def _without_links(path: str) -> str:
    with suppress(OSError, ValueError):  # a loop, a zero byte: the path as it is spelled is looked at anyway
        path = os.path.realpath(path)
    return placed(path, None)


def _process(home: Home) -> int | None:
    try:
        return int((home.folder / "run" / "recorder.pid").read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None


# Commands ------------------------------------------------------------------------------------------------------------


def _known_variables(home: Home, user_home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of an agent's environment that commands may use and that are known."""
    moving = {name: variables[name] for name in _MOVING if name in variables}
    known = {"HOME": str(user_home), "TALLY_HOME": str(home.folder), "USER": user_home.name, "LOGNAME": user_home.name}
    return {**moving, **known}
