"""Policies in force, and what they answer.

Owns asking the engine about each act, and how its answers become a Decision on the call. Must not know how facts are found,
nor how texts of policies are read (`parsing` does). The engine is Cedar, through `cedarpy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import cedarpy
import msgspec
import orjson

from tallystick.errors import PolicyError
from tallystick.model.decision import Decision, Effect, Evidence
from tallystick.policy.cedar.globs import Anchors, Reach, meets, within
from tallystick.policy.cedar.parsing import Checked, Parsed, Rule, parse
from tallystick.policy.facts import Act, Action, Facts, FileFacts, Plain, attributes, name_of, type_of
from tallystick.policy.settings import Profile, Settings

_STRENGTH = (Effect.DENY, Effect.ASK, Effect.WARN)
_SEVERITIES = ("critical", "high", "medium", "low", "info")
_OF_WHOLE = (Action.DELETE, Action.MOVE)
"""Acts that take with a folder what is in it."""
_NO_PERMIT = "default.no-permit"
_MOST_KNOWN = 8192
_MOST_EVIDENCE = 16
_MOST_TARGET = 200
_MOST_REASONS = 2


class _Answer(msgspec.Struct, frozen=True):
    """What the policies say of one act: the rules that speak against it, and whether anything permits it."""

    rules: tuple[Rule, ...]
    is_permitted: bool
    errors: tuple[str, ...] = ()


class PolicySet:
    """Policies that were loaded together. Immutable; safe for several threads."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._known: dict[bytes, _Answer] = {}
        self.digest = parsed.digest
        """SHA-256 over all texts and their names, in hex."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All policies, unchanged in the files."""
        return self._parsed.rules

    def decide(
        self, facts: Facts, settings: Settings, lifts: Callable[[Rule, Act], bool] = lambda _rule, _act: False
    ) -> Decision:
        """What the policies say of a call with these facts; `lifts`: whether a person allowed what a rule objects to.

        Raises:
            PolicyError: a policy could not be evaluated. Policies that fit the schema always can.
        """
        context = attributes(facts.context)
        spoke: dict[Rule, Act] = {}
        unpermitted: Act | None = None
        errors: dict[str, None] = {}
        for act in facts.acts:
            answer = self._answer(facts, act, context)
            for rule in answer.rules:
                if not lifts(rule, act):
                    spoke.setdefault(rule, act)
            if not answer.is_permitted and unpermitted is None:
                unpermitted = act
            errors |= dict.fromkeys(answer.errors)
        found = list(spoke.items())
        if unpermitted is not None:
            found.append((_UNPERMITTED, unpermitted))
        decision = self._decision(found, facts, settings)
        # A policy that failed might have said more, but nothing outweighs a denial that others agree on.
        if errors and decision.effect is not Effect.DENY:
            raise PolicyError(f"the policies cannot judge a call: {'; '.join(errors)}")
        return decision

    # One act --------------------------------------------------------------------------------------------------------

    def _answer(self, facts: Facts, act: Act, context: dict[str, Plain]) -> _Answer:
        """The answer to one act. What no policy looks at cannot change it, so that few answers serve many acts."""
        mentions = self._parsed.mentions
        kind = type_of(act.resource)
        whole = attributes(act.resource) | self._of_globs(act, facts.anchors)
        entity = mentions.seen(whole)
        seen = mentions.seen(context)
        name = ""
        if mentions.names:
            name = name_of(act.resource)
        key = orjson.dumps((facts.agent, act.action, kind, name, entity, seen))
        known = self._known.get(key)
        if known is None:
            uid = {"type": kind, "id": name}
            entities = cedarpy.Entities.from_json_str(
                orjson.dumps([{"uid": uid, "attrs": whole, "parents": []}]).decode()
            )
            request = {
                "principal": {"type": "Agent", "id": facts.agent},
                "action": {"type": "Action", "id": str(act.action)},
                "resource": uid,
                "context": context,
            }
            known = self._asked(request, entities)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = known
        return known

    def _of_globs(self, act: Act, anchors: Anchors) -> dict[str, Plain]:
        """Which globs of these policies a file falls under."""
        file, globs = act.resource, self._parsed.globs
        if not isinstance(file, FileFacts):
            return {}
        if not globs:
            return {"meets": [], "within": []}
        reach = _reach(act.action, file, anchors)
        return {
            "meets": [glob for glob in globs if meets(glob, reach, anchors)],
            "within": [glob for glob in globs if within(glob, reach, anchors)],
        }

    def _asked(self, request: dict[str, Any], entities: cedarpy.Entities) -> _Answer:
        parsed = self._parsed
        result = cedarpy.is_authorized(request, parsed.forbids, entities)
        errors = tuple(result.diagnostics.errors)
        is_silent = result.decision is cedarpy.Decision.Allow
        rules = () if is_silent else tuple(parsed.by_name[found] for found in result.diagnostics.reasons)
        if rules and parsed.exceptions is not None:
            rules = self._without_exceptions(parsed.exceptions, rules, request, entities)
        is_permitted = True
        if parsed.permits is not None:
            permitted = cedarpy.is_authorized(request, parsed.permits, entities)
            is_permitted = permitted.decision is cedarpy.Decision.Allow
            errors += tuple(permitted.diagnostics.errors)
        return _Answer(rules, is_permitted, errors)

    def _without_exceptions(
        self,
        exceptions: cedarpy.PolicySet,
        rules: tuple[Rule, ...],
        request: dict[str, Any],
        entities: cedarpy.Entities,
    ) -> tuple[Rule, ...]:
        """The rules that no exception of the user lifts for this act."""
        result = cedarpy.is_authorized(request, exceptions, entities)
        if result.decision is not cedarpy.Decision.Allow:
            return rules
        lifted = {name for found in result.diagnostics.reasons for name in self._parsed.lifting[found]}
        return tuple(rule for rule in rules if rule.holds_always or rule.id not in lifted)

    # Together -------------------------------------------------------------------------------------------------------

    def _decision(self, found: Sequence[tuple[Rule, Act]], facts: Facts, settings: Settings) -> Decision:
        """What rules that spoke against acts of a call make together: the strongest decides."""
        said = self._said(found, facts)
        if settings.profile is Profile.OBSERVE:
            held = self._said([(rule, act) for rule, act in found if rule.holds_always], facts)
            if held.effect is Effect.ALLOW and said.effect is not Effect.ALLOW:
                return msgspec.structs.replace(said, effect=Effect.ALLOW, would=said.effect)
            said = held
        if said.effect is Effect.ASK and not settings.is_interactive:
            return msgspec.structs.replace(
                said, effect=Effect.DENY, reason=f"{said.reason} Nobody can be asked here, so it is refused."
            )
        return said

    def _said(self, found: Sequence[tuple[Rule, Act]], facts: Facts) -> Decision:
        if not found:
            return Decision(policy=self.digest)
        ordered = sorted(found, key=lambda one: (_STRENGTH.index(one[0].effect), _rank(one[0]), one[0].id))
        effect = ordered[0][0].effect
        deciding = [(rule, act) for rule, act in ordered if rule.effect is effect]
        return Decision(
            effect=effect,
            rules=tuple(dict.fromkeys(rule.id for rule, _ in ordered)),
            reason=_some(_told(rule, act) for rule, act in deciding),
            remedy=_some(rule.remedy for rule, _ in deciding),
            severity=min((rule for rule, _ in deciding), key=_rank).severity,
            evidence=tuple(_evidence(rule, act, facts) for rule, act in ordered[:_MOST_EVIDENCE]),
            policy=self.digest,
        )


_UNPERMITTED = Rule(
    id=_NO_PERMIT,
    effect=Effect.DENY,
    severity="medium",
    reason="No policy permits this: {target}.",
    remedy="Write a permit for it into the store's policy folder.",
    file="",
    line=0,
)


def load(files: Iterable[tuple[str, str]], schema: str, known: Mapping[str, Checked] | None = None) -> PolicySet:
    """A set of the policies in some files.

    Args:
        files: Names, which messages use, and texts.
        schema: The text of the schema that every policy must fit.
        known: What the engine said before, as `parse` takes it.

    Raises:
        PolicyError: one of them cannot be used, so none is. The message has file and line.
    """
    return PolicySet(parse(files, schema, known))


def _reach(action: Action, file: FileFacts, anchors: Anchors) -> Reach:
    """What an act works on, for globs."""
    is_some = file.is_pattern and not file.is_known  # `find infra … -exec rm`: files below a folder, not told which
    is_whole = file.is_folder and (action in _OF_WHOLE or file.program == "git")
    # `git pull`, `git commit`: a repository changes as a whole, which is no work on the files that it brings along
    is_of_history = file.program in ("", "git") and file.is_edit and file.is_deep and file.path in anchors.projects
    return Reach(
        paths=tuple(dict.fromkeys((file.path, file.real or file.path))),
        is_pattern=file.is_pattern and not is_some,
        is_deep=(file.is_deep or is_some or is_whole) and not is_of_history,
    )


def _rank(rule: Rule) -> int:
    if rule.severity in _SEVERITIES:
        return _SEVERITIES.index(rule.severity)
    return len(_SEVERITIES)


def _some(texts: Iterable[str]) -> str:
    """The first few of some sentences, each once: an agent is told why, not everything that speaks against a call."""
    return " ".join(list(dict.fromkeys(text for text in texts if text))[:_MOST_REASONS])


def _told(rule: Rule, act: Act) -> str:
    """The reason, with what it is about."""
    return rule.reason.replace("{target}", shown(name_of(act.resource)))


def _evidence(rule: Rule, act: Act, facts: Facts) -> Evidence:
    told = getattr(act.resource, "evidence", ())
    return Evidence(
        rule=rule.id,
        action=str(act.action),
        target=shown(name_of(act.resource)),
        because=tuple(map(shown, (*act.because, *dict.fromkeys((*told, *facts.evidence)))[:_MOST_EVIDENCE])),
    )


def shown(text: str) -> str:
    """Text of an agent's as a reason may have it: in one line, nothing that a terminal obeys, cut."""
    safe = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[: _MOST_TARGET + 1])
    if len(safe) <= _MOST_TARGET:
        return safe
    return f"{safe[:_MOST_TARGET]}…"
