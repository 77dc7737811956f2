"""Which limits a call passes: sizes, how much one call does, how much its session did.

Owns measuring a call against `settings.Limits`; what is passed is named as there. A session that is over a limit passes it
again at each further tenth of it, not with every call; a rate is passed with each call that is over it. Must not know what
follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.names import canonical
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Loop, Role
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.settings import Limits
from tallystick.policy.world import Past, World

_CHANGES = frozenset(
    (
        Operation.CREATE,
        Operation.WRITE,
        Operation.APPEND,
        Operation.EDIT,
        Operation.COPY_DEST,
        Operation.RENAME,
        Operation.DELETE,
        Operation.METADATA,
    )
)
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE))
_MOST_MEASURED = 64
_PARTS_ONLY = programs_with("shows-parts")
"""Programs that read files but do not put all of them before the model."""
_LOCAL = ("localhost", "127.", "[::1]", "::1", "0.0.0.0", "host.docker.internal")
_QUICK = programs_with("loop-body")
_FANS_OUT = programs_with("fans-out")
_SIZE = pattern_of(r"(\d{1,15})([kKmMgGtT]?)(?:i?[bB])?")
_COUNTED = pattern_of(r"://[^\s\[]{1,300}\[(\d{1,9})-(\d{1,9})[:\]]")
"""`https://example.org/[1-500]`, as curl reads it."""
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def over(reading: CallReading, past: Past, world: World, limits: Limits) -> frozenset[str]:
    """The limits that a call passes, by their names."""
    return frozenset((*_of_call(reading, world, limits), *_of_session(reading, past, limits)))


# One call ------------------------------------------------------------------------------------------------------------


def _of_call(reading: CallReading, world: World, limits: Limits) -> Iterator[str]:
    intents = reading.effects.intents
    if len(intents) > limits.files_in_call:
        touched = {intent.target for intent in intents if intent.domain is Domain.FILE and intent.operation in _CHANGES}
        read = {intent.target for intent in intents if intent.domain is Domain.FILE and intent.operation in _READS}
        if len(touched) > limits.files_in_call or len(read) > limits.files_in_call:
            yield "files_in_call"
    if len(intents) > limits.commands_in_call:
        commands = {(each.command, each.target) for each in intents if each.operation is Operation.RUN}
        if len({number for number, _ in commands}) > limits.commands_in_call:
            yield "commands_in_call"
    if len(reading.uses.commands) > limits.commands_in_call:
        yield "commands_in_call"
    if any(intent.content is not None and len(intent.content) > limits.write_bytes for intent in intents):
        yield "write_bytes"
    if _read_bytes(intents, world, limits.read_bytes) > limits.read_bytes:
        yield "read_bytes"
    if reading.scripts:
        yield from _of_scripts(reading, limits)


def _read_bytes(intents: tuple[Intent, ...], world: World, limit: int) -> int:
    """How much is read of files as a whole."""
    run: dict[int, set[str]] = {}
    for intent in intents:
        if intent.operation is Operation.RUN:
            run.setdefault(intent.command, set()).add(canonical(intent.target))
    found, paths = (
        0,
        dict.fromkeys(
            intent.target
            for intent in intents
            if intent.operation is Operation.READ
            and intent.domain is Domain.FILE
            and intent.is_known
            and not intent.is_pattern
            and intent.target.startswith("/")
            and not _PARTS_ONLY.intersection(run.get(intent.command, ()))
        ),
    )
    for path in list(paths)[:_MOST_MEASURED]:
        found += world.state(path).size_bytes
        if found > limit:
            break
    return found


def _of_scripts(reading: CallReading, limits: Limits) -> Iterator[str]:
    far = _network_programs(reading)
    if max(_named_by_braces(reading), _listed_by_seq(reading)) > limits.files_in_call:
        yield "files_in_call"
    for script in reading.scripts:
        for command in script.commands:
            if far and command.program in far and _asked_at_once(command) > limits.network_calls_a_minute:
                yield "network_calls_a_minute"
            if _made_bytes(command) > limits.write_bytes:
                yield "write_bytes"
        for loop in script.loops:
            yield from _of_loop(loop, far, limits)
        rounds = max(map(_given_by, script.commands), default=0)
        if rounds and any(_fans_out(command) for command in script.commands):
            if far and rounds > limits.network_calls_a_minute:
                yield "network_calls_a_minute"
            if rounds > limits.calls_in_session:
                yield "commands_in_call"


def _named_by_braces(reading: CallReading) -> int:
    """How many files braces name for a program that reads or changes them: `touch f{1..5000}`."""
    told = [
        command
        for script in reading.scripts
        for command in script.commands
        if command.words and any(word.many for word in command.words[1:])
    ]
    if not told:
        return 0
    working = {
        words
        for intent in reading.effects.intents
        if intent.domain is Domain.FILE and intent.operation in _CHANGES | _READS
        for words in intent.words
    }
    return max((word.many for command in told for word in command.words[1:] if word.plain in working), default=0)


def _asked_at_once(command: Command) -> int:
    """How many addresses one command asks: by braces of the shell, or by those that curl itself counts up."""
    many = max((word.many for word in command.words[1:]), default=0)
    counted = _COUNTED.search(" ".join(word.plain for word in command.words[:32])[:4000])
    return max(many, abs(int(counted[2]) - int(counted[1])) + 1 if counted is not None else 0)


def _listed_by_seq(reading: CallReading) -> int:
    """How many files a command changes that `$(seq N)` names."""
    commands = reading.scripts[0].commands
    many = 0
    for n, command in enumerate(commands):
        given = (_given_by(commands[k]) for word in command.words[1:] for k in word.commands if k < len(commands))
        if (rounds := max(given, default=0)) and any(
            each.command == n and each.domain is Domain.FILE and each.operation in _CHANGES
            for each in reading.effects.intents
        ):
            many = max(many, rounds)
    return many


def _of_loop(loop: Loop, far: frozenset[str], limits: Limits) -> Iterator[str]:
    run = {canonical(name.rpartition("/")[2]) for name in (*loop.waits, *loop.behind)}
    if loop.rounds is not None:
        rounds = loop.rounds
    elif loop.is_endless:
        rounds = limits.calls_in_session + 1
    else:
        rounds = 0
    if loop.is_endless and "sleep" in run:
        return
    if run & far and rounds > limits.network_calls_a_minute:
        yield "network_calls_a_minute"
    if run - _QUICK and rounds > limits.calls_in_session:
        yield "commands_in_call"


def _network_programs(reading: CallReading) -> frozenset[str]:
    """The programs of a call that reach other machines."""
    far = {
        each.command
        for each in reading.effects.intents
        if each.domain is Domain.NETWORK and not _is_local(each.target) and not each.target.startswith("pkg:")
    }
    return frozenset(
        canonical(each.target)
        for each in reading.effects.intents
        if each.operation is Operation.RUN and each.command in far
    )


def _is_local(target: str) -> bool:
    return target.rpartition("://")[2].startswith(_LOCAL)


def _fans_out(command: Command) -> bool:
    if command.role is Role.WRAPPER:
        words = command.spelled
    else:
        words = command.words
    return bool(words) and words[0].plain.rpartition("/")[2] in _FANS_OUT


def _given_by(command: Command) -> int:
    """How many lines `seq` gives."""
    words = command.words
    if not words or canonical(words[0].plain.rpartition("/")[2]) not in ("seq", "jot"):
        return 0
    numbers = [int(word.text) for word in words[1:4] if re.fullmatch(r"-?\d{1,9}", word.text)]
    if len(numbers) > 1:
        first, last = numbers[0], numbers[-1]
    else:
        first, last = 1, numbers[0] if numbers else 0
    return max(0, last - first + 1)


# Sizes that are said -------------------------------------------------------------------------------------------------


def _made_bytes(command: Command) -> int:
    """How large the files are that a command says it makes."""
    if command.role is not Role.PROGRAM or not command.words:
        return 0
    name = canonical(command.words[0].plain.rpartition("/")[2])
    if name not in _MAKES:
        return 0
    words = [word.plain for word in command.arguments[:32]]
    if name == "dd":
        said = {key: value for key, _, value in (word.partition("=") for word in words)}
        return _bytes(said.get("bs", "512")) * _bytes(said.get("count", "0"))
    if name == "head":
        if _is_endless(command):
            return max(map(_bytes, _values(words, "-c", "--bytes")), default=0)
        return 0
    if name in ("mkfile", "fsutil"):
        return max(map(_bytes, words), default=0)
    return max(map(_bytes, _values(words, "-l", "--length", "-s", "--size")), default=0)


_MAKES = programs_with("makes-size")


def _is_endless(command: Command) -> bool:
    """Whether `head` cuts something that has no end."""
    texts = [word.plain for word in command.arguments] + [redirect.target.plain for redirect in command.redirects]
    return any(text in ("/dev/zero", "/dev/urandom", "/dev/random") for text in texts) or any(
        name in command.fed for name in ("/dev/zero", "/dev/urandom", "/dev/random", "yes")
    )


def _values(words: list[str], *options: str) -> Iterator[str]:
    """What some options are given: in the next word, after `=`, or joined to a letter."""
    for n, word in enumerate(words):
        for option in options:
            if word == option:
                yield from words[n + 1 : n + 2]
            elif word.startswith(option + "=") and option[:2] == "--":
                yield word[len(option) + 1 :]
            elif word.startswith(option) and option[:2] != "--" and word[:2] != "--":
                yield word[len(option) :]


def _bytes(text: str) -> int:
    """`10M`, `20000000`, `+5G`; 0 for what is not a size."""
    found = _SIZE.fullmatch(text.lstrip("+<>%/").strip())
    if found is None:
        return 0
    return int(found[1]) << _UNITS[found[2].lower()]


# The session ---------------------------------------------------------------------------------------------------------


def _of_session(reading: CallReading, past: Past, limits: Limits) -> Iterator[str]:
    if _passes(past.calls + 1, limits.calls_in_session):
        yield "calls_in_session"
    if not (past.network_calls or past.recent_file_calls or past.recent_network_calls):
        return
    intents = reading.effects.intents
    is_far = any(each.domain is Domain.NETWORK and not _is_local(each.target) for each in intents)
    if is_far and _passes(past.network_calls + 1, limits.network_calls_in_session):
        yield "network_calls_in_session"
    if is_far and past.recent_network_calls >= limits.network_calls_a_minute:
        yield "network_calls_a_minute"
    if past.recent_file_calls >= limits.file_calls_a_minute and any(each.domain is Domain.FILE for each in intents):
        yield "file_calls_a_minute"


def _passes(count: int, limit: int) -> bool:
    """Whether a count is the first over a limit, or a further tenth of it over."""
    return count > limit and (count - limit - 1) % max(1, limit // 10) == 0
