"""Programs that act on processes, services, accounts, devices and the kernel.

Owns which of them stop a process, which make something run later, and which need or give rights over the machine. Where
the effect is not a file, the intent is an elevation whose target is the program's name. Sources: the manual pages of
procps, util-linux, systemd, cron, shadow, iptables, e2fsprogs; launchctl(1), networksetup(8) and similar on macOS.
"""

from __future__ import annotations

import re

from tallystick.catalog.programs import names_of
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import MOST_WORDS, Line, at_home, grammar, is_fed, renamed, taken
from tallystick.intent.programs.rules import NOTHING, Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

# Processes --------------------------------------------------------------------------------------------------------------

_KILL = grammar_of("kill")
_SIGNAL = pattern_of(r"-(?:\d+|(?:SIG)?[A-Z][A-Z0-9]+)")


def _kill(command: Command) -> Actions:
    """`kill PID`, `pkill PATTERN`, `killall NAME`; `-9` and `-TERM` are signals."""
    given = command.arguments[:MOST_WORDS]
    signals = [word for word in given[:2] if _SIGNAL.fullmatch(word.text)][:1]
    line = taken([word for word in given if word not in signals], _KILL)
    built = Builder()
    asks = any(word.text == "-0" for word in given) or line.has("-l", "-L", "--list", "--table")
    if not asks:
        for word in line.operands:
            built.add(Operation.SIGNAL, word)
    return built.build()


@RULES.of("fuser")
def _fuser(built: Builder, line: Line, command: Command) -> None:
    """`fuser -k`: anyone who holds a file or port open is stopped."""
    if line.has("-k", "--kill"):
        for word in line.operands:
            built.add(Operation.SIGNAL, word)


# Services and schedules -------------------------------------------------------------------------------------------------

_STOPS = names_of("systemctl", "stops")
_SCHEDULES = names_of("systemctl", "schedules")
_POWER = names_of("systemctl", "power")


@RULES.of("systemctl")
def _systemctl(built: Builder, line: Line, command: Command) -> None:
    """`systemctl VERB UNIT…`: starting and enabling lets something run, stopping signals it."""
    verb, units = line.operand(0), line.operands[1:]
    if verb in _POWER:
        built.add(Operation.ELEVATE, renamed(command.words[0], "systemctl"), words=(command.words[0], line.operands[0]))
    for word in units:
        if verb in _STOPS:
            built.add(Operation.SIGNAL, word)
        if verb in _SCHEDULES or verb in ("restart", "try-restart", "reload-or-restart"):
            built.add(Operation.SCHEDULE, word)


def _service(command: Command) -> Actions:
    """`service NAME start`, `rc-service`, `initctl`, `brew services`."""
    words = [word for word in command.arguments if word.text[:1] != "-"]
    built = Builder()
    verb = ""
    if len(words) > 1:
        verb = words[1].text
    if verb in ("start", "restart", "reload"):
        built.add(Operation.SCHEDULE, words[0])
    if verb in ("stop", "restart", "reload"):
        built.add(Operation.SIGNAL, words[0])
    return built.build()


@RULES.of("crontab")
def _crontab(built: Builder, line: Line, command: Command) -> None:
    """`crontab FILE`, `crontab -`: the whole table is replaced; `-e` and `-r` change it."""
    table = Word(f"crontab {line.said('-u')}".rstrip())
    if line.has("-l"):
        return
    sources = [built.read(word) for word in line.operands]
    is_input = built.reads_input or (not line.operands and is_fed(command) and not line.has("-e", "-r"))
    at = built.add(Operation.SCHEDULE, table, words=command.words[:1])
    built.flow(sources, [at])
    if is_input:
        built.feed(at)
    built.reads_input = is_input


@RULES.of("at")
def _at(built: Builder, line: Line, command: Command) -> None:
    """`at TIME`, `batch`: the text of `-f` or of the input runs later."""
    if command.program in ("atq", "atrm") or line.has("-l", "-d", "-r", "-c", "-V"):
        return
    for word in line.values("-f"):
        built.run(word)
    if command.input is not None and not line.has("-f"):
        built.codes.append(Code("sh", command.input))
    elif not line.has("-f"):
        built.is_unknown = is_fed(command)
    built.add(
        Operation.SCHEDULE,
        Word(" ".join([command.program, *(word.text for word in line.operands)])),
        words=command.words,
    )


@RULES.of("launchctl", grammar("-S -D"))
def _launchctl(built: Builder, line: Line, command: Command) -> None:
    """`launchctl load FILE`, `bootstrap DOMAIN FILE`, `kickstart SERVICE`."""
    verb, rest = line.operand(0), line.operands[1:]
    operation = None
    if verb in (
        "load",
        "bootstrap",
        "enable",
        "kickstart",
        "start",
        "submit",
        "unload",
        "bootout",
        "disable",
        "remove",
    ):
        operation = Operation.SCHEDULE
    elif verb in ("stop", "kill"):
        operation = Operation.SIGNAL
    if operation is not None:
        for word in rest[-1:]:
            if "/" in word.text and word.text.endswith(".plist"):
                built.read(word)
            built.add(operation, word)


@RULES.of(
    "systemd-run",
    grammar("-u -p -E -M -H --unit --property --on-calendar --on-active --description --uid --gid", stops=True),
)
def _systemd_run(built: Builder, line: Line, command: Command) -> None:
    """`systemd-run`, `nohup`-like starters whose program is in their words."""
    for word in line.operands[:1]:
        built.add(Operation.SCHEDULE, word)
    built.is_unknown = bool(line.operands)


# The machine ------------------------------------------------------------------------------------------------------------


def _privileged(command: Command) -> Actions:
    """Programs that change the machine as a whole: firewall, kernel, accounts."""
    words = command.arguments
    if (not words and command.program not in _ALONE) or (words and words[0].text in _ASKS):
        return NOTHING
    built = Builder()
    built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:8])
    return built.build()


_ALONE = names_of("iptables", "alone")
_ASKS = names_of("iptables", "asks")


@RULES.of("sysctl", grammar("-r --pattern"))
def _sysctl(built: Builder, line: Line, command: Command) -> None:
    """`sysctl -w NAME=VALUE`, `-p FILE`; a name alone is asked for."""
    if (
        line.has("-p", "--load", "--system")
        or line.has("-w", "--write")
        or any("=" in word.text for word in line.operands)
    ):
        if line.has("-p", "--load"):
            for word in line.operands:
                built.read(word)
        built.add(Operation.ELEVATE, Word("sysctl"), words=command.words)


@RULES.of("mount")
def _mount(built: Builder, line: Line, command: Command) -> None:
    """`mount DEVICE FOLDER`, `umount`: what is below the folder becomes something else."""
    if not line.operands and not line.has("-a", "--all"):
        return
    built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:1])
    if command.program == "mount" and len(line.operands) > 1:
        built.add(Operation.READ, line.operands[0], deep=True)
    for word in line.operands[-1:]:
        built.add(Operation.METADATA, word)


@RULES.of("formats", grammar("-t -L -U -b -N -m -O -E -I -F? -s -n -d -a -u"))
def _formats(built: Builder, line: Line, command: Command) -> None:
    """`mkfs`, `fdisk`, `parted`: a device is written."""
    is_list = line.has("-l", "--list", "-p", "--print", "--dump") or "print" in [
        word.text for word in line.operands[1:]
    ]
    if command.program == "wipefs":
        is_list = not line.has("-a", "--all", "-o", "--offset")
    devices = [
        word for word in line.operands if word.text.startswith(("/", "\0")) or "/" in word.text or "." in word.text
    ]
    for word in devices[:1]:
        operation = Operation.WRITE
        if is_list:
            operation = Operation.LIST
        built.add(operation, word)
    if not is_list:
        built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:1])


def _loginctl(command: Command) -> Actions:
    """`hostnamectl`, `timedatectl`, `loginctl`, `defaults`: verbs that begin with `set` or write change the machine."""
    words = [word.text for word in command.arguments if word.text[:1] != "-"]
    verb = ""
    if words:
        verb = words[0]
    if not re.match(r"set|write|delete|hostname\b|terminate|kill|enable|disable|import", verb):
        return NOTHING
    return _privileged(command)


def _defaults(command: Command) -> Actions:
    """`defaults write DOMAIN KEY VALUE`: a list of settings below the home folder, or a file."""
    words = [word for word in command.arguments if word.text[:1] != "-"]
    built = Builder()
    if len(words) > 1 and words[0].text in ("write", "delete", "import", "rename", "read", "export"):
        is_read = words[0].text in ("read", "export")
        if "/" in words[1].text:
            path = words[1]
        else:
            path = at_home(f"Library/Preferences/{words[1].text}.plist")
        if is_read:
            built.show(built.add(Operation.READ, path, words=tuple(words)))
        else:
            built.author(Operation.EDIT, path, words=tuple(words))
    return built.build()


RULES |= {
    "kill": _kill,
    "service": _service,
    "privileged": _privileged,
    "loginctl": _loginctl,
    "defaults": _defaults,
}
