"""Programs that nothing tells the name of, and that are given what lies outside of the workspace.

Owns which of them are worth a question: `$x -rf ~/Documents` may be anything, `$PYTHON -m pytest` is work. Grave things by
their kind are `untold`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.targets import path_of
from tallystick.model.script import HOLE, Command, Role, Word
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.disks import is_disk
from tallystick.policy.risks.programs import name_of, own_scripts
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "untold-program": "A program that is not told, or not known, is given something grave: a secret, a start file.",
}
_LOOKED_UP = re.compile(
    r"\b(?:which|whence|command\s+-[vV]|type\s+-[pP]|npm\s+bin|xcrun|brew\s+--prefix|pyenv|rbenv|asdf)\b"
)
_FORCES = re.compile(r"-[a-zA-Z]{0,6}[rRf][a-zA-Z]{0,6}|--(?:recursive|force|no-preserve-root)")
_OF_PROGRAMS = (
    "/usr/",
    "/opt/",
    "/lib/",
    "/lib64/",
    "/bin/",
    "/sbin/",
    "/nix/",
    "/snap/",
    "/Library/",
    "/Applications/",
    "/proc/",
    "/dev/",
)
_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/", "/var/folders/")
_MOST_WORDS = 100


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    if not reading.effects.opaque:
        return
    for script in own_scripts(reading):
        for command in script.commands:
            words = _words(command)
            target = None
            if words:
                target = _outside(words[1:_MOST_WORDS], command.folder, reading)
            if target is not None:
                yield Risk("untold-program", target[:200])
            if words and _is_fed_by_a_host(command, script.commands):
                yield Risk("untold-program", f"{words[0].plain or '?'} gets what a host sends")


_FETCHERS = programs_with("fetches")


def _is_fed_by_a_host(command: Command, commands: Sequence[Command]) -> bool:
    """`curl … | "$X"`."""
    makers = [commands[n] for n in command.inputs if n < len(commands)]
    names = {name_of(maker.words[0].plain) for maker in makers if maker.words and maker.words[0].is_known}
    return not names.isdisjoint(_FETCHERS)


def _words(command: Command) -> Sequence[Word]:
    """The words of a command whose program is unknown; none of another."""
    words: Sequence[Word] = command.words
    if command.role is Role.UNTOLD and command.reason == "eval":
        text = " ".join(word.text for word in command.spelled[1:])
        words = [Word(part) for part in text.split(" ")[:_MOST_WORDS] if part]
    elif command.role is not Role.PROGRAM:
        return ()
    if not words or words[0].text.strip(HOLE) or HOLE not in words[0].text:
        return ()
    first = words[0]
    is_seen = bool(first.hidden) and (not first.commands or _LOOKED_UP.search(first.hidden[:400]) is not None)
    if is_seen:
        return ()
    return words


def _outside(words: Sequence[Word], folder: str | None, reading: CallReading) -> str | None:
    """The first path outside of the workspace that a program may do anything with."""
    has_force = any(_FORCES.fullmatch(word.plain) for word in words)
    for word in words:
        plain = word.plain
        if plain[:1] in ("-", "") or ("/" not in plain and plain not in ("~", "..")):
            continue
        if is_disk(plain):
            return plain
        if plain.startswith("~"):
            path = reading.home + plain[1:]
        else:
            path = path_of(word, folder).text
        if not path.startswith("/") or "://" in plain or _is_inside(path, reading):
            continue
        is_of_home = _is_below(path, reading.home)
        if (
            is_of_home
            or (has_force and not path.startswith(_TEMPORARY))
            or not path.startswith((*_OF_PROGRAMS, *_TEMPORARY))
        ):
            return path
    return None


def _is_inside(path: str, reading: CallReading) -> bool:
    return any(_is_below(path, folder) for folder in (reading.workspace, reading.folder) if folder)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
