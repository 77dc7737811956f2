"""Texts of policies that are written for a person: one that forbids what a glob names, one that permits it, an exception.

Owns their form: an id, a reason, and conditions that the reader would have written. Must not know where they are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256

import msgspec

from tallystick.model.decision import Effect

_MOST_ID = 60
_SEVERITY = {Effect.DENY: "high", Effect.ASK: "medium", Effect.WARN: "low"}
SHIPPED = "shipped"
"""What an exception lifts that names no rule: those that come with the program."""


class Verb(msgspec.Struct, frozen=True):
    """What a person calls an action: the acts of policies that it means, and what they are done to."""

    acts: tuple[str, ...]
    kind: str


VERBS = {
    "read": Verb(("read", "use", "move"), "File"),
    "write": Verb(("write", "delete", "move", "metadata"), "File"),
    "delete": Verb(("delete", "move"), "File"),
    "run": Verb(("execute",), "File"),
    "connect": Verb(("fetch", "send", "connect"), "Host"),
    "send": Verb(("send", "connect"), "Host"),
}
_PROGRAMS = Verb(("run",), "Program")
_MEMBERS = {"Host": "host", "Program": "name"}


def rule_text(effect: Effect, action: str, glob: str, *, name: str, reason: str | None) -> str:
    """A policy for what a glob names, a key of VERBS being done to it. `run` of a name without a slash is a program."""
    verb = _PROGRAMS if action == "run" and "/" not in glob else VERBS[action]
    said = reason or f"A rule of the user says: {effect} {action} {glob}. This concerns {{target}}."
    is_permit = effect is Effect.ALLOW
    annotations = [("id", name)]
    if is_permit:
        annotations.append(("lifts", SHIPPED))
    else:
        annotations += [("severity", _SEVERITY[effect]), ("decision", effect.value)]
    head = "permit" if is_permit else "forbid"
    return policy_text(
        [*annotations, ("reason", said)], head, verb, condition=_condition(verb.kind, glob, is_permit=is_permit)
    )


def policy_text(annotations: Iterable[tuple[str, str]], head: str, verb: Verb, *, condition: str) -> str:
    """The text of a policy in a file."""
    lines = [f"@{name}({quoted(value)})" for name, value in annotations]
    acts = [f'Action::"{act}"' for act in verb.acts]
    action = f"action == {acts[0]}" if len(acts) == 1 else f"action in [{', '.join(acts)}]"
    when = f"when {{\n  {condition}\n}};" if "\n" in condition else f"when {{ {condition} }};"
    return "\n".join([*lines, f"{head} (principal, {action}, resource is {verb.kind})", when, ""])


def _condition(kind: str, glob: str, *, is_permit: bool) -> str:
    if kind == "File":
        return f"resource.{'within' if is_permit else 'meets'}.contains({quoted(glob)})"
    member = f"resource.{_MEMBERS[kind]}"
    if "*" in glob:
        return f"{member} like {quoted(glob)}"
    equal = f"{member} == {quoted(glob)}"
    if kind == "Host":
        return f"{equal} || {member} like {quoted('*.' + glob)}"
    return equal


def quoted(text: str) -> str:
    """Text as a string of Cedar."""
    return json.dumps(text, ensure_ascii=False)


def same_target(member: str, target: str) -> str:
    """A test that an act has a target; one that ends in `/*` stands for a folder."""
    if target.endswith("/*"):
        folder = quoted(target[:-1])[1:-1].replace("*", "\\*")
        return f'resource.{member} like "{folder}*"'
    return f"resource.{member} == {quoted(target)}"


def id_of(*words: str) -> str:
    """A rule's id of some words."""
    whole = " ".join(words)
    found = re.sub(r"[^a-z0-9]+", "-", whole.lower()).strip("-")
    if len(found) <= _MOST_ID:
        return found
    return f"{found[:_MOST_ID]}-{sha256(whole.encode()).hexdigest()[:8]}"
