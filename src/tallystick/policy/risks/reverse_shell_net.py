"""Shells that are opened to elsewhere: a shell whose input and output are a connection, in a command or in code.

Owns recognizing them by what is joined with what. A shell that runs what a host sends is `remote`'s as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.network import NETCATS, program_given
from tallystick.intent.shell import Environment, read_script
from tallystick.intent.shell.targets import path_of, socket_of
from tallystick.model.script import Command, Role, Script, Word
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import inner_texts, name_of
from tallystick.policy.risks.reverse_shell_code import joins_a_shell
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
_MOST_STEPS = 200
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
    if any(is_open_shell(commands[n]) for n in _before(command, commands)):
        yield Risk("reverse-shell", name)
    if name not in NETCATS and name != "socat":
        return
    given = program_given(command)
    if given is None:
        return
    words = given.plain.split()
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
            name = ""
            if rest.split():
                name = name_of(rest.split()[0])
            is_shell = name in SHELLS or name.rstrip("0123456789.") in _INTERPRETERS
            yield Risk("reverse-shell" if is_shell else "network-program", f"websocat {word.plain}"[:200])


def _before(command: Command, commands: tuple[Command, ...]) -> Iterator[int]:
    """The commands whose output reaches a command, also through others."""
    left, seen = list(command.inputs), set[int]()
    while left and len(seen) < _MOST_STEPS:
        at = left.pop()
        if at not in seen and at < len(commands):
            seen.add(at)
            yield at
            left += commands[at].inputs


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
