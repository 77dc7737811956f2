"""What policies would have said of the calls on record.

Owns reading recorded calls back as they were asked about, and counting. What is on disk now says nothing of then, so no
file is looked at: a script counts as unread, a path as it is spelled and committed where it lies in the folder that was
worked in. What a session did before a call is known from its own record; what others did is not asked.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tallystick.catalog.agents import CONVENTIONS, folder_variables
from tallystick.errors import NotFoundError, PolicyError
from tallystick.guard.call_effects import recorded_deed
from tallystick.guard.decide import Decider
from tallystick.guard.effect_counts import EffectCounts
from tallystick.guard.grounds import AgentMachine
from tallystick.guard.leaving import NoComparison
from tallystick.guard.policies import Policies, load_set, packs
from tallystick.guard.policy_rules import read_texts
from tallystick.guard.recorded_context import past_of
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.decision import NO_OPINION, Call, Decision, Effect
from tallystick.model.moments import microseconds
from tallystick.model.paths import home_of, placed
from tallystick.model.recorded import Recorded
from tallystick.policy.calls.acts import is_below
from tallystick.policy.calls.reader import read_call
from tallystick.policy.cedar.engine import PolicySet
from tallystick.policy.facts import Facts
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.settings import Profile, Settings
from tallystick.policy.taint.untrusted_input import Hearing
from tallystick.policy.world import Content, FileState, Past, Provenance, Tracking, Unread
from tallystick.recording.jsonify import plain
from tallystick.state.effects import CallEffects
from tallystick.state.families import Start
from tallystick.state.family_state import FamilyState
from tallystick.state.reducer import FamilyStep, Knowledge, advance


class HistoricalWorld:
    """Answers for the calls of one session."""

    def __init__(self) -> None:
        self.folder: str | None = None
        """Where the session works."""
        self.story = FamilyState()
        """What it has done."""
        self.hearing = Hearing()
        """What it has heard, to be asked."""
        self.at_us = 0
        """When the call was made."""
        self._known: Knowledge | None = None

    def know(self, known: Knowledge) -> None:
        """Have it know what is known besides the session's steps."""
        self._known = known
        self._hear()

    def note(self, start: Start, step: Recorded) -> None:
        """Take in one more step of the session."""
        if self._known is not None:
            self.story, _ = advance(self.story, FamilyStep(start, step), self._known)
            self._hear()

    def home(self, call: Call) -> str:
        """The home folder that a call is judged by: the one on record, or the one that its folder lies in."""
        return self.story.home or home_of(call.cwd) or str(Path.home())

    def _hear(self) -> None:
        if self._known is not None:
            self.hearing = Hearing(self._known.earlier, self._known.is_secret, self._known.held, self.story.heard)

    def real(self, path: str) -> str:
        """The path as it is spelled."""
        return placed(path, None)

    def state(self, path: str) -> FileState:
        """Nothing is known."""
        return FileState()

    def matches(self, pattern: str) -> Sequence[str]:
        """Nothing is known."""
        return ()

    def content(self, path: str) -> Content | Unread:
        """Nothing is known."""
        return Unread.MISSING

    def blob(self, name: str) -> Content | Unread:
        """Nothing is known."""
        return Unread.MISSING

    def has_secret(self, text: str) -> bool:
        """Nothing is known."""
        return False

    def provenance(self, path: str) -> Provenance:
        """What the session itself did there."""
        taint, made = self.hearing.taint(path), self.story.files.made(path)
        known = Provenance(trust=taint.trust, is_sensitive=taint.is_sensitive, evidence=taint.sources[:2])
        if made is None or made.is_gone:
            return known
        maker, is_download = self.story.maker(made), self.story.files.is_download(path)
        return replace(known, maker=maker, author=maker, is_new=made.is_new, is_download=is_download)

    def keeps_commits(self, path: str) -> bool:
        """Not known."""
        return False

    def tracking(self, path: str) -> Tracking:
        """What lies in the folder that was worked in counts as committed."""
        is_inside = self.folder is not None and is_below(path, (self.folder,))
        return Tracking(root=self.repository(path), is_tracked=is_inside, is_committed=is_inside)

    def repository(self, path: str) -> str | None:
        """The folder that was worked in, where the path lies in it."""
        if self.folder is not None and is_below(path, (self.folder,)):
            return self.folder
        return None

    def is_approved(self, digest: str) -> bool:
        """Nothing is known."""
        return False

    def past(self) -> Past:
        """What the session has done."""
        return replace(
            past_of(self.story, self.hearing, self.at_us, lambda _: NoComparison(is_known=True)), workspace=self.folder
        )


_MOST_LISTED = 1000
_MOST_CALL = 300


class Counts(EffectCounts, kw_only=True):
    """What a set said. `false_alarms` are denials and asks of calls that were made and succeeded."""

    false_alarms: int = 0

    def add(self, effect: Effect, *, succeeded: bool) -> None:
        """Count one."""
        self.count(effect)
        self.false_alarms += succeeded and effect in (Effect.DENY, Effect.ASK)


class Differing(msgspec.Struct, frozen=True, kw_only=True):
    """A call, and what the two sets say of it."""

    step: str
    call: str
    in_force: Effect
    candidate: Effect
    rules: tuple[str, ...]
    """Of the candidate, or of the set in force where the candidate says nothing."""
    reason: str


class Backtest(msgspec.Struct, frozen=True, kw_only=True):
    """A set held against the record, beside the one in force."""

    sessions: int
    calls: int
    in_force: Counts
    candidate: Counts
    differing: tuple[Differing, ...]
    """At most 1,000."""
    examples: tuple[Differing, ...]
    """What the candidate denies or asks about, the same."""


class _Made(msgspec.Struct, frozen=True):
    """A recorded call, and whether it was made and succeeded."""

    step: Recorded
    call: Call
    succeeded: bool
    said_at: str
    """A time as the record writes it."""


class Own(enum.Enum):
    """What becomes of the user's own policies beside those of a candidate."""

    KEPT = "kept"
    REPLACED = "replaced"


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A set to be tried: further files, and a profile instead of the one in force. As it is: the set in force."""

    files: Sequence[Path] = ()
    own: Own = Own.KEPT
    profile: str | None = None


def hold_against_record(
    home: Home,
    candidate: Candidate | None = None,
    *,
    since: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Backtest:
    """What a candidate would have said of each recorded call.

    Args: since: a time as the record writes it. progress: is reported how many bytes of journals were read.

    Raises:
        NotFoundError: there is no store. PolicyError: a policy cannot be used.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    policies = Policies(home)
    settings = replace(policies.settings, is_interactive=True)
    candidate = candidate or Candidate()
    wanted = Profile(candidate.profile) if candidate.profile is not None else settings.profile
    texts = read_texts(candidate.files)
    if candidate.own is Own.KEPT:
        texts = (*(own for own in policies.own if own[0] not in dict(texts)), *texts)
    tried = load_set(wanted, packs(settings.packs), texts)
    counting = _Counting(policies.current, settings, tried, replace(settings, profile=wanted))
    deciders: dict[str, Decider] = {}
    for sid, path in sorted(home.sessions()):
        is_seen = False
        then = HistoricalWorld()
        then.know(_known(then, settings))
        for made in _calls(home, sid, path, then):
            then.folder = then.folder or made.call.cwd
            if since is not None and made.said_at < since:
                continue
            user = then.home(made.call)
            if user not in deciders:
                deciders[user] = Decider(home, AgentMachine(Path(user), environment=_moving()), settings=settings)
            then.at_us = microseconds(made.said_at) or 0
            counting.add(made, deciders[user], then)
            is_seen = True
        counting.sessions += is_seen
        progress(path.stat().st_size)
    return counting.done()


def _known(then: HistoricalWorld, settings: Settings) -> Knowledge:
    """What is known of a session's calls and paths besides its steps."""

    def read(call: Call) -> CallEffects:
        user = then.home(call)
        return recorded_deed(read_call(call, then, home=user, workspace=then.folder), then, settings)

    def is_secret(path: str) -> bool:
        named = Named(
            path=path, real=path, home=home_of(path) or then.story.home or str(Path.home()), workspace=then.folder
        )
        return not kinds_of(named, settings).isdisjoint(("secret", "credential"))

    return Knowledge(read=read, is_secret=is_secret)


def _moving() -> dict[str, str]:
    """The variables of this machine that move agents' settings."""
    return {name: os.environ[name] for name in folder_variables() if name in os.environ}


def _calls(home: Home, sid: str, path: Path, then: HistoricalWorld) -> Iterator[_Made]:
    """The calls of a session, in order, each as it was asked about. What was done is told after each."""
    steps = list(read_session(home, sid, load_blobs=True))
    ended = {
        corr: step for step in steps if step.type == "tool_result" and isinstance(corr := step.member("corr"), str)
    }
    folder: str | None = None
    source = agent = ""
    for step in steps:
        folder = step.text("personal.cwd") or folder
        source, agent = str(step.member("source_session") or source), str(step.member("agent") or agent)
        start = Start(sid=sid, agent=agent or CONVENTIONS.assumed, source=source or sid)
        if step.type != "tool_call" or "corroborates" in step.meta or "revises" in step.meta:
            then.note(start, step)
            continue
        corr = step.member("corr")
        result = None
        if isinstance(corr, str):
            result = ended.get(corr)
        succeeded = (
            result is not None and result.meta.get("success") is not False and result.meta.get("decision") != "deny"
        )
        call = Call(
            agent=agent or CONVENTIONS.assumed,
            session=source or sid,
            tool=str(step.member("tool") or ""),
            args=step.values.get("content.args"),
            cwd=folder,
        )
        yield _Made(step, call, succeeded, str(step.meta.get("ts", step.meta.get("recorded", ""))))
        then.note(start, step)


class _Counting:
    """Two sets, and what they said so far."""

    def __init__(self, in_force: PolicySet, settings: Settings, candidate: PolicySet, wanted: Settings) -> None:
        self.sessions = 0
        self._sets = ((in_force, settings, Counts()), (candidate, wanted, Counts()))
        self._differing: list[Differing] = []
        self._examples: list[Differing] = []

    def add(self, made: _Made, decider: Decider, then: HistoricalWorld) -> None:
        """Have both sets decide on a call."""
        facts = decider.facts_in(then, made.call)
        first, second = (_decide(found, facts, settings) for found, settings, _ in self._sets)
        for decision, (_, _, counts) in zip((first, second), self._sets, strict=True):
            counts.add(_effect_of(decision), succeeded=made.succeeded)
        if _effect_of(first) is _effect_of(second) and _effect_of(second) not in (Effect.DENY, Effect.ASK):
            return
        told = Differing(
            step=f"{made.step.session[:8]}:{made.step.n}",
            call=_spoken(made.call),
            in_force=_effect_of(first),
            candidate=_effect_of(second),
            rules=second.rules or first.rules,
            reason=second.reason or first.reason,
        )
        if _effect_of(first) is _effect_of(second):
            kept = self._examples
        else:
            kept = self._differing
        if len(kept) < _MOST_LISTED:
            kept.append(told)

    def done(self) -> Backtest:
        """What was counted."""
        (_, _, in_force), (_, _, candidate) = self._sets
        return Backtest(
            sessions=self.sessions,
            calls=candidate.total,
            in_force=in_force,
            candidate=candidate,
            differing=tuple(self._differing),
            examples=tuple(self._examples),
        )


def _decide(policies: PolicySet, facts: Facts, settings: Settings) -> Decision:
    """What a set says. One that cannot judge a call says nothing of it."""
    try:
        return policies.decide(facts, settings)
    except PolicyError:
        return NO_OPINION


def _spoken(call: Call) -> str:
    """A call in short, for people."""
    args = call.args
    command = None
    if isinstance(args, dict):
        command = args.get("command")
    if isinstance(command, str):
        text = command
    else:
        text = f"{call.tool} {msgspec.json.encode(plain(args)).decode()}"
    return text[:_MOST_CALL]


def _effect_of(decision: Decision) -> Effect:
    """What was said, or would have been if the profile did more than observe."""
    return decision.would or decision.effect
