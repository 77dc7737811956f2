"""Whole sets of rules that are loaded into a firewall, where the same command has made or thinned them.

Owns which programs load a set of rules, and where it comes from: out of a filter, out of the words of the call, out of a file
that the call has changed. A set that lies in a file is `defences`' to ask about. Sources: iptables-restore(8), nft(8),
pfctl(8), ipset(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role, Script
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, called, reaching
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "disables-firewall": "A firewall is switched off, emptied, or opened as a whole.",
}
_LOADS = Forms("firewall_rules")
"""What takes the whole of its rules from somewhere."""
_THINS = programs_with("thins-text")
_CLOSES = pattern_of(r"\b(?:drop|reject|block|deny)\b", re.IGNORECASE)
_MOST_TEXT = 64 << 10
_CHANGES = frozenset((Operation.WRITE, Operation.EDIT, Operation.COPY_DEST, Operation.APPEND))
_LEAST_EMPTY = ("/dev/null",)


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for script in reading.scripts:
        for command in script.commands:
            if command.role is Role.PROGRAM and _loads(command) and _is_made_here(command, script, reading):
                yield Risk("disables-firewall", " ".join(word.plain for word in command.words)[:200])


def _loads(command: Command) -> bool:
    return _LOADS.of(Started(called(command), command.words[1:], "")) is not None


def _is_made_here(command: Command, script: Script, reading: CallReading) -> bool:
    commands = script.commands
    thinned = [maker for maker in _before(command, commands) if called(maker) in _THINS]
    text = None
    if command.input is not None and command.input.is_known:
        text = command.input.plain[:_MOST_TEXT]
    if any(called(maker) not in ("echo", "printf") for maker in thinned):
        return True
    if thinned:
        text = " ".join(word.plain for maker in thinned for word in maker.words[1:])[:_MOST_TEXT]
    if text is not None:
        return "flush" in text or _CLOSES.search(text) is None
    files = {word.plain for word in command.words[1:]} | {
        redirect.target.plain for redirect in command.redirects if not redirect.writes
    }
    if not files.isdisjoint(_LEAST_EMPTY):
        return True
    return any(_is_changed(file, reading) for file in files if file and file[:1] != "-")


def _is_changed(file: str, reading: CallReading) -> bool:
    """Whether the call itself edits a file of rules, or writes it out of a filter."""
    intents = reading.effects.intents
    written = [
        n
        for n, intent in enumerate(intents)
        if intent.domain is Domain.FILE and intent.operation in _CHANGES and intent.target.endswith(file.lstrip("./"))
    ]
    if any(intents[n].operation is Operation.EDIT for n in written):
        return True
    return any(
        called(command) in _THINS and any(redirect.target.plain == file for redirect in command.redirects)
        for script in reading.scripts
        for command in script.commands
    )


def _before(command: Command, commands: tuple[Command, ...]) -> Iterator[Command]:
    """The commands whose output reaches a command, through others and through `< <(…)` as well."""
    streams = [n for redirect in command.redirects for n in redirect.target.commands]
    for maker in reaching([*command.inputs, *streams], commands):
        yield maker
        yield from reaching([n for redirect in maker.redirects for n in redirect.target.commands], commands)
