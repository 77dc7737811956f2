"""Shells that are joined with a connection by descriptors: through a coprocess, `exec`, a named pipe.

Owns those ways of joining, in a text of the shell. Which programs talk to hosts and which commands are open shells is
known by `sockets`. Source: bash(1), "Coprocesses" and "REDIRECTION"; ksh(1).
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.model.script import Command, Role, Script
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import name_of
from tallystick.policy.risks.reverse_shell_net import SHELLS, TALKERS, is_open_shell
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "reverse-shell": "A shell is joined with a connection, so that somebody elsewhere can give it commands.",
}
_MOST_WORDS = 8
_MOST_STEPS = 100


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for script in reading.scripts:
        target = _joined(script)
        if target:
            yield Risk("reverse-shell", target[:200])


def _joined(script: Script) -> str:
    """What a shell of a text is joined with; empty if with nothing."""
    commands = script.commands
    talkers = [command for command in commands if _name(command) in TALKERS]
    shells = [command for command in commands if is_open_shell(command)]
    if not talkers and not shells:
        return ""
    for command in commands:
        if command.spelled and _first(command) == "coproc":
            inner = [name_of(word.plain) for word in command.spelled[1 : _MOST_WORDS + 1]]
            others = [shell for shell in shells if not _is_within(shell, command)]
            if not TALKERS.isdisjoint(inner) and others:
                return " ".join(inner)
            if not SHELLS.isdisjoint(inner[:3]) and talkers:
                return " ".join(inner)
        elif _name(command) == "exec" and shells:
            streams = [
                n for redirect in command.redirects if redirect.target.is_stream for n in redirect.target.commands
            ]
            if any(n < len(commands) and _name(commands[n]) in TALKERS for n in streams):
                return "exec"
    sinks = {path for command in talkers for path in _files(command, writes=True)}
    if sinks and any(not sinks.isdisjoint(_sources(shell, commands)) for shell in shells):
        return next(iter(sinks))
    return ""


def _is_within(shell: Command, around: Command) -> bool:
    """Whether a shell is the coprocess itself."""
    words = shell.words or shell.spelled
    return words == around.spelled[1 : 1 + len(words)]


def _first(command: Command) -> str:
    return name_of(command.spelled[0].plain)


def _name(command: Command) -> str:
    """What runs by itself; a wrapper's words are those of another command."""
    if command.role is not Role.PROGRAM or not command.words or not command.words[0].is_known:
        return ""
    name = name_of(command.words[0].plain)
    if command.words[1:2] and command.words[1].plain == "{":
        inner = [name_of(word.plain) for word in command.words[1:4]]
    else:
        inner = []
    return next((each for each in inner if each in TALKERS), name)


def _files(command: Command, *, writes: bool) -> Iterator[str]:
    for redirect in command.redirects:
        if redirect.writes is writes and redirect.target.is_known and not redirect.target.is_stream:
            yield redirect.target.plain


def _sources(command: Command, commands: tuple[Command, ...]) -> set[str]:
    """The files that reach a command's standard input, by the redirects of groups around it as well."""
    found, left, steps = set(_files(command, writes=False)), list(command.inputs), 0
    while left and steps < _MOST_STEPS:
        steps += 1
        at = left.pop()
        if at < len(commands):
            found.update(_files(commands[at], writes=False))
            if commands[at].role is not Role.PROGRAM:
                left += commands[at].inputs
    return found
