"""What cmdlets of PowerShell, their parameters and methods mean, in the words of a shell.

Owns the way from a cmdlet with its arguments to a command of a shell, and the providers that are not files. What each cmdlet
means is data (catalog/code/windows.toml). Must not know the grammar of PowerShell, nor what a program does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of


class Cmdlet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cmdlet, in the words of a shell. Braces hold what its parameters give."""

    says: str
    also: str = ""
    """Its other names."""
    order: str = "path"
    """What arguments without a name are, in order; more of them are of the last kind."""
    fed: str = ""
    """What it is behind a pipe, where no path is given."""
    gives: str = ""
    """What its output is, as a word."""
    by: Mapping[str, str] = {}
    """What it is with a parameter, or with a kind of item, instead."""


class Facts(Entry, frozen=True):
    """Facts of catalog/code/windows.toml."""

    silent: frozenset[str]
    commands: Mapping[str, str]
    folders: Mapping[str, str]
    parameters: Mapping[str, str]
    slots: Mapping[str, str]
    switches: str
    dropped: str
    methods: Mapping[str, str]
    providers: Mapping[str, str]
    passing: str
    cmdlets: Mapping[str, Cmdlet]


FACTS = load("code/windows", Facts)
_SWITCHES = tuple(FACTS.switches.split())
_SLOT_OF = {name: slot for slot, names in FACTS.parameters.items() for name in names.split()}
METHODS = {name: said for said, names in FACTS.methods.items() for name in names.split()}
PASSING = frozenset(FACTS.passing.split())
NAMES = {name: key for key, one in FACTS.cmdlets.items() for name in (key, *one.also.split())}
_KNOWN = (*_SWITCHES, *_SLOT_OF, *FACTS.dropped.split())
_PROVIDER = pattern_of(r"(?:\w+\\)?(env|variable|alias|function|cert|wsman)::?[\\/]?(.*)", re.IGNORECASE | re.DOTALL)
REGISTRY = pattern_of(r"(?:registry::)?(?:hk(?:lm|cu|cr|u|cc)|hkey_\w+)(?=[:\\/])", re.IGNORECASE)
_SLOT = pattern_of(r"( ?)\{(\w+)\}")


class ShellWord(NamedTuple):
    """A word of a shell, and what it stands for where that is known."""

    text: str
    plain: str | None = None


def literal(text: str) -> ShellWord:
    """A word that stands for itself."""
    return ShellWord(shlex.quote(text), text)


def joined(words: list[ShellWord]) -> ShellWord:
    """Words without blanks between them, as one."""
    plain = None
    if all(word.plain is not None for word in words):
        plain = "".join(word.plain or "" for word in words)
        return literal(plain)
    return ShellWord("".join(word.text for word in words if word.text != "''") or "''")


def parameter(written: str) -> str:
    """The whole name of a parameter, of which a beginning is enough; empty where it is not known."""
    name = written.lstrip("-").rstrip(":").lower()
    if name in _KNOWN:
        return name
    return next((known for known in _KNOWN if known.startswith(name)), "recurse" if name == "rf" else "")


def slot_of(name: str) -> str | None:
    """What the value of a parameter is given for: nothing, where it only says how; None of one that takes no value."""
    return None if name in _SWITCHES else _SLOT_OF.get(name, "")


def pieces(template: str, slots: Mapping[str, list[ShellWord]]) -> Iterator[ShellWord]:
    """A text with what is in its braces replaced, piece by piece."""
    at = 0
    for found in _SLOT.finditer(template):
        if found.start() > at:
            yield ShellWord(template[at : found.start()], template[at : found.start()])
        words = slots.get(found[2], [])
        if found[1] and any(word.text for word in words):
            yield ShellWord(" ", " ")
        yield ShellWord(" ".join(word.text for word in words), words[0].plain if len(words) == 1 else None)
        at = found.end()
    if at < len(template):
        yield ShellWord(template[at:], template[at:])


def filled(cmdlet: Cmdlet, name: str, slots: dict[str, list[ShellWord]], given: set[str], *, is_fed: bool) -> str:
    """A cmdlet with its arguments."""
    beside = _beside_files(name, slots)
    if beside is not None:
        return beside
    known = ("known",) if any(word.plain is not None for word in slots.get("path", [])) else ()
    kind = next((word.plain.lower() for word in slots.get("kind", []) if word.plain), "")
    said = cmdlet.by.get(kind) or next(
        (cmdlet.by[slot] for slot in (*slots, *given, *known) if slot in cmdlet.by), cmdlet.says
    )
    if is_fed and cmdlet.fed and not slots.get("value" if "value" in cmdlet.order else "path"):
        said = cmdlet.fed
    ready = {
        slot: [ShellWord(f"{FACTS.slots[slot]}{word.text}") for word in words] if slot in FACTS.slots else words
        for slot, words in slots.items()
    }
    ready["deep"] = [ShellWord("-r")] if "recurse" in given else []
    ready["to"] = ready.get("to") or [ShellWord(".")]
    ready["here"] = ready.get("path") or [ShellWord(".")]
    if "name" in slots:
        ready["path"] = ready["here"]
    ready["arrow"] = [ShellWord(">>" if "append" in given else ">")]
    return "".join(piece.text for piece in pieces(said, ready))


def _beside_files(name: str, slots: Mapping[str, list[ShellWord]]) -> str | None:
    """What is done to a variable, an alias or a key of the registry, which have paths as files do."""
    path = next((word.plain for word in slots.get("path", []) if word.plain), "")
    verb = name.partition("-")[0]
    if REGISTRY.match(path):
        values = " ".join(word.text for kind in ("name", "value") for word in slots.get(kind, []))
        how = {"remove": "delete", "clear": "delete", "get": "query", "test": "query"}.get(verb, "add")
        return f"reg {how} {shlex.quote(path.removeprefix('Registry::').replace(':', '', 1))} {values}".rstrip()
    found = _PROVIDER.fullmatch(path)
    if found is None:
        return None
    said = "true"
    if found[1].lower() == "env":
        said = FACTS.providers.get(verb, "true")
    return "".join(
        piece.text for piece in pieces(said, {**slots, "path": [literal(found[2]) if found[2] else ShellWord("")]})
    )
