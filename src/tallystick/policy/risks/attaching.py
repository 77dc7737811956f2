"""Programs that take hold of other processes: debuggers, tracers, dumpers of memory.

Owns by which words they name a process that runs already. To start a program under a debugger, or to look into one that
the same command has started, is work. Sources: the manuals of gdb, lldb, strace, ltrace, perf, Delve, Frida, py-spy, the JDK;
ptrace(2); Sysinternals' reference of ProcDump.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import names_of
from tallystick.model.pattern import Near, pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "attaches": "It takes hold of a process that it did not start: its memory can be read and changed.",
}
_OWN = pattern_of(r"%\d?|.{0,40}\bjobs\s{1,4}-p\b.{0,40}")
_NUMBER = pattern_of(r"\d{1,8}")
_ATTACH = pattern_of(r"\s*(?:process\s+)?attach\b(?!\s+(?:--help|-h))", re.IGNORECASE)
_CODE = Near(
    "ptrace process_vm_ frida.attach openprocess writeprocessmemory readprocessmemory createremotethread minidump "
    "task_for_pid",
    r"\bptrace\s{0,4}\(|\bPTRACE_(?:ATTACH|SEIZE|POKE\w+)\b|process_vm_(?:read|write)v|\bfrida\.attach\b|\bOpenProcess\s{0,4}\("
    r"|WriteProcessMemory|ReadProcessMemory|CreateRemoteThread|MiniDumpWriteDump|task_for_pid",
)


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        if _FORMS.of(started) is not None and not (_is_untold(started) and _starts_one(reading)):
            yield Risk("attaches", started.spelled)
    for snippet in reading.snippets:
        if _CODE.search(snippet.text):
            yield Risk("attaches", f"{snippet.language}: {snippet.text[:150]}")


def _is_untold(started: Started) -> bool:
    """Whether the process is in a variable whose value no text tells."""
    return any(not word.plain and not word.is_known and not word.hidden for word in started.given)


def _starts_one(reading: CallReading) -> bool:
    """Whether the text asks for the id of the process that it has started itself."""
    return any("$!" in text or "${!}" in text for text in reading.texts)


def _before_the_program(started: Started) -> Started:
    """The words of a tracer itself, without those of the program that it starts."""
    for n, word in enumerate(started.words):
        if word in ("--", "--args"):
            return Started(started.name, started.given[:n], started.spelled)
    return started


def _process(started: Started, *options: str) -> bool:
    """Whether an option names a process, other than a job of the same shell."""
    for n, word in enumerate(started.words):
        value = _after(word, options)
        if value is None:
            continue
        given = started.given[n] if value else next(iter(started.given[n + 1 : n + 2]), None)
        if given is not None and not _OWN.fullmatch(given.hidden or given.plain):
            return True
    return False


def _after(word: str, options: tuple[str, ...]) -> str | None:
    """What follows an option in its own word, empty where nothing does; None: it is another word."""
    for option in options:
        if word == option:
            return ""
        if option[:2] == "--":
            if word.startswith(f"{option}="):
                return word[len(option) + 1 :]
        elif len(option) == 2 and re.fullmatch(rf"-[A-Za-z]{{0,8}}{option[1]}\d{{0,8}}", word):
            return word.partition(option[1])[2]
    return None


def _debugger(started: Started, *options: str) -> bool:
    """By an option, by a second operand that is a number, or by a command of the debugger."""
    own = _before_the_program(started)
    if _process(own, *options):
        return True
    if any(_ATTACH.match(word) and word.strip() != "attach" for word in own.words):
        return True
    operands = own.operands
    is_number = len(operands) > 1 and _NUMBER.fullmatch(operands[1]) is not None
    return (own is started and is_number) or (operands[:1] == ("attach",) and len(operands) > 1)


def _tracer(started: Started, *options: str) -> bool:
    """By an option that stands before the program that is started."""
    words = started.words
    end = len(words)
    for n, word in enumerate(words):
        is_value = n > 0 and words[n - 1][:1] == "-" and words[n - 1] not in _FLAGS
        if word[:1] != "-" and not is_value:
            end = n
            break
    return _process(Started(started.name, started.given[:end], started.spelled), *options)


_FLAGS = names_of("strace", "flags")


def _numbered(started: Started) -> bool:
    """It does nothing else; the process is an operand."""
    return any(not word.is_known or word.plain[:1] != "-" for word in started.given) and not _is_own(started)


def _is_own(started: Started) -> bool:
    last = started.given[-1]
    return _OWN.fullmatch(last.hidden or last.plain) is not None


_FORMS = Forms("attaching", _debugger, _numbered, _process, _tracer)
