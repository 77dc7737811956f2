"""Listings that go deep but show little: `du -s` prints one sum, `tree -L 1` one level, `find -name '*.pub'` no secret.

Owns which those are. Sources: du(1), tree(1).
"""

from __future__ import annotations

import re
from itertools import pairwise

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command
from tallystick.policy.reading import CallReading

_SUMMED = re.compile(r"-[a-zA-Z]*s[a-zA-Z]*|--summarize|--total|-[a-zA-Z]*d[01]?|--max-depth(?:=[01])?")
_LEVELS = re.compile(r"-L[123]?")
_PUBLIC = re.compile(r"[\w.*?-]*\.pub")
_FORMS = {"du": _SUMMED, "gdu": _SUMMED, "tree": _LEVELS, "find": _PUBLIC}


def is_shallow(intent: Intent, reading: CallReading) -> bool:
    """Whether a listing shows little of what is below."""
    if not _is_deep_list(intent):
        return False
    word = intent.words[-1]
    found = [
        command
        for script in reading.scripts
        for command in script.commands
        if command.program in _FORMS and any(one.plain == word for one in command.words)
    ]
    lists = sum(_is_deep_list(one) and one.words[-1] == word for one in reading.effects.intents)
    return len(found) == lists and all(map(_is_short, found))


def _is_deep_list(intent: Intent) -> bool:
    is_list = intent.operation is Operation.LIST and intent.domain is Domain.FILE
    return is_list and intent.is_deep and bool(intent.words)


def _is_short(command: Command) -> bool:
    form = _FORMS[command.program]
    words = [word.plain for word in command.arguments]
    if command.program == "find":  # for public keys alone
        names = [word for before, word in pairwise(words) if before in ("-name", "-iname")]
        return bool(names) and all(map(form.fullmatch, names)) and not {"-o", "-or", "!", "-not"}.intersection(words)
    return any(form.fullmatch(word) for word in words) and not any(_ALL.fullmatch(word) for word in words)


_ALL = re.compile(r"-[a-zA-Z]*a[a-zA-Z]*|--all|-[Ld]?\d{2,}|[4-9]")
