"""The rules in force, one of them, and files that are not in force yet.

Owns what is told of a rule: its annotations, its text and where it stands. What is in force is `policies`' to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tallystick.errors import NotFoundError
from tallystick.guard.policies import (
    Policies,
    Texts,
    detectors,
    load_set,
    packs,
    policies_below,
    read_policy_file,
    repository_folder,
    shipped_policies,
    user_folder,
)
from tallystick.guard.real_work import OnRealWork, by_rule
from tallystick.journal.home import Home
from tallystick.model.decision import Effect
from tallystick.model.did_you_mean import nearest
from tallystick.policy import kinds, risks
from tallystick.policy.cedar.engine import PolicySet
from tallystick.policy.cedar.parsing import Rule, policies_in, unmatchable, words_asked
from tallystick.policy.content.tags import TAGS
from tallystick.policy.detector import FAILED
from tallystick.policy.facts import Place
from tallystick.policy.judging import OF_RECORD
from tallystick.policy.network import hosts, unknown_packages
from tallystick.policy.protected.places import Kind
from tallystick.policy.settings import Limits, OutsideWrites, Profile
from tallystick.policy.taint import flows
from tallystick.policy.world import Maker, Marker, Trust
from tallystick.workspace.settings import PACKS


class RuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as it is listed. `origin` is shipped, plugin, user or repository."""

    id: str
    effect: Effect
    severity: str
    reason: str
    remedy: str
    holds_always: bool
    lifts: tuple[str, ...]
    lifted_by: tuple[str, ...]
    origin: str
    file: str
    line: int
    settings: tuple[str, ...] = ()
    """Settings that change what it speaks of."""
    real_work: OnRealWork | None = None
    """How often it stopped calls of real sessions, where it is shipped and ever did."""


class ShownRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with its text."""

    rule: RuleRow
    text: str


class InForce(msgspec.Struct, frozen=True, kw_only=True):
    """All rules in force, and what the set is called."""

    profile: Profile
    digest: str
    error: str | None
    """Why files that are there are not in force."""
    rules: tuple[RuleRow, ...]
    unmatchable: tuple[str, ...] = ()
    """Why rules of the user or the repository can never match, each with file and line."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A word that policies may ask for: which member has it, and what it means."""

    word: str
    member: str
    meaning: str


def rules_in_force(home: Home, root: str | None) -> InForce:
    """The rules in force in a repository; None: in none."""
    found = Policies(home)
    policies = found.in_force(root)
    return InForce(
        profile=found.settings.profile,
        digest=policies.digest,
        error=found.error_in(root),
        rules=_rows(policies, home, root),
        unmatchable=tuple(map(str, unmatchable(own_texts(found, root), _vocabulary()))),
    )


def own_texts(policies: Policies, root: str | None) -> Texts:
    """The texts in force that do not come with the program."""
    if root is None or policies.error_in(root) is not None:
        return policies.own
    return (*policies.own, *policies_below(repository_folder(root)))


def show_rule(home: Home, root: str | None, name: str) -> ShownRule:
    """One rule by its id, or by the one part of it that no other has.

    Raises: NotFoundError: none exists, or there are several; the message lists them.
    """
    policies = Policies(home).in_force(root)
    rows = _rows(policies, home, root)
    exact = [row for row in rows if row.id == name]
    found = exact or [row for row in rows if name in row.id]
    if not found:
        raise NotFoundError(
            f"no rule {name!r}{nearest(name, [row.id for row in rows])}", hint="`tally policy list` lists them"
        )
    if len(found) > 1:
        raise NotFoundError(f"{name!r} is ambiguous: {', '.join(row.id for row in found[:12])}")
    return ShownRule(rule=found[0], text=_texts(home, root).get((found[0].file, found[0].line), ""))


def read_texts(paths: Sequence[Path]) -> Texts:
    """The texts of some files of policies, by their whole paths. Raises PolicyError: one of them cannot be read."""
    return tuple((str(path.absolute()), read_policy_file(path)) for path in paths)


def check_files(home: Home, paths: Sequence[Path]) -> PolicySet:
    """The set that would be in force with these files instead of the user's own.

    Raises:
        PolicyError: one of them cannot be used, or has a policy that never matches; the message has file and line.
    """
    texts = read_texts(paths)
    settings = Policies(home).settings
    found = load_set(settings.profile, packs(settings.packs), texts)
    refuse_unmatchable(texts)
    return found


def refuse_unmatchable(texts: Iterable[tuple[str, str]]) -> None:
    """Raises PolicyError: one of some policies, which fit the schema, can never match."""
    for error in unmatchable(texts, _vocabulary()):
        raise error


def _vocabulary() -> dict[str, frozenset[str]]:
    """The words that members of resources and of the context may have, where there is a list of them."""
    listed: dict[str, set[str]] = {}
    for one in words():
        listed.setdefault(one.member.partition(".")[2], set()).add(one.word)
    listed["risks"].add(FAILED)
    return {**_CLOSED, **{member: frozenset(found) for member, found in listed.items()}}


_CLOSED = {
    "place": frozenset(map(str, Place)),
    "maker": frozenset(map(str, Maker)),
    "author": frozenset(map(str, Maker)),
    "trust": frozenset(map(str, Trust)),
    "markers": frozenset(map(str, Marker)),
    "over": frozenset(Limits.__struct_fields__),
    "write_outside_workspace": frozenset(map(str, OutsideWrites)),
    "touches": frozenset(map(str, Kind)),
    "may_touch": frozenset(map(str, Kind)),
    "mentions": frozenset(map(str, Kind)),
}


def words() -> tuple[Word, ...]:
    """Every word of kinds, tags and risks, with the member of resources that has it."""
    listed: list[tuple[str, dict[str, str]]] = [
        ("File.kinds", kinds.KINDS),
        ("Host.kinds", hosts.KINDS),
        ("Call.risks", {**risks.RISKS, **flows.RISKS, **unknown_packages.RISKS, **OF_RECORD}),
        *(("Call.risks", _prefixed(found.name, found.risks)) for found in detectors()),
        ("File.tags", TAGS),
    ]
    return tuple(
        Word(word=word, member=member, meaning=meaning)
        for member, table in listed
        for word, meaning in sorted(table.items())
    )


def _prefixed(name: str, table: object) -> dict[str, str]:
    return {f"{name}.{word}": meaning for word, meaning in dict(table).items()}  # type: ignore[call-overload]


def _rows(policies: PolicySet, home: Home, root: str | None) -> tuple[RuleRow, ...]:
    lifting: dict[str, list[str]] = {}
    for rule in policies.rules:
        for name in rule.lifts:
            lifting.setdefault(name, []).append(rule.id)
    texts = _texts(home, root)
    rows = (_row(rule, lifting.get(rule.id, ()), home, root) for rule in policies.rules)
    return tuple(msgspec.structs.replace(row, settings=_settings(texts.get((row.file, row.line), ""))) for row in rows)


_SETTINGS = {
    ("place", "home"): "policy.trusted",
    ("place", "outside"): "policy.trusted",
    ("kinds", "allowed"): "policy.hosts",
    ("kinds", "registry"): "policy.registries",
    ("kinds", "secret"): "policy.not_sensitive",
    ("kinds", "credential"): "policy.not_sensitive",
    ("write_outside_workspace", "deny"): "policy.write_outside_workspace",
}
"""By the words that a rule asks for."""


def _settings(text: str) -> tuple[str, ...]:
    asked = sorted(words_asked(text)) if text else []
    limits = [f"policy.limits.{word}" for member, word in asked if member == "over"]
    return tuple(dict.fromkeys([*limits, *(_SETTINGS[one] for one in asked if one in _SETTINGS)]))


def _row(rule: Rule, lifted_by: Iterable[str], home: Home, root: str | None) -> RuleRow:
    origin = _origin(rule.file, home, root)
    return RuleRow(
        id=rule.id,
        effect=rule.effect,
        severity=rule.severity,
        reason=rule.reason,
        remedy=rule.remedy,
        holds_always=rule.holds_always,
        lifts=rule.lifts,
        lifted_by=tuple(lifted_by),
        origin=origin,
        file=rule.file,
        line=rule.line,
        real_work=by_rule().get(rule.id) if origin == "shipped" else None,
    )


def _origin(file: str, home: Home, root: str | None) -> str:
    path = Path(file)
    if path.is_relative_to(user_folder(home)):
        return "user"
    if root is not None and path.is_relative_to(repository_folder(root)):
        return "repository"
    if ": " in file:
        return "plugin"
    return "shipped"


def _texts(home: Home, root: str | None) -> dict[tuple[str, int], str]:
    """The texts of rules by file and line."""
    repository: Texts = ()
    if root is not None:
        repository = policies_below(repository_folder(root))
    plugins = tuple((f"{found.name}: {name}", text) for found in detectors() for name, text in found.policies)
    everywhere = (*shipped_policies(Profile.DEFAULT_DENY), *shipped_policies(Profile.STANDARD), *packs(PACKS))
    files = (*everywhere, *plugins, *policies_below(user_folder(home)), *repository)
    return {(name, line): text for name, whole in files for line, text in policies_in(whole)}
