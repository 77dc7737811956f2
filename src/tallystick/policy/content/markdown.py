"""Markdown that agents read as orders → the code in it, and the files that it takes in.

Owns which parts of such a text are code: fences, lines that are set in, spans, lines and spans after `!`, the commands of the
front matter; and which of it the text forbids. Must not know what a code does. Sources: CommonMark 0.31.2
(4.4, 4.5, 6.1); Claude Code's pages on memory (imports), slash commands and skills.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from tallystick.catalog.languages import LANGUAGES
from tallystick.model.pattern import pattern_of

_MOST_CODES = 400
_MOST_CODE = 16 << 10
_MOST_IMPORTS = 20
_LANGUAGES = {word: language for language, words in LANGUAGES.fences.items() for word in words}
_FENCE = pattern_of(r"[ \t>]*(?:[-*+]|\d{1,3}[.)])?[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^`\n]*")
_SPAN = pattern_of(r"(?<!`)(`{1,2})(?!`)([^\n]{2,2000}?)(?<!`)\1(?!`)")
_RUN = pattern_of(r"[ \t]*!(?![\[`])[ \t]?(\S[^\n]*)")
_SET_IN = pattern_of(r"(?: {4}|\t)(\S[^\n]*)")
_COMMAND = pattern_of(r"[ \t-]*(?:command|run|script|bash)[ \t]*:[ \t]*(\S[^\n]*)")
_PROMPT = pattern_of(r"[ \t]*[$%#>][ \t]+(?=\S)")
_IMPORT = pattern_of(r"(?<![\w`.@/])@((?:~|\.{1,2})?/?[\w.-][\w./-]{0,300})")
_WARNS = pattern_of(
    r"\b(?:never|not|don't|dont|cannot|can't|mustn't|avoid|forbid\w*|forbidden|prohibit\w*|block\w*|den(?:y|ies|ied)|refuse\w*|dangerous|"
    r"destructive|unsafe|harmful|insecure|malicious|attack\w*|injection|exploit\w*|vulnerab\w*|bad|wrong|anti-?patterns?|reject\w*|detect\w*|"
    r"disallow\w*|illegal|examples? of)\b|\u274c|\U0001f6ab|\u26d4|\u26a0",
)
_FORGETS = pattern_of(r"\b(?:never|not|don't|dont)[ ](?:forget|fail|omit|skip|hesitate)")


class Code(NamedTuple):
    """A piece of code that a text tells its reader to run, or shows."""

    language: str
    text: str
    is_run: bool = False
    """It runs by itself when the text is read: `!`, and what front matter has as a command."""


def code_in(text: str) -> Iterator[Code]:
    """The code in a text, in order, as far as nothing around it says that it must not be run."""
    for count, code in enumerate(_codes(text.splitlines())):
        if count >= _MOST_CODES:
            return
        yield code


def _codes(lines: list[str]) -> Iterator[Code]:
    heading = before = ""
    at = 0
    if lines and lines[0].strip() == "---":
        at = next((n for n, line in enumerate(lines[1:200], 2) if line.strip() == "---"), 0)
        for line in lines[1:at]:
            if found := _COMMAND.match(line):
                yield Code("sh", found[1].strip().strip("\"'"), is_run=True)
    while at < len(lines):
        line = lines[at]
        at += 1
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            end = _end(lines, at, fence[1])
            language = _LANGUAGES.get(fence[2].lower())
            if language is not None and not _warns(heading, before):
                yield Code(language, _block(lines[at:end], language))
            at = end + 1
            continue
        if line.startswith("#"):
            heading, before = line, ""
        if not _warns(heading, line) and not (line[:1] in "-*| \t" and _warns(before)):
            yield from _in_line(line)
        if line.strip() and line[:1] not in "-*| \t":
            before = line


def _in_line(line: str) -> Iterator[Code]:
    """The code in one line: its spans, or the whole of it."""
    if found := _RUN.fullmatch(line):
        yield Code("sh", found[1], is_run=True)
    elif found := _SET_IN.fullmatch(line):
        yield Code("sh", _PROMPT.sub("", found[1]))
    for span in _SPAN.finditer(line):
        yield Code("sh", _PROMPT.sub("", span[2].strip()), is_run=line[: span.start()].endswith("!"))


def _warns(*around: str) -> bool:
    """Whether lines around a code say that it must not be run, or tell of it."""
    said = " ".join(around).lower().replace("\u2019", "'")
    return _WARNS.search(_FORGETS.sub("", said)) is not None


def _end(lines: list[str], at: int, fence: str) -> int:
    """Where a fence ends; one without an end goes to the end of the text."""
    for n in range(at, len(lines)):
        closing = lines[n].strip(" \t>")
        if closing.startswith(fence) and not closing.strip(fence[0]):
            return n
    return len(lines)


def _block(lines: list[str], language: str) -> str:
    """What a fence holds; of a session in a shell what was typed."""
    if language == "sh" and any(_PROMPT.match(line) and not line.lstrip().startswith("#") for line in lines):
        lines = [line for line in lines if _PROMPT.match(line)]
    if language == "sh":
        lines = [line if line.lstrip().startswith("#") else _PROMPT.sub("", line) for line in lines]
    return "\n".join(lines)[:_MOST_CODE]


def imports(text: str) -> Iterator[str]:
    """The paths that a text takes in by `@path`, as they are written: not those in code."""
    found: dict[str, None] = {}
    is_code = False
    for line in text.splitlines():
        if _FENCE.fullmatch(line):
            is_code = not is_code
        elif not is_code and "@" in line:
            found |= dict.fromkeys(one.rstrip(".") for one in _IMPORT.findall(_SPAN.sub("", line)))
        if len(found) >= _MOST_IMPORTS:
            break
    yield from list(found)[:_MOST_IMPORTS]


def absolute_import(said: str, file: str, home: str) -> str:
    """Where the path of an import leads, which is written in a file."""
    if said.startswith("~/"):
        said = home + said[1:]
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), said))
