"""What a session ran under, section by section, as it is sealed and as it is compared.

Owns the sections, the form in which a checkpoint and a change tell them, and what differs between two of them. A value is
never in it: names, sizes and modes are, and keyed digests. Must not know where inputs come from. Source: decision 0022.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.fingerprint import (
    Hook,
    in_order,
    input_digest,
    key_name,
    overall_digest,
    section_digest,
    section_key,
)

AGENT, PERMISSIONS, SETTINGS, HOOKS = "agent", "permissions", "settings", "hooks"
SERVERS, INSTRUCTIONS, SKILLS, ENVIRONMENT = "mcp", "instructions", "skills", "environment"
SECTIONS = (AGENT, PERMISSIONS, SETTINGS, HOOKS, SERVERS, INSTRUCTIONS, SKILLS, ENVIRONMENT)
"""In the order in which they are told. A program that records itself may have others."""
IN_FILES = (PERMISSIONS, SETTINGS, HOOKS, SERVERS, INSTRUCTIONS, SKILLS)
"""Those that are in files of the agent."""

_SELF_TOLD = frozenset(((AGENT, "version"), (AGENT, "model"), (PERMISSIONS, "mode")))
"""Inputs of which a session may say nothing, or say them late."""
_T = TypeVar("_T")
_MOST_INPUTS = 256
_MOST_NAME = 300
_MOST_SECTIONS = 32
_MOST_LISTED = 8
_REST = "(and more)"
_READABLE, _UNREADABLE = b"=", b"!"


class By(enum.StrEnum):
    """Who wrote a version of a file."""

    SESSION = "session"
    """A call of a recorded session."""
    DOWNLOAD = "download"
    """The same, which took it from the network."""
    COMMIT = "commit"
    """No recorded call; the last commit holds it as it is."""
    OUTSIDE = "outside"
    """No record has it: an editor, a program, a person."""
    UNKNOWN = "unknown"
    """It could not be read, or the index was behind."""


class Author(msgspec.Struct, frozen=True, kw_only=True):
    """Who wrote a version of a file, as far as the record tells."""

    by: By
    step: str | None = None
    """The call: SESSION:n."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """One input, with its value: a file's content, a variable's name, a mode."""

    section: str
    name: str
    data: bytes = b""
    """Its bytes, or of a format that is understood the same for all that mean the same."""
    size: int | None = None
    """Of the file, in bytes."""
    mode: int | None = None
    """Its permissions."""
    problem: str | None = None
    """Why it could not be read: it counts as unreadable, whatever is in it."""
    path: str | None = None
    """Where the file is. It is not reported."""
    author: Author | None = None
    """Who wrote the version that is there, of text that the agent's model reads."""


class Known(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One input as it is reported: not its value."""

    name: str
    digest: str
    size: int | None = None
    mode: str | None = None
    problem: str | None = None
    by: str | None = None
    """Who wrote it: a word of `By`, of text that the agent's model reads."""
    step: str | None = None
    """The call that wrote it: SESSION:n."""


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """What a session runs under, or a part of it."""

    fingerprint: str
    sections: Mapping[str, str]
    """Section to digest, 64 hex digits."""
    key: str = ""
    """What the key is called under which the digests were made."""
    inputs: Mapping[str, tuple[Known, ...]] = {}
    registry: tuple[Hook, ...] = ()

    def told(self, sections: Iterable[str] | None = None) -> tuple[dict[str, Json], dict[str, Json]]:
        """Members of `meta` and values that tell it; of the inputs those of some sections, or all."""
        shown = self.sections if sections is None else sections
        inputs = {name: [msgspec.to_builtins(item) for item in self.inputs.get(name, ())] for name in shown}
        values: dict[str, Json] = {"content.configuration": inputs}
        if sections is None or HOOKS in shown:
            values["content.hook_registry"] = [hook.told() for hook in self.registry]
        members = {
            "config_fingerprint": self.fingerprint,
            "config_key": self.key,
            "config_sections": dict(self.sections),
        }
        return members, values


class Digested(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs and hooks whose values are not needed any longer."""

    inputs: tuple[tuple[str, Known], ...] = ()
    """Each with its section."""
    registry: tuple[Hook, ...] = ()
    sections: tuple[str, ...] = ()
    """Those that were looked at, whether anything was in them or not."""


def digested(
    key: bytes,
    given: Iterable[Given],
    hooks: Iterable[tuple[Hook, bytes]] = (),
    sections: Iterable[str] = (),
) -> Digested:
    """Inputs under a store's key.

    Args:
        hooks: those that are registered, each with all that is said of it; nothing: only its name is known.
        sections: those that were looked at, besides those of the inputs.
    """
    keys: dict[str, bytes] = {}
    inputs = []
    for item in given:
        of_section = keys.setdefault(item.section, section_key(key, item.section))
        inputs.append((item.section, _known(of_section, item)))
    of_hooks = section_key(key, HOOKS)
    registry = [
        msgspec.structs.replace(hook, digest=input_digest(of_hooks, "hook", data)) if data else hook
        for hook, data in hooks
    ]
    return Digested(inputs=tuple(inputs), registry=tuple(registry), sections=tuple(sections))


def configuration(key: bytes, *parts: Digested) -> Configuration:
    """The configuration that all these inputs make."""
    by_section: dict[str, list[Known]] = {name: [] for part in parts for name in part.sections}
    for part in parts:
        for section, item in part.inputs:
            by_section.setdefault(section, []).append(item)
    keys = {section: section_key(key, section) for section in ordered(by_section)}
    sections = {
        name: section_digest(keys[name], [(item.name, item.digest) for item in by_section[name]]) for name in keys
    }
    return Configuration(
        fingerprint=overall_digest(key, sections),
        sections=sections,
        key=key_name(key),
        inputs={name: _bounded(keys[name], by_section[name]) for name in keys},
        registry=tuple(in_order(hook for part in parts for hook in part.registry)),
    )


def section_inputs(key: bytes, given: Iterable[Given], section: str) -> list[Known]:
    """The inputs of one section under its own key, which may be another store's."""
    return [_known(key, item) for item in given if item.section == section]


def _known(key: bytes, given: Given) -> Known:
    is_read = given.problem is None
    if len(given.name) <= _MOST_NAME:
        name = given.name
    else:
        name = given.name[: _MOST_NAME - 1] + "…"
    return Known(
        name=name,
        digest=input_digest(key, given.name, _READABLE + given.data if is_read else _UNREADABLE),
        size=given.size,
        mode=None if given.mode is None else f"{given.mode:04o}",
        problem=given.problem,
        by=None if given.author is None else given.author.by.value,
        step=None if given.author is None else given.author.step,
    )


def _bounded(key: bytes, inputs: list[Known]) -> tuple[Known, ...]:
    """The inputs of a section in the order of their names; what is too much as one, of folders in folders first."""
    inputs = sorted(inputs, key=lambda item: (item.name, item.digest))
    if len(inputs) <= _MOST_INPUTS:
        return tuple(inputs)
    inputs = sorted(inputs, key=lambda item: item.name.count("/"))  # a folder of many rules hides no CLAUDE.md
    rest = sorted(inputs[_MOST_INPUTS - 1 :], key=lambda item: (item.name, item.digest))
    digest = section_digest(key, [(item.name, item.digest) for item in rest])
    return (*inputs[: _MOST_INPUTS - 1], Known(name=f"{_REST}: {len(rest)}", digest=digest[:32]))


def ordered(sections: Iterable[str]) -> list[str]:
    """Sections in the order in which they are told, those that are not ours after them."""
    return sorted(sections, key=lambda name: (SECTIONS.index(name) if name in SECTIONS else len(SECTIONS), name))


# Read back --------------------------------------------------------------------------------------------------------------


def told_by(step: Recorded) -> Configuration | None:
    """The configuration that a step tells, as far as it does; None: it tells none. Never raises for what stands there."""
    fingerprint, sections = step.meta.get("config_fingerprint"), step.meta.get("config_sections")
    if not isinstance(fingerprint, str) or not isinstance(sections, dict):
        return None
    said = step.values.get("content.configuration")
    registry = step.values.get("content.hook_registry")
    return Configuration(
        fingerprint=fingerprint,
        sections={name: digest for name, digest in list(sections.items())[:_MOST_SECTIONS] if isinstance(digest, str)},
        key=str(step.meta.get("config_key", "")),
        inputs={
            name: _inputs(items)
            for name, items in (list(said.items())[:_MOST_SECTIONS] if isinstance(said, dict) else ())
        },
        registry=tuple(hook for item in (registry if isinstance(registry, list) else ()) if (hook := _hook(item))),
    )


def _inputs(items: Json) -> tuple[Known, ...]:
    return tuple(found for item in (items if isinstance(items, list) else ()) if (found := _read(item, Known)))


def _hook(item: Json) -> Hook | None:
    return _read(item, Hook)


def _read(item: Json, kind: type[_T]) -> _T | None:
    try:
        return msgspec.convert(item, kind)
    except msgspec.ValidationError:
        return None


def then(before: Configuration, after: Configuration) -> Configuration:
    """A configuration with a later step's word on it: a change tells inputs of the sections that changed alone."""
    is_whole = after.inputs.keys() >= after.sections.keys()
    return Configuration(
        fingerprint=after.fingerprint,
        sections=after.sections,
        key=after.key,
        inputs={
            name: after.inputs[name] if name in after.inputs else before.inputs.get(name, ()) for name in after.sections
        },
        registry=after.registry if HOOKS in after.inputs or is_whole else before.registry,
    )


# Compared ---------------------------------------------------------------------------------------------------------------


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A section that is not the same, and by name what in it."""

    section: str
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    """Of these those that could not be read the second time."""
    untold: tuple[str, ...] = ()
    """What one of the two alone tells of itself: its model, its mode."""
    not_seen: str | None = None
    """`first` or `second`: there no one looked at the section, so nothing can be said."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that are known to differ."""
        return (*self.changed, *self.added, *self.removed)


def differences(one: Configuration, other: Configuration) -> tuple[Difference, ...]:
    """The sections that differ, in their order. Nothing is named of inputs that were not reported, or were erased."""
    names = ordered({*one.sections, *other.sections})
    return tuple(_difference(name, one, other) for name in names if one.sections.get(name) != other.sections.get(name))


def _difference(section: str, one: Configuration, other: Configuration) -> Difference:
    if section not in one.sections or section not in other.sections:
        return Difference(section=section, not_seen="first" if section not in one.sections else "second")
    before, after = _by_name(one.inputs.get(section, ())), _by_name(other.inputs.get(section, ()))
    if section == HOOKS:
        before |= _by_hook(one.registry)
        after |= _by_hook(other.registry)
    untold = {name for name in before.keys() ^ after.keys() if (section, name) in _SELF_TOLD}
    both = before.keys() & after.keys()
    unread = {item.name for item in other.inputs.get(section, ()) if item.problem is not None}
    return Difference(
        section=section,
        changed=tuple(sorted(name for name in both if before[name] != after[name])),
        added=tuple(sorted(after.keys() - before.keys() - untold)),
        removed=tuple(sorted(before.keys() - after.keys() - untold)),
        untold=tuple(sorted(untold)),
        unreadable=tuple(sorted(unread & {name for name in after if before.get(name) != after[name]})),
    )


def in_words(difference: Difference) -> str:
    """What differs in a section, by name."""
    if difference.not_seen is not None:
        return f"not looked at in the {difference.not_seen}"
    parts = [
        f"{_listed(names)} {word}"
        for names, word in (
            (difference.changed, "changed"),
            (difference.added, "added"),
            (difference.removed, "removed"),
            (difference.untold, "told by one alone"),
        )
        if names
    ]
    return "; ".join(parts) or "changed"


def _listed(names: tuple[str, ...]) -> str:
    rest = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _by_name(inputs: Iterable[Known]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for item in inputs:
        found[item.name] = (*found.get(item.name, ()), item.digest)
    return found


def _by_hook(registry: Iterable[Hook]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for hook in registry:
        name = f"hook {hook.name} ({hook.phase})"
        found[name] = (*found.get(name, ()), f"{hook.priority} {hook.enabled} {hook.digest}")
    return found
