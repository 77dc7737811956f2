"""Shells that are opened to elsewhere: a shell whose input and output are a connection, in a command or in code.

Owns recognizing them by what is joined with what in a text of the shell: programs in a pipe, a coprocess, `exec`, a named
pipe; `received_code` knows code. A shell that runs what a host sends is `remote`'s as well. Source: bash(1), "Coprocesses"
and "REDIRECTION"; ksh(1).
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import split_words
from tallystick.intent.programs.network import NETCATS, program_given
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tallystick.intent.shell.targets import path_of, socket_of
from tallystick.model.script import Command, Role, Script, Word
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.programs import inner_texts, name_of, reaching
from tallystick.policy.risks.received_code import joins_a_shell
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "reverse-shell": "A shell is joined with a connection, so that somebody elsewhere can give it commands.",
    "network-program": "A program other than a shell is joined with a connection.",
}
SHELLS = programs_with("shell")
_INTERPRETERS = programs_with("interactive-interpreter")
TALKERS = programs_with("joins-connection")
_READS = programs_with("reads-connection")
_HINTS = ("/dev/tcp", "/dev/udp", "nc", "socat", "telnet", "openssl")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for script in reading.scripts:
        yield from _of_script(script)
    for text in inner_texts(reading):
        if any(hint in text for hint in _HINTS):
            yield from _of_script(read_script(text, Environment(variables={"HOME": reading.home})))
    for snippet in reading.snippets:
        if joins_a_shell(snippet.language, snippet.text):
            yield Risk("reverse-shell", f"{snippet.language} code")


def _of_script(script: Script) -> Iterator[Risk]:
    commands = script.commands
    sockets = [target for command in commands for target in _sockets(command)]
    sockets += ["ztcp" for command in commands if _name(command) == "ztcp"]
    if sockets and any(is_open_shell(command) or _is_received(command, commands) for command in commands):
        yield Risk("reverse-shell", sockets[0])
    for command in commands:
        name = _name(command)
        if name in TALKERS:
            yield from _talks(command, name, commands)
        elif name == "xterm" and _display(command):
            yield Risk("reverse-shell", _display(command))
        elif name == "websocat":
            yield from _over_websocket(command)
        elif name == "msfvenom":
            yield Risk("reverse-shell", "msfvenom")


def _talks(command: Command, name: str, commands: tuple[Command, ...]) -> Iterator[Risk]:
    """A program that talks to a host: what it is joined with."""
    if any(map(is_open_shell, reaching(command.inputs, commands))):
        yield Risk("reverse-shell", name)
    if name not in NETCATS and name != "socat":
        return
    given = program_given(command)
    if given is None:
        return
    words = split_words(given.plain)
    first = ""
    if words:
        first = name_of(words[0])
    if not given.is_known or first in SHELLS or first.rstrip("0123456789.") in _INTERPRETERS:
        yield Risk("reverse-shell", f"{name} … {given.plain}"[:200])
    elif name == "socat" or len(words) > 1 or "/" in given.plain:
        yield Risk("network-program", f"{name} … {given.plain}"[:200])


def _over_websocket(command: Command) -> Iterator[Risk]:
    """`websocat URL exec:sh`."""
    for word in _words(command)[1:]:
        kind, _, rest = word.plain.partition(":")
        if kind in ("exec", "sh-c", "cmd"):
            name = name_of(next(iter(split_words(rest)), ""))
            is_shell = name in SHELLS or name.rstrip("0123456789.") in _INTERPRETERS
            yield Risk("reverse-shell" if is_shell else "network-program", f"websocat {word.plain}"[:200])


def _sockets(command: Command) -> Iterator[str]:
    """The hosts that a command's redirects connect to."""
    for redirect in command.redirects:
        host = socket_of(path_of(redirect.target, None).text)
        if host is not None:
            yield host


def _words(command: Command) -> tuple[Word, ...]:
    return command.words or command.spelled


def _name(command: Command) -> str:
    words = _words(command)
    if words and words[0].is_known:
        return name_of(words[0].plain)
    return ""


def is_open_shell(command: Command) -> bool:
    """Whether it is a shell that takes its commands from its input."""
    if _name(command) not in SHELLS or command.role is Role.CALL:
        return False
    for word in _words(command)[1:]:
        text = word.plain
        if text[:1] not in ("-", "+") and text not in ("/dev/stdin", "/dev/fd/0", ""):
            return False
        if text[:1] == "-" and text[1:2] != "-" and "c" in text:
            return False
        if text in ("--version", "--help"):
            return False
    return True


def _is_received(command: Command, commands: tuple[Command, ...]) -> bool:
    """Whether a command, or a text that is run, is what was read."""
    if command.role is Role.PROGRAM and command.words and not command.words[0].is_known:
        words: tuple[Word, ...] = command.words[:1]
    elif command.role is Role.UNTOLD and command.reason == "eval":
        words = command.spelled
    else:
        return False
    makers = [commands[n] for word in words for n in word.commands if n < len(commands)]
    return any(_name(maker) in _READS for maker in makers)


def _display(command: Command) -> str:
    """The host of another machine whose screen a terminal is opened on."""
    words = [word.plain for word in _words(command)]
    value = next((words[n + 1] for n, word in enumerate(words[:-1]) if word in ("-display", "--display")), "")
    host = value.rpartition(":")[0]
    if host and host not in ("localhost", "unix", "127.0.0.1"):
        return value
    return ""


_MOST_WORDS = 8
_MOST_BETWEEN = 100


def descriptor_risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for script in reading.scripts:
        target = _joined(script)
        if target:
            yield Risk("reverse-shell", target[:200])


def _joined(script: Script) -> str:
    """What a shell of a text is joined with; empty if with nothing."""
    commands = script.commands
    talkers = [command for command in commands if _own_name(command) in TALKERS]
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
        elif _own_name(command) == "exec" and shells:
            streams = [
                n for redirect in command.redirects if redirect.target.is_stream for n in redirect.target.commands
            ]
            if any(n < len(commands) and _own_name(commands[n]) in TALKERS for n in streams):
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


def _own_name(command: Command) -> str:
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
    while left and steps < _MOST_BETWEEN:
        steps += 1
        at = left.pop()
        if at < len(commands):
            found.update(_files(commands[at], writes=False))
            if commands[at].role is not Role.PROGRAM:
                left += commands[at].inputs
    return found
