"""Deciding on a call before it runs.

Owns putting together what is known of a call and what the policies say of it. Must not know where policies come from
(`policies` does), what is protected (`grounds`), nor what objects to a call: they say that.
"""

from __future__ import annotations

import posixpath
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.capture.tracking import load_git, repository_of, tracking_of
from tallystick.graph import rules
from tallystick.guard.call_effects import Deeds, deed_of, recorded_deed
from tallystick.guard.call_grants import CallGrants
from tallystick.guard.discards import threatened, without_needless
from tallystick.guard.grant_folder import KeptGrants
from tallystick.guard.grounds import AgentMachine, Grounds
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
from tallystick.policy.calls.acts import is_below
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.inspection import order_tags
from tallystick.policy.facts import Act, Action, Facts, FileFacts, Place
from tallystick.policy.judging import judged
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.settings import Settings
from tallystick.policy.taint.origins import TAKES
from tallystick.policy.world import Content, World
from tallystick.state.effects import CallEffects
from tallystick.state.reducer import Knowledge

_MOST_JUDGEMENTS = 64


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
        self.policies = Policies(home, environment=dict(machine.environment), settings=settings)
        """The policies in force."""
        self._grounds = Grounds(home, machine)
        self._home = home
        self._grants = KeptGrants(home)
        self._removals = Removals(home, lambda path, text: self._is_secret(path) or LiveWorld().has_secret(text))
        self._deeds = Deeds()
        self._beside = Knowledge(
            read=self._recorded,
            is_secret=self._is_secret,
            is_shared=self._is_shared,
            held=_file_text,
            ordered=lambda text: order_tags(text, str(machine.user_home)),
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
        ground = self._grounds.at(call.home or world.past().home)
        reading, facts = judged(call, ground, world, self.policies.settings, detectors())
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
        ground = self._grounds.at(call.home)
        acts = tuple(_as_found(file, Path(ground.home)) for file in written[:_MOST_LOOKED_AT] if file.is_known)
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
        ground = self._grounds.at(call.home)
        reading = read_call(call, world, home=ground.home, workspace=call.cwd, variables=ground.variables.items())
        deed = recorded_deed(reading, world, self.policies.settings)
        files = (one.target for one in deed.effects.intents if one.domain is Domain.FILE and one.operation in _TAKING)
        taken = [path for path in files if path.startswith("/") and self._is_secret(path)]
        if taken:
            return msgspec.structs.replace(deed, values=secrets_in(taken, self._record.values))
        return deed

    def _is_secret(self, path: str) -> bool:
        """Whether a path holds secrets by its name; in a repository, a key of its tests does not."""
        root = _repository(posixpath.dirname(path))
        home = self._grounds.home_above(path)
        is_project = root is not None and not is_below(home, (root,))
        named = Named(path=path, real=path, home=home, workspace=root if is_project else None)
        return not kinds_of(named, self.policies.settings).isdisjoint(("secret", "credential"))

    def _is_shared(self, path: str) -> bool:
        """Whether what a path holds is not a secret, whatever it looks like: the project shares it, or the user says so."""
        home = self._grounds.home_above(path)
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
