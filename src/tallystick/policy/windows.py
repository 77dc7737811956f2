r"""Texts for the shells of Windows that were given to a tool for other shells → the same, to be read in their own language.

Owns how such a text is known: it starts a cmdlet, or `del /s`, or it hands a text to `cmd` or PowerShell. Another shell takes
the backslashes of `C:\Users` off, so the text is taken as it was written. Must not know what the text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.effects import Reading
from tallystick.model.script import Command

_MOST_TEXT = 48 << 10
_MOST_TEXTS = 20
_CMDLET = re.compile(r"[A-Z][a-z]{1,14}-[A-Z][A-Za-z]{2,40}")
_ALIASES = programs_with("cmdlet")
_OF_CMD = programs_with("command-of-cmd")
_SWITCH = re.compile(r"/[a-z]{1,2}(?:/[a-z]{1,2}){0,4}", re.IGNORECASE)
_SHELLS = frozenset(("cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "pwsh.exe"))
_HANDS_OVER = re.compile(
    r"\b(?P<shell>cmd|powershell|pwsh)(?:\.exe)?[\"']?(?P<options>(?:\s{1,4}[-/][\w:-]{1,40}(?:\s{1,4}(?:bypass|hidden|unrestricted"
    r"|remotesigned|sta|mta|text|[\d.]{1,4}))?){0,8})\s{1,4}(?=[^\s/-])",
    re.IGNORECASE,
)
_TAKES_TEXT = re.compile(r"\s(?:/c|/k|-c|-co[a-z]{0,5})\Z", re.IGNORECASE)
_TAKES_FILE = re.compile(r"\s-(?:f|fi[a-z]{0,2}|e|ec|en[a-z]{0,12})\Z", re.IGNORECASE)


def windows_texts(commands: Sequence[str], readings: Iterable[Reading]) -> Iterator[tuple[str, ...]]:
    """Programs with arguments, each of which runs a text as it was written.

    Args:
        commands: the texts that a tool for a shell was given.
        readings: what was read of them so far.
    """
    if not commands:
        return
    found = _programs(readings)
    if not found:
        return
    for text in commands[:_MOST_TEXTS]:
        text = text[:_MOST_TEXT]
        if "pwsh" in found:
            yield ("pwsh", "-Command", text)
        if "cmd" in found:
            yield ("cmd", "/c", text)
        if "shell" in found:
            yield from _handed_over(text)


def _programs(readings: Iterable[Reading]) -> set[str]:
    """What kind of programs a text starts."""
    return {kind for reading in readings for done in reading.done if (kind := _kind(done.command))}


def _kind(command: Command) -> str:
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
    if low in _SHELLS:
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
