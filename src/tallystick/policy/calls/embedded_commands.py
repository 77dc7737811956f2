"""Commands in texts that are not a shell's alone → the same commands, as their reader takes them.

Owns four forms: a cell of a notebook with IPython's own syntax (`!command`, `%magic`); calls of tools in a script that
an agent writes (`await tools.exec_command({cmd: "ls"})`); what is typed into a program that runs already; and texts for
the shells of Windows that were given to a tool for other shells. Must not know what a command does. Sources: the
IPython documentation, "Built-in magic commands"; the description of `exec` that Codex gives to models; tmux(1),
send-keys; Copilot CLI's and gptme's descriptions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Reading
from tallystick.intent.programs import known_programs
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_argv_effects, read_effects
from tallystick.model.intent import Domain
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command
from tallystick.model.step import Json

_HAS_MAGIC = pattern_of(r"(?m)^[ \t]*(?:[\w.,\[\] ]{1,80}=[ \t]*)?[!%]")
_MAGIC_LINE = pattern_of(r"[ \t]*(?:[\w.,\[\] ]{1,80}=[ \t]*)?(!{1,2}|%)([^=\s].*)")
_SHELL_MAGICS = frozenset(("bash", "sh", "script bash", "script sh", "system", "sx", "!"))
_AS_COMMANDS = {
    **dict.fromkeys(("sx", "system", "sc"), ""),
    **dict.fromkeys(("pycat", "load", "loadpy"), "cat "),
    "run": "python ",
    **{
        name: f"{name} "
        for name in ("env", "cat", "less", "more", "ls", "cp", "mv", "rm", "pip", "cd", "mkdir", "rmdir")
    },
}
_MOST_LINES = 2000


def commands_in(cell: str) -> tuple[tuple[str, ...], str]:
    """The shell texts of a cell, in order, and its Python."""
    if not _HAS_MAGIC.search(cell):
        return (), cell
    first, _, rest = cell.lstrip().partition("\n")
    if first.startswith("%%"):
        name = first[2:].strip()
        if name.partition(" ")[0] in _SHELL_MAGICS or name in _SHELL_MAGICS:
            return (rest,), ""
        return (), rest
    commands: list[str] = []
    left: list[str] = []
    for line in cell.split("\n")[:_MOST_LINES]:
        command = _magic_command(line)
        if command is None:
            left.append(line)
        else:
            commands.append(command)
    return tuple(commands), "\n".join(left)


def _magic_command(line: str) -> str | None:
    """The shell command of one line; None: it is Python."""
    found = _MAGIC_LINE.fullmatch(line)
    if found is None:
        return None
    if found[1] != "%":
        return found[2]
    name, _, rest = found[2].lstrip("%").partition(" ")
    begin = _AS_COMMANDS.get(name)
    if begin is None:
        return None
    return f"{begin}{rest}".strip()


_MOST_SCRIPT = 256 << 10
_MOST_CALLS = 50
_MOST_MEMBERS = 50
_TOOL_CALL = pattern_of(r"\btools\s{0,4}\.\s{0,4}([A-Za-z_]\w{0,80})\s{0,4}\(\s{0,40}")
_LITERAL_FORM = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|`[^`\\]*+(?:\\.[^`\\]*+)*+`"
_LITERAL = pattern_of(_LITERAL_FORM, re.DOTALL)
_MEMBER = pattern_of(
    rf"(?:([A-Za-z_]\w{{0,60}})|[\"']([\w-]{{1,60}})[\"'])\s{{0,20}}:\s{{0,20}}({_LITERAL_FORM})|{_LITERAL_FORM}",
    re.DOTALL,
)
_ESCAPED = pattern_of(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


def calls_in(script: str) -> Iterator[tuple[str, Json]]:
    """The tools that a script calls, each with its arguments: a text, or the members that are texts."""
    found = [match for match, _ in zip(_TOOL_CALL.finditer(script[:_MOST_SCRIPT]), range(_MOST_CALLS), strict=False)]
    ends = [*(following.start() for _, following in pairwise(found)), _MOST_SCRIPT]
    for call, end in zip(found, ends, strict=False):
        rest = script[call.end() : end]
        yield call[1], _first_argument(rest)


def _first_argument(rest: str) -> Json:
    """What a call is given, by the text after its parenthesis."""
    text = _LITERAL.match(rest)
    if text is not None:
        return _plain(text[0])
    if rest[:1] == "{":
        return _members(rest)
    return None


def _members(text: str) -> Json:
    found: dict[str, Json] = {}
    for member, _ in zip(_MEMBER.finditer(text), range(_MOST_MEMBERS), strict=False):
        if member[3] is not None:
            found.setdefault(member[1] or member[2], _plain(member[3]))
    return found


def _plain(literal: str) -> str:
    """The text that a literal stands for."""
    if literal[0] == '"':
        try:
            return str(json.loads(literal, strict=False))
        except ValueError:
            pass
    return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), literal[1:-1])


_MOST_TEXTS = 20
_MOST_PYTHON = 64 << 10
_KEYS = pattern_of(r"\{(?:enter|return|tab|esc(?:ape)?|ctrl[-+][a-z]|up|down)\}", re.IGNORECASE)
_CONTROLS = pattern_of(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BEGINS_ANEW = pattern_of(r"[\x03\x04\x0b\x15\x17\x1a\x1b\x1c]")
"""Keys that end a line or throw away what stands before them: Ctrl-C, -D, -K, -U, -W, -Z, escape, Ctrl-\\."""
_SEQUENCES = pattern_of(r"\x1b(?:\[[\d;?]{0,20}[@-~]|O[A-Z])")
"""What terminals send for one key, and around a text that is pasted."""
_TAKEN_BACK = pattern_of(r"[^\n\x08\x7f][\x08\x7f]")
_MOST_TAKEN_BACK = 64
_MOST_LINES = 50
_TMUX = pattern_of(r"[ \t]*(send|new)[_-](keys|session)\b[ \t]*")
_TO_TMUX = {"send": "tmux send-keys -t ", "new": "tmux new-session "}


def read_typed(texts: Iterable[str], environment: Environment) -> Iterator[tuple[str, Reading]]:
    """The texts that read as commands, each with its reading."""
    for n, text in enumerate(texts):
        if n >= _MOST_TEXTS:
            return
        line = _typed_line(text)
        yield from _read_lines(line, environment)
        without = _typed_line(_BEGINS_ANEW.sub("", _SEQUENCES.sub("", text)))
        if without.strip() != line.strip():  # a program that does not know such a key goes on as if it were not there
            yield from _read_lines(without, environment)


def _read_lines(text: str, environment: Environment) -> Iterator[tuple[str, Reading]]:
    """A text as a whole; where that is nothing, its lines."""
    whole = _read_typed(text, environment)
    if whole is not None:
        yield text, whole
        return
    for line in text.split("\n")[:_MOST_LINES] if "\n" in text.strip() else ():  # a line with an error stops no other
        reading = _read_typed(line, environment)
        if reading is not None:
            yield line, reading


def _read_typed(text: str, environment: Environment) -> Reading | None:
    """A text as a shell reads it, or Python; None if neither could make something of it."""
    if not text.strip():
        return None
    shell = read_effects(text, environment)
    if _is_shell(shell, known_programs()):
        return shell
    if "(" in text and len(text) <= _MOST_PYTHON:
        python = read_argv_effects(("python", "-c", text), environment)
        if not any(one.domain is Domain.UNKNOWN for one in python.effects.intents):
            return python
    return None


def _typed_line(text: str) -> str:
    """A text without the keys that are not letters. gptme's `tmux` says what to do first, then the window."""
    text = _BEGINS_ANEW.sub("\n", _SEQUENCES.sub("", _KEYS.sub("\n", text)).replace("\r", "\n"))
    for _ in range(_MOST_TAKEN_BACK):
        text, count = _TAKEN_BACK.subn("", text)
        if not count:
            break
    text = _CONTROLS.sub("", text)
    found = _TMUX.match(text)
    if found is None:
        return text
    return _TO_TMUX[found[1]] + text[found.end() :]


def _is_shell(reading: Reading, known: frozenset[str]) -> bool:
    """Whether a shell could make something of it: it is read to its end, and a line of it runs a program that is known."""
    if "syntax" in reading.effects.opaque or not reading.scripts or not reading.scripts[0].commands:
        return False
    commands = reading.scripts[0].commands
    return not commands[0].words or any(command.program in known for command in commands[:_MOST_LINES])


_MOST_WINDOWS_TEXT = 48 << 10
_CMDLET = pattern_of(r"[A-Z][a-z]{1,14}-[A-Z][A-Za-z]{2,40}")
_ALIASES = programs_with("cmdlet")
_OF_CMD = programs_with("command-of-cmd")
_SWITCH = pattern_of(r"/[a-z]{1,2}(?:/[a-z]{1,2}){0,4}", re.IGNORECASE)
_SHELLS_OF_WINDOWS = frozenset(f"{name}{end}" for name in programs_with("shell-of-windows") for end in ("", ".exe"))
_HANDS_OVER = pattern_of(
    r"\b(?P<shell>cmd|powershell|pwsh)(?:\.exe)?[\"']?(?P<options>(?:\s{1,4}[-/][\w:-]{1,40}(?:\s{1,4}(?:bypass|hidden|unrestricted"
    r"|remotesigned|sta|mta|text|[\d.]{1,4}))?){0,8})\s{1,4}(?=[^\s/-])",
    re.IGNORECASE,
)
_TAKES_TEXT = pattern_of(r"\s(?:/c|/k|-c|-co[a-z]{0,5})\Z", re.IGNORECASE)
_TAKES_FILE = pattern_of(r"\s-(?:f|fi[a-z]{0,2}|e|ec|en[a-z]{0,12})\Z", re.IGNORECASE)


def windows_texts(commands: Sequence[str], readings: Iterable[Reading]) -> Iterator[tuple[str, ...]]:
    """Programs with arguments, each of which runs a text as it was written.

    Args:
        commands: the texts that a tool for a shell was given.
        readings: what was read of them so far.
    """
    if not commands:
        return
    found = _kinds_of_windows(readings)
    if not found:
        return
    for text in commands[:_MOST_TEXTS]:
        text = text[:_MOST_WINDOWS_TEXT]
        if "pwsh" in found:
            yield ("pwsh", "-Command", text)
        if "cmd" in found:
            yield ("cmd", "/c", text)
        if "shell" in found:
            yield from _handed_over(text)


def _kinds_of_windows(readings: Iterable[Reading]) -> set[str]:
    """What kind of programs a text starts."""
    return {kind for reading in readings for done in reading.done if (kind := _kind_of_windows(done.command))}


def _kind_of_windows(command: Command) -> str:
    name = ""
    if command.words:
        name = command.words[0].plain.rpartition("/")[2]
    if "-" in name:
        if _CMDLET.fullmatch(name) or name.lower() in _ALIASES:
            return "pwsh"
        return ""
    low = name.lower()
    if low in _OF_CMD:
        if any(_SWITCH.fullmatch(word.plain) for word in command.words[1:4]):
            return "cmd"
        return ""
    if low in _ALIASES:
        return "pwsh"
    if low in _SHELLS_OF_WINDOWS:
        return "shell"
    return ""


def _handed_over(text: str) -> Iterator[tuple[str, ...]]:
    for n, found in enumerate(_HANDS_OVER.finditer(text)):
        options = found["options"]
        is_cmd = found["shell"].lower() == "cmd"
        takes = _TAKES_TEXT.search(options) is not None
        if n >= _MOST_TEXTS or (is_cmd and not takes) or (not takes and _TAKES_FILE.search(options)):
            continue
        inner = _unquoted(text[found.end() :])
        if not takes and inner.partition(" ")[0].lower().endswith((".ps1", ".psm1")):
            continue
        if is_cmd:
            yield "cmd", "/c", inner
        else:
            yield "pwsh", "-Command", inner


def _unquoted(rest: str) -> str:
    """What is in the quotes that a text begins with; without quotes, its line."""
    quote = rest[:1]
    if quote not in ("'", '"'):
        return rest.partition("\n")[0]
    end = 1
    while end < len(rest) and rest[end] != quote:
        if rest[end] == "\\" and rest[end + 1 : end + 2] == quote == '"':
            end += 2
        else:
            end += 1
    inner = rest[1:end]
    if quote == '"':
        return inner.replace('\\"', '"')
    return inner
