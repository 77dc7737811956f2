"""Texts of policies → the engine's sets, and what each policy is called, decides and looks at.

Owns where one policy ends, so that an error can name a line (the engine names none), annotations, that each policy is checked
against the schema, which attributes policies mention, and the digest. Must not know facts of any call. Sources: the Cedar
reference, "Grammar" (a policy ends with `;`; strings are in double quotes; comments run from `//`) and "JSON policy format".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

import cedarpy
import msgspec
import orjson

from tallystick.errors import PolicyError
from tallystick.model.decision import Effect
from tallystick.model.pattern import pattern_of
from tallystick.policy.cedar.unmatchable import Words, globs_in, reasons, words_in

_TOKEN = pattern_of(r'"(?:[^"\\]|\\.)*"|//[^\n]*|;', re.DOTALL)
_BLANK = pattern_of(r"(?:\s+|//[^\n]*)*")


def policies_in(text: str) -> Iterator[tuple[int, str]]:
    """Each policy of a file with the number of the line that it begins on; what stands after the last `;` as well."""
    begin = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            yield _placed(text, begin, token.end())
            begin = token.end()
    if _BLANK.fullmatch(text, begin) is None:
        yield _placed(text, begin, len(text))


def _placed(text: str, begin: int, end: int) -> tuple[int, str]:
    blank = _BLANK.match(text, begin, end)
    start = begin
    if blank is not None:
        start = blank.end()
    return text.count("\n", 0, start) + 1, text[start:end]


_EFFECTS = (Effect.DENY, Effect.ASK, Effect.WARN)
_SEVERITIES = ("info", "low", "medium", "high", "critical")
_ANNOTATIONS = frozenset(("id", "severity", "decision", "reason", "remedy", "holds", "lifts"))


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One policy: its annotations and where it stands."""

    id: str
    effect: Effect
    """What it makes of a call that it speaks against; ALLOW of a `permit`."""
    severity: str
    reason: str
    """For the agent and its user; `{target}` stands for the path, host or program."""
    remedy: str = ""
    """What to do instead."""
    holds_always: bool = False
    """In every profile, and no exception lifts it."""
    lifts: tuple[str, ...] = ()
    """Of a `permit`: the rules that do not speak against what it permits."""
    file: str
    line: int


class Mentions(msgspec.Struct, frozen=True):
    """What policies look at."""

    attributes: frozenset[str] | None
    """Members of resources and of the context; None: all of them."""
    names: bool
    """A resource is compared with one that is named."""

    def seen(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The members that a policy looks at."""
        wanted = self.attributes
        if wanted is None:
            return dict(found)
        return {name: found[name] for name in found if name in wanted}


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """Policies that fit the schema."""

    rules: tuple[Rule, ...]
    forbids: cedarpy.PolicySet
    """With a policy before them that permits all: what they say is asked by itself."""
    by_name: dict[str, Rule]
    """The engine's names of those → rules."""
    permits: cedarpy.PolicySet | None
    """None: one of them permits everything."""
    exceptions: cedarpy.PolicySet | None
    lifting: dict[str, tuple[str, ...]]
    """The engine's names of exceptions → the rules that they lift."""
    mentions: Mentions
    globs: tuple[str, ...]
    """Those that policies name."""
    digest: str


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine says of the text of one policy that fits the schema: the same at any time, so that it can be kept."""

    is_permit: bool
    is_open: bool
    """It holds for whatever is asked."""
    annotations: dict[str, str | None]
    names: bool
    """A resource is compared with one that is named."""
    looked_at: tuple[str | None, ...]
    """The attributes that it looks at; None: a resource or the context as a whole."""
    globs: tuple[str, ...] = ()
    """Those that it names."""


class _Policy(msgspec.Struct, frozen=True):
    rule: Rule
    text: str
    checked: Checked


def parse(files: Iterable[tuple[str, str]], schema: str, known: Mapping[str, Checked] | None = None) -> Parsed:
    """The policies in some files: names, which messages use, and texts.

    Args:
        known: what the engine said, by the digests of texts, of policies that were checked against this schema before.

    Raises:
        PolicyError: one of them cannot be used, so none is. The message has file and line.
    """
    _schema(schema)
    placed = [(name, line, text) for name, whole in files for line, text in policies_in(whole)]
    policies = []
    for name, line, text in placed:
        checked = (known or {}).get(digest_of(text)) or _checked(name, line, text, schema)
        policies.append(_Policy(_rule(name, line, checked), text, checked))
    _check_ids(policies)
    forbids = [policy for policy in policies if policy.rule.effect is not Effect.ALLOW]
    permits = [policy for policy in policies if policy.rule.effect is Effect.ALLOW]
    exceptions = [policy for policy in permits if policy.rule.lifts]
    return Parsed(
        rules=tuple(policy.rule for policy in policies),
        forbids=_set([_PERMIT_ALL, *(policy.text for policy in forbids)]),
        by_name={f"policy{n}": policy.rule for n, policy in enumerate(forbids, start=1)},
        permits=None
        if any(policy.checked.is_open for policy in permits)
        else _set([policy.text for policy in permits]),
        exceptions=_set([policy.text for policy in exceptions]) if exceptions else None,
        lifting={f"policy{n}": _lifted(policy.rule, policies) for n, policy in enumerate(exceptions)},
        mentions=_mentions(policy.checked for policy in policies),
        globs=tuple(dict.fromkeys(glob for policy in policies for glob in policy.checked.globs)),
        digest=_digest(placed, schema),
    )


_PERMIT_ALL = "permit (principal, action, resource);"


def _set(texts: list[str]) -> cedarpy.PolicySet:
    found = cedarpy.PolicySet.from_str("\n".join(texts))
    # The reasons of a decision name policies by position: a count that is not ours would name the wrong ones.
    if len(found) != len(texts):
        raise PolicyError(f"{len(texts)} policies were read, the engine has {len(found)}")
    return found


@lru_cache(maxsize=4)
def _schema(text: str) -> cedarpy.Schema:
    try:
        return cedarpy.Schema.from_str(text)
    except ValueError as error:
        raise PolicyError(f"the schema of the policies is broken: {error}") from error


def checked_in(files: Iterable[tuple[str, str]], schema: str) -> dict[str, Checked]:
    """What the engine says of each policy in some files, by the digest of its text, to be kept. Raises what `parse` does."""
    return {
        digest_of(text): _checked(name, line, text, schema)
        for name, whole in files
        for line, text in policies_in(whole)
    }


def digest_of(text: str) -> str:
    """By what a policy's text is known."""
    return sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1024)
def _checked(file: str, line: int, text: str, schema: str) -> Checked:
    """One policy, checked by itself, and once: most of a set are those that are shipped."""
    fits = _schema(schema)
    try:
        found = orjson.loads(cedarpy.policies_to_json_str(text))
        checked = cedarpy.validate_policies(text, fits)
    except ValueError as error:
        raise refused(file, line, str(error)) from error
    if found["templates"] or len(found["staticPolicies"]) != 1:
        raise refused(file, line, "a policy with ?principal or ?resource is a template, which nothing fills here")
    if not checked.validation_passed:
        raise refused(file, line, _reasons(error.error for error in checked.errors))
    (tree,) = found["staticPolicies"].values()
    heads = [tree[part]["op"] for part in ("principal", "action", "resource")]
    return Checked(
        is_permit=tree["effect"] == "permit",
        is_open=heads == ["All"] * 3 and not tree["conditions"],
        annotations=tree.get("annotations", {}),
        names=tree["resource"]["op"] in ("==", "in"),
        looked_at=tuple(dict.fromkeys(_looked_at(tree["conditions"]))),
        globs=tuple(dict.fromkeys(globs_in(tree["conditions"]))),
    )


def words_asked(text: str) -> frozenset[tuple[str, str]]:
    """The words that a policy, which can be used, asks for, each with the attribute that may have it."""
    (tree,) = orjson.loads(cedarpy.policies_to_json_str(text))["staticPolicies"].values()
    return frozenset(words_in(tree["conditions"]))


def unmatchable(files: Iterable[tuple[str, str]], words: Words) -> Iterator[PolicyError]:
    """Of policies that can be used, those that never speak, each with the reason."""
    for name, whole in files:
        for line, text in policies_in(whole):
            (tree,) = orjson.loads(cedarpy.policies_to_json_str(text))["staticPolicies"].values()
            found = "; ".join(reasons(tree, words))
            if found:
                yield refused(name, line, f"it can never match: {found}")


def _reasons(errors: Iterable[str]) -> str:
    """What does not fit the schema, each once: the engine says it for every action, in any order."""
    said = (error.removeprefix("for policy `policy0`, ") for error in errors)
    return "; ".join(sorted({_FOR_ACTION.sub("", text) for text in said}))


_FOR_ACTION = pattern_of(r' for Action::"\w+"')


def _rule(file: str, line: int, checked: Checked) -> Rule:
    said = checked.annotations
    unknown = sorted(said.keys() - _ANNOTATIONS)
    if unknown:
        known = ", ".join(f"@{name}" for name in sorted(_ANNOTATIONS))
        raise refused(file, line, f"@{unknown[0]} is no annotation of a policy", hint=f"there are {known}")
    is_permit = checked.is_permit
    decision = said.get("decision") or (Effect.ALLOW if is_permit else Effect.DENY).value
    if (decision not in _EFFECTS) if not is_permit else (decision != Effect.ALLOW):
        raise refused(file, line, f"@decision is {decision!r}", hint="deny, ask or warn, with forbid")
    severity = said.get("severity") or "medium"
    if severity not in _SEVERITIES:
        raise refused(file, line, f"@severity is {severity!r}", hint=", ".join(_SEVERITIES))
    if said.get("holds") not in (None, "always"):
        raise refused(file, line, f"@holds is {said['holds']!r}", hint="always, or leave it out")
    lifts = tuple((said.get("lifts") or "").replace(",", " ").split())
    if lifts and not is_permit:
        raise refused(file, line, "@lifts is for a permit: a forbid cannot let anything through")
    return Rule(
        id=said.get("id") or f"{file}:{line}",
        effect=Effect(decision),
        severity=severity,
        reason=said.get("reason") or "",
        remedy=said.get("remedy") or "",
        holds_always=said.get("holds") == "always",
        lifts=lifts,
        file=file,
        line=line,
    )


def _check_ids(policies: list[_Policy]) -> None:
    """That each rule has its own id, and that exceptions lift rules that are there."""
    seen: dict[str, Rule] = {}
    for policy in policies:
        other = seen.setdefault(policy.rule.id, policy.rule)
        if other is not policy.rule:
            raise refused(
                policy.rule.file, policy.rule.line, f"the id {policy.rule.id!r} is that of {other.file}:{other.line}"
            )
    for policy in policies:
        for name in policy.rule.lifts:
            if name == _SHIPPED:
                continue
            if name not in seen:
                raise refused(policy.rule.file, policy.rule.line, f"@lifts names {name!r}, and there is no such rule")
            if seen[name].holds_always:
                raise refused(policy.rule.file, policy.rule.line, f"{name!r} holds always: nothing lifts it")


_SHIPPED = "shipped"
"""Of an exception: all rules that are not in a file of a user's or a repository's, which are named by their paths."""


def _lifted(rule: Rule, policies: list[_Policy]) -> tuple[str, ...]:
    """The ids of the rules that an exception lifts."""
    if _SHIPPED not in rule.lifts:
        return rule.lifts
    others = (policy.rule for policy in policies if not policy.rule.file.startswith("/"))
    return (*rule.lifts, *(other.id for other in others if not other.holds_always))


def refused(file: str, line: int, why: str, *, hint: str | None = None) -> PolicyError:
    """A policy that cannot be used."""
    return PolicyError(
        f"{file}, the policy on line {line}: {why}", hint=hint or "nothing is decided with a set that is broken"
    )


# What policies look at -----------------------------------------------------------------------------------------------


def _mentions(policies: Iterable[Checked]) -> Mentions:
    attributes: set[str] = set()
    is_whole = names = False
    for policy in policies:
        names |= policy.names
        for name in policy.looked_at:
            if name is None:
                is_whole = names = True
            else:
                attributes.add(name)
    return Mentions(None if is_whole else frozenset(attributes), names)


def _looked_at(node: object) -> Iterator[str | None]:
    """The attributes that an expression looks at; None: a resource or the context as a whole."""
    match node:
        case {"Var": "resource" | "context"}:
            yield None
        case {".": member} | {"has": member} if _is_of_whole(member):
            yield member["attr"]
        case dict():
            for part in node.values():
                yield from _looked_at(part)
        case list():
            for part in node:
                yield from _looked_at(part)
        case _:
            pass


def _is_of_whole(member: object) -> bool:
    match member:
        case {"left": {"Var": "resource" | "context"}, "attr": str()}:
            return True
        case _:
            return False


def _digest(placed: Iterable[tuple[str, int, str]], schema: str) -> str:
    """Over names and texts, each with its length before it, so that no two sets look the same."""
    whole = sha256()
    for part in (schema, *(part for name, _, text in placed for part in (name, text))):
        data = part.encode()
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()
