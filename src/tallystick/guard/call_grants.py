"""What a person allowed, for one call: which of the rules that ask about it have been answered before.

Owns how narrow a yes is: which scope an act has, and what no grant covers. Must not know where grants are kept
(`grant_folder` does), nor what the rules say.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from tallystick.errors import FormatError
from tallystick.model.decision import Call, Decision, Effect, legible_call
from tallystick.model.grant import Grant, GrantKind, Scope
from tallystick.model.pattern import pattern_of
from tallystick.model.table import Table
from tallystick.policy.cedar.parsing import Rule
from tallystick.policy.facts import Act, Action, CallFacts, Facts, FileFacts, name_of
from tallystick.policy.network.hosts import HostFacts
from tallystick.policy.world import Content, World
from tallystick.seal.tagged import sealed_text
from tallystick.state.families import base_of

_NEVER = ("tally.", "exfiltration.")
"""Rules that no grant lifts and no release: our record, and values that leave. Of hosts the state remembers a yes itself."""
_ENDING = pattern_of(r"(?:\s*2>&1)?(?:\s*\|\s*(?:head|tail)(?:\s+-(?:n\s*)?\d+)?)?\s*\Z")
"""How much of what a command prints is shown, at its end."""
_MOST_ENDING = 128
"""Characters of that."""
_CHANGES = frozenset((Action.WRITE, Action.DELETE, Action.MOVE, Action.METADATA))
_BOUND = frozenset((Action.CALL, Action.RUN, Action.EXECUTE, Action.USE))
"""Acts that are the same only where the whole call is."""
_BESIDE = ("description", "timeout")
"""Arguments beside a command that make no difference to what is done."""
_TRAITS = ("is_deep", "is_edit", "is_whole", "is_emptied")
_MOST_RUN = 50
_MOST_ASKED = 32


def is_releasable(rules: Sequence[str]) -> bool:
    """Whether a call that these rules stopped may be let through once."""
    return bool(rules) and not any(rule.startswith(_NEVER) for rule in rules)


class CallGrants:
    """What a person allowed, asked by each rule that objects to an act of one call. It remembers what was asked."""

    def __init__(
        self,
        call: Call,
        facts: Facts,
        world: World,
        given: Sequence[Grant] = (),
        use: Callable[[Grant], bool] = lambda _: True,
    ) -> None:
        """Answer for a call.

        Args:
            given: what is in force by commands of a person, on any call.
            use: takes a release, once; whether it was there to be taken.
        """
        self._call = legible_call(call)
        self._facts = facts
        self._world = world
        self._given = given
        self._use = use
        self._asked: dict[Scope, None] = {}
        self._used: dict[str, None] = {}
        self._has_denied = False
        self.removing: list[Act] = []
        """Acts that are asked about, or were, because something would be gone."""
        self.is_of_record = True
        """Whether the answer rests on what sessions did alone, and on no command of a person."""

    def __call__(self, rule: Rule, act: Act) -> bool:
        """Whether a person allowed what a rule objects to."""
        if rule.holds_always or rule.id.startswith(_NEVER) or rule.effect not in (Effect.ASK, Effect.DENY):
            self._has_denied |= rule.effect is Effect.DENY
            return False
        if rule.id.startswith("destroy."):
            self.removing.append(act)
        if self._is_released:
            return True
        scope = None
        if rule.effect is Effect.ASK:
            scope = self.scope(rule.id, act)
        if scope is None:
            self._has_denied |= rule.effect is Effect.DENY
            return False
        grant = self._grant(scope)
        if grant is None:
            self._asked[scope] = None
            return False
        self._used[grant] = None
        return True

    def told(self, decision: Decision) -> Decision:
        """A decision with what was asked for it, and what it rests on."""
        asked = tuple(scope for scope in self._asked if scope.is_short)[:_MOST_ASKED]
        if self._has_denied or decision.effect not in (Effect.ASK, Effect.DENY):
            asked = ()
        reason = decision.reason
        if self._used and not reason:
            reason = f"A person allowed this before: {', '.join(self._used)}."
        return msgspec.structs.replace(decision, asked=asked, grants=tuple(self._used), reason=reason)

    # Which grant ----------------------------------------------------------------------------------------------------

    def _grant(self, scope: Scope) -> str | None:
        """The step by which a person allowed a scope."""
        taken_back = {grant.about for grant in self._given if grant.kind is GrantKind.REVOKED}
        granted: Table[str] = self._world.past().granted
        known = granted.get(scope.key)
        if known is not None and known not in taken_back:
            return known
        self.is_of_record &= known is None
        for grant in self._given:
            if grant.kind in (GrantKind.SESSION, GrantKind.PROJECT) and self._is_in(grant) and scope in grant.scopes:
                self.is_of_record = False
                return grant.id
        return None

    def _is_in(self, grant: Grant) -> bool:
        """Whether the call is one of those that a grant reaches."""
        if grant.kind is GrantKind.PROJECT:
            return bool(grant.project) and grant.project == project_of(self._facts, self._call)
        return (grant.agent, grant.session) == (self._call.agent, base_of(self._call.session))

    @cached_property
    def _is_released(self) -> bool:
        """Whether a person lets this very call through, once: it is taken with the question."""
        found = [grant for grant in self._given if grant.kind is GrantKind.RELEASE and self._is_in(grant)]
        key = None
        if found:
            key = self.call_key()
        for grant in found:
            if key is not None and grant.call == key and self._use(grant):
                self._used[grant.id] = None
                self.is_of_record = False
                return True
        return False

    # Scopes ---------------------------------------------------------------------------------------------------------

    def call_key(self) -> str | None:
        """The digest of the call, with what the files hold that it runs; None where that cannot be said."""
        words = self._words_of_call(is_exact=True)
        if words is None or self._runs is None:
            return None
        return Scope(
            rule="", action="call", target=self._call.tool, words=words, runs=self._runs, folder=self._folder
        ).key

    def scope(self, rule: str, act: Act) -> Scope | None:
        """What a yes to an act covers; None where it is worth for this one time only."""
        resource = act.resource
        if not self._is_own(act):
            return None
        if act.action not in _BOUND and not _holds_more(act):
            words = (*_shape(act, self._call.tool), *self._leads_to(act))
            return Scope(rule=rule, action=str(act.action), target=name_of(resource), words=words)
        whole = self._words_of_call(is_exact=False)
        if whole is None or self._runs is None:
            return None
        because: tuple[str, ...] = ()
        if isinstance(resource, CallFacts):
            because = act.because
        return Scope(
            rule=rule,
            action=str(act.action),
            target=name_of(resource),
            words=(*whole, *because),
            runs=self._runs,
            folder=self._folder,
        )

    def _leads_to(self, act: Act) -> tuple[str, ...]:
        """Where the path of an act leads by links."""
        if not isinstance(act.resource, FileFacts):
            return ()
        real = self._world.real(act.resource.path)
        if real == act.resource.path:
            return ()
        return (real,)

    @property
    def _folder(self) -> str:
        return self._call.cwd or ""

    def _words_of_call(self, *, is_exact: bool) -> tuple[str, ...] | None:
        """What the agent gave the tool. How much a command shows of what it prints makes no difference, unless `is_exact`."""
        args = self._call.args
        if isinstance(args, dict) and isinstance(args.get("command"), str):
            args = {name: value for name, value in args.items() if name not in _BESIDE}
            if list(args) == ["command"] and not is_exact:
                command = args["command"].strip()
                return (command[:-_MOST_ENDING] + _ENDING.sub("", command[-_MOST_ENDING:]),)
        try:
            return (sealed_text(args).decode(),)
        except (FormatError, UnicodeDecodeError):
            return None

    @cached_property
    def _runs(self) -> tuple[str, ...] | None:
        """What the files hold that the call runs; None where that is unknown."""
        paths = {
            act.resource.path
            for act in self._facts.acts
            if act.action is Action.EXECUTE and isinstance(act.resource, FileFacts) and act.resource.exists
        }
        if len(paths) > _MOST_RUN:
            return None
        found = {path: self._world.content(self._world.real(path)) for path in sorted(paths)}
        if any(not isinstance(content, Content) for content in found.values()):
            return None
        return tuple(f"{path} {content.digest}" for path, content in found.items() if isinstance(content, Content))

    # What no grant covers -------------------------------------------------------------------------------------------

    def _is_own(self, act: Act) -> bool:
        """Whether an act is on nothing of another user; of a call as a whole, whether it changes nothing of one."""
        acts: Sequence[Act] = (act,)
        if act.action is Action.CALL:
            acts = [one for one in self._facts.acts if one.action in _CHANGES]
        files = [one.resource for one in acts if isinstance(one.resource, FileFacts)]
        return all(file.is_known and _is_own_path(self._world.real(file.path)) for file in files)


def project_of(facts: Facts, call: Call) -> str:
    """The repository that a call is made in, or the folder."""
    return facts.root or call.cwd or ""


def _holds_more(act: Act) -> bool:
    """Whether a rule may speak of what is written or sent, and not only of where it goes."""
    match act.resource:
        case FileFacts() as file:
            return bool(file.tags) or file.is_pattern
        case HostFacts() as host:
            return bool(host.carries) or host.host == ""
        case _:
            return True


def _shape(act: Act, tool: str) -> tuple[str, ...]:
    """The program that does an act, or the tool, with how it does it: a yes to adding to a file is none to replacing it."""
    match act.resource:
        case FileFacts() as file:
            scripts = [word for word in act.because if word.startswith("in /")]
            return (file.program or tool, *scripts, *(name for name in _TRAITS if getattr(file, name)))
        case _:
            return act.because or (tool,)


def _is_own_path(path: str) -> bool:
    """Whether what is at a path belongs to the user; of nothing, whether the user may put something there."""
    if not path.startswith("/"):
        return False
    try:
        return Path(path).lstat().st_uid == os.geteuid()
    except (FileNotFoundError, NotADirectoryError):
        above = posixpath.dirname(path)
        while above != "/" and not Path(above).exists():
            above = posixpath.dirname(above)
        return os.access(above, os.W_OK)
    except (OSError, ValueError):
        return False
