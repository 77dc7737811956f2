"""What multiplies without end, or fills a disk.

Owns fork bombs of the shell, told by its loops and cycles, and endless data that goes into a file; `forking` looks at code in
other languages. Recursion that may come to an end, and loops that wait for something, are work.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.intent.shell.names import canonical
from tallystick.model.script import Command, Loop, Role, Script
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.forking import fills, multiplies
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS = {
    "fork-bomb": "It starts itself or other programs again and again, without end and without waiting.",
    "may-fork-bomb": "It starts itself again and nothing shows that this comes to an end, or very many processes at once.",
    "fills-disk": "Endless data goes into a file.",
    "fills-memory": "A program keeps endless data in memory, or does nothing but use the machine up.",
}
_QUICK = programs_with("not-awaited")
"""Commands that a loop does not wait for."""
_FAST = programs_with("done-at-once")
"""Commands that are done at once."""
_MANY_BEHIND, _TOO_MANY_BEHIND = 5_000, 100_000
"""Processes that a loop with an end leaves running: more than a load test starts, more than a machine has."""
_MOST_ENDLESS = 16
_ENDLESS = names("/dev/zero /dev/urandom /dev/random /dev/full")
_UNENDING = _ENDLESS - {"/dev/full"}
_PASSING = programs_with("passes-endless")
"""Programs that put out endlessly what they read endlessly."""
_BOUNDING = programs_with("bounds")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What multiplies or fills, of RISKS."""
    for script in reading.scripts:
        for cycle in script.cycles:
            if cycle.is_sure or not cycle.is_given:
                yield Risk("fork-bomb" if cycle.is_sure else "may-fork-bomb", cycle.name)
        for loop in script.loops:
            yield from _of_loop(loop)
        yield from _filling(script)
        yield from _keeping(script)
        if any(map(_fans_out, script.commands)) and any(map(_is_endless, script.commands)):
            yield Risk("fork-bomb", "xargs: as many processes at once as endless data gives")
    for snippet in reading.snippets:
        if multiplies(snippet.language, snippet.text):
            yield Risk("fork-bomb", f"{snippet.language}: {snippet.text[:150]}")
        elif fills(snippet.language, snippet.text):
            yield Risk("fills-disk", f"{snippet.language}: {snippet.text[:150]}")


def _of_loop(loop: Loop) -> Iterator[Risk]:
    rounds = loop.rounds or 0
    if loop.behind and _QUICK.issuperset(loop.waits) and (loop.is_endless or rounds >= _MANY_BEHIND):
        is_sure = loop.is_endless or rounds >= _TOO_MANY_BEHIND
        said = f"a loop that leaves running: {', '.join(loop.behind)}"[:200]
        yield Risk("fork-bomb" if is_sure else "may-fork-bomb", said)
    elif loop.is_endless and loop.appends and _FAST.issuperset(loop.waits):
        yield Risk("fills-disk", "a loop that writes without end")


_KEEPS = programs_with("keeps-input")
_USES_UP = programs_with("uses-machine-up")


def _keeping(script: Script) -> Iterator[Risk]:
    """`tail /dev/zero`: it waits for an end that never comes."""
    for command in script.commands:
        if command.role is not Role.PROGRAM or not command.words:
            continue
        name = _name(command)
        if name in _USES_UP and not any(word.plain in ("--help", "--version", "-V") for word in command.arguments):
            yield Risk("fills-memory", name)
        elif name in _KEEPS:
            given = {word.plain for word in command.arguments}
            given |= {redirect.target.plain for redirect in command.redirects if not redirect.writes}
            is_cut = any(word.plain[:2] in ("-c", "-n", "-m") for word in command.arguments)
            if given & _UNENDING and not (is_cut and name != "tail"):
                yield Risk("fills-memory", f"{name} {' '.join(sorted(given & _UNENDING))}")


# Endless data --------------------------------------------------------------------------------------------------------


def _filling(script: Script) -> Iterator[Risk]:
    """Where the output of an endless command ends in a file, with nothing on the way that bounds it."""
    endless = [n for n, command in enumerate(script.commands) if _is_endless(command)][:_MOST_ENDLESS]
    if not endless:
        return
    wrapped = {n for command in script.commands if _is_bounding(command) for n in command.inputs}
    readers: dict[int, list[int]] = {}
    for n, command in enumerate(script.commands):
        if not _is_bounding(command):
            for source in command.inputs:
                readers.setdefault(source, []).append(n)
    for n in endless:
        target = ""
        if n not in wrapped:
            target = _end_of(script.commands, readers, n)
        if target:
            yield Risk("fills-disk", target[:200])


def _is_endless(command: Command) -> bool:
    if command.role is not Role.PROGRAM or not command.words:
        return False
    name = _name(command)
    if name == "yes":
        return True
    given = [word.plain for word in command.arguments]
    reads = {redirect.target.plain for redirect in command.redirects if not redirect.writes}
    reads.update(word.removeprefix("if=") for word in given)
    if name not in _PASSING or not reads & _ENDLESS:
        return False
    return not any(
        word.startswith(("count=", "iflag=count_bytes", "-l", "-N", "--length", "--read-bytes")) for word in given
    )


def _fans_out(command: Command) -> bool:
    """`xargs -P 0`: no limit to how many run at once."""
    if command.role is not Role.WRAPPER or _name(command) not in ("xargs", "parallel"):
        return False
    words = [word.plain for word in command.spelled[1:]]
    return any(word in ("-P0", "--max-procs=0", "-j0") for word in words) or any(
        pair in (("-P", "0"), ("-j", "0"), ("--max-procs", "0")) for pair in pairwise(words)
    )


def _end_of(commands: tuple[Command, ...], readers: dict[int, list[int]], at: int) -> str:
    """The file that a command's output ends in; empty if in none."""
    seen: set[int] = set()
    left = [at]
    while left:
        n = left.pop()
        if n in seen:
            continue
        seen.add(n)
        command = commands[n]
        written = [each.target.plain for each in command.redirects if each.writes and each.descriptor in ("", "1")]
        written += _own_files(command)
        for path in written:
            if not path.startswith("/dev/") or path.startswith("/dev/shm/"):
                return path
        if not written:
            left += readers.get(n, [])
    return ""


def _own_files(command: Command) -> list[str]:
    name = _name(command)
    given = [word.plain for word in command.arguments]
    if name == "dd":
        return [word[3:] for word in given if word.startswith("of=")]
    if name in ("tee", "cp"):
        return [word for word in given if word[:1] != "-" and word not in _ENDLESS]
    return []


def _is_bounding(command: Command) -> bool:
    name = _name(command)
    if name == "dd":
        return any(word.plain.startswith("count=") for word in command.arguments)
    return name in _BOUNDING or (
        name in ("sed", "awk") and any("q" in word.plain or "exit" in word.plain for word in command.arguments)
    )


def _name(command: Command) -> str:
    words = command.words or command.spelled
    if words:
        return canonical(words[0].plain.rpartition("/")[2])
    return ""
