"""Secrets that are named to something of which it is unknown what it does: another machine, unread code, a sub-agent.

Owns finding paths in text, also in base64, and where such names count. In what the readers understand, the paths are judged
themselves; a name in a search, a message or a text that is only printed is no use of it. Must not know which names are
secrets (`kinds` does).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.programs import fact_of_programs, programs_with
from tallystick.intent.programs.arguments import split_words
from tallystick.intent.shell.names import canonical
from tallystick.intent.tools.arguments import has_blank, plain_name, strings
from tallystick.intent.tools.known import known_tools
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role
from tallystick.policy.calls.legitimate_use import used_words
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds.secrets import is_secret
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_MOST_CHARACTERS = 64 << 10
_MOST_TOKENS = 2000
_TOKEN = pattern_of(r"(?:\$\{?HOME\}?|\$env:USERPROFILE|%USERPROFILE%|~[\w-]*)?[\w.@+*?%\\/\[\]-]{2,300}")
_HOME = pattern_of(r"(?:\$\{?HOME\}?|\$env:USERPROFILE|%USERPROFILE%)(?=[\\/]|$)")
_BASE64 = pattern_of(r"[A-Za-z0-9+/_-]{12,4000}={0,2}")
_MOST_DECODED = 20
_LIKELY = ("/", "\\", ".env", "id_", ".netrc", ".pgpass", ".pypirc", ".npmrc", "_history", "credentials", ".key")


def secrets_in(text: str, *, home: str, folder: str | None) -> Iterator[str]:
    """The secrets that a text names by their paths, as they are spelled."""
    yield from (token for _, token in places_in(text, home=home, folder=folder))


def places_in(text: str, *, home: str, folder: str | None) -> Iterator[tuple[int, str]]:
    """The same with where they begin."""
    cut = text[:_MOST_CHARACTERS]
    if not any(part in cut for part in _LIKELY):
        return
    for n, found in enumerate(_TOKEN.finditer(cut)):
        if n >= _MOST_TOKENS:
            return
        token = found[0].rstrip(".")
        if _names_secret(token, home, folder):
            yield found.start(), token


def secrets_encoded_in(text: str, *, home: str, folder: str | None) -> Iterator[str]:
    """The secrets that base64 in a text names."""
    for n, found in enumerate(_BASE64.finditer(text[:_MOST_CHARACTERS])):
        if n >= _MOST_DECODED:
            return
        yield from secrets_in(_decoded(found[0]), home=home, folder=folder)


def _names_secret(token: str, home: str, folder: str | None) -> bool:
    if not any(part in token for part in _LIKELY):
        return False
    path = _HOME.sub(lambda _: home, token, count=1)
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    path = path.replace("\\", "/")
    return is_secret(placed(path, folder), home)


def _decoded(text: str) -> str:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "ignore")
    except (binascii.Error, ValueError):
        return ""


RISKS: dict[str, str] = {"names-secret": "A secret is named to something of which it is not told what it does."}
_MOST_SHOWN = 200
_MOST_PROMPT = 16 << 10


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    found: dict[str, None] = {}
    for intent in reading.effects.intents:
        if intent.domain is Domain.UNKNOWN:
            found |= dict.fromkeys(_in_words(intent, reading))
    for program in programs(reading):
        if program.name in _RELAYS:
            found |= dict.fromkeys(_relayed(program, reading))
        elif program.name in ("alias", "git"):
            found |= dict.fromkeys(_kept_for_later(program, reading))
    for script in reading.scripts:
        for command in script.commands:
            found |= dict.fromkeys(_to_own_program(command, reading))
            found |= dict.fromkeys(_left_over(command, reading))
    found |= dict.fromkeys(_in_code(reading))
    if reading.uses.agent is not None:
        found |= dict.fromkeys(_in_prompt(reading))
    elif not reading.texts:
        found |= dict.fromkeys(_in_arguments(reading))
    yield from (Risk("names-secret", path[:_MOST_SHOWN]) for path in found)


def _secrets(text: str, reading: CallReading, folder: str | None) -> Iterator[str]:
    return secrets_in(text, home=reading.home, folder=folder)


# Programs ------------------------------------------------------------------------------------------------------------


def _in_words(intent: Intent, reading: CallReading) -> Iterator[str]:
    """What an unknown program is given."""
    words = intent.words
    used = used_words(words)
    for word in words[1:]:
        if word not in used and "\n" not in word:
            value = word
            if word.startswith("-"):
                value = word.partition("=")[2]
            is_prose = " " in value  # a title or a message: only a path that is told whole is more than talk
            if value not in used:
                yield from (
                    path for path in _secrets(value, reading, reading.folder) if not is_prose or _is_rooted(path)
                )


def _is_rooted(path: str) -> bool:
    return path.startswith(("/", "~", "$", "%", "\\"))


_INTERPRETERS = programs_with("interpreter")


def _to_own_program(command: Command, reading: CallReading) -> Iterator[str]:
    """What a program of the project is given: `./tool FILE`, `python tool.py FILE`. What it does is not told."""
    if command.role is Role.PROGRAM:
        words = [word.plain for word in command.words]
    else:
        words = []
    if len(words) < 2 or not (words[0].startswith(("./", "../")) or canonical(command.program) in _INTERPRETERS):
        return
    used = used_words(words)
    for word in words[1:]:
        if "\n" not in word and " " not in word and word not in used and not word.startswith("--env"):
            yield from _secrets(
                word.partition("=")[2] if word.startswith("-") else word, reading, command.folder or reading.folder
            )


_TALK = programs_with("path-may-be-text")
"""Programs for which a path may be a pattern, a message or a name, or that do no more with it than they were found to do."""


def _left_over(command: Command, reading: CallReading) -> Iterator[str]:
    """A path that a known program is given, of which it was not found that anything is done with it."""
    if command.role is not Role.PROGRAM or canonical(command.program) in _TALK:
        return
    used = used_words([word.plain for word in command.words])
    for word in command.words[1:]:
        path = word.plain
        is_path = path[:1] == "/" and " " not in path and len(path) < _MOST_SHOWN and word.is_known and path not in used
        if is_path and is_secret(path, reading.home) and not any(one.target == path for one in reading.effects.intents):
            yield path


_RELAYS = fact_of_programs("relays")
"""Programs that pass commands or paths on to another shell or machine: all of what they do, or with one of some words."""


def _relayed(program: Started, reading: CallReading) -> Iterator[str]:
    """What is said to another shell, or asked of another machine. Paths there are not of this folder."""
    wanted = _RELAYS[program.name]
    if wanted and not any(word in wanted for word in program.operands):
        return
    is_copy = program.name in ("scp", "rsync", "sftp") or "cp" in program.operands[:1]
    used = used_words((program.name, *program.words))
    for word in program.words:
        if word in used or (word.startswith("-") and not word.startswith(("-c", "--command"))):
            continue
        if is_copy:
            host, joint, path = word.partition(":")
            if not joint or "/" in host:
                continue
            word = path
        yield from _secrets(word, reading, None)


def _kept_for_later(program: Started, reading: CallReading) -> Iterator[str]:
    """Commands that get a name: `alias l='cat FILE'`, `git config alias.x '!cat FILE'`."""
    for word in program.words:
        value = word
        if program.name == "alias":
            value = word.partition("=")[2]
        is_command = program.name == "alias" or (value.startswith("!") and "config" in program.operands)
        if is_command and not _CONNECTS.match(value):
            yield from _secrets(value, reading, reading.folder)


# Code and texts ------------------------------------------------------------------------------------------------------


_OPENS = pattern_of(
    r"(?i)\b(?:open|read\w*|getline|slurp|file_get_contents|cat|fopen|get-content|createReadStream|load)\b"
)


def _is_loose(path: str, told: set[str]) -> bool:
    """Whether a path in code is whole, and none that was found to be read, changed or listed."""
    if path.startswith("$"):
        end = path.lstrip("~$/\\").partition("/")[2]
    else:
        end = path.lstrip("~/")
    return _is_rooted(path) and not any(target.endswith(end) for target in told)


def _in_code(reading: CallReading) -> Iterator[str]:
    """Code that is not understood, whatever is encoded in it included."""
    unread = {
        intent.target.partition(": ")[2]
        for intent in reading.effects.intents
        if intent.domain is Domain.UNKNOWN and intent.target.startswith("code: ")
    }
    for snippet in reading.snippets:
        is_own = any(snippet.text in text for text in reading.texts)
        if is_own and snippet.language not in unread and _OPENS.search(snippet.text[: 48 << 10]):
            # What was not found to be read may be put together from parts.
            told = {one.target for one in reading.effects.intents}
            yield from (path for path in _secrets(snippet.text, reading, None) if _is_loose(path, told))
        if snippet.language in unread and (is_own or snippet.language not in LANGUAGES.read):
            yield from _secrets(snippet.text, reading, reading.folder)
            yield from secrets_encoded_in(snippet.text, home=reading.home, folder=reading.folder)


_CONNECTS = pattern_of(r"['\"]?(?:/usr/bin/)?ssh\s")


# Tools ---------------------------------------------------------------------------------------------------------------

_MADE = frozenset((Operation.WRITE, Operation.CREATE, Operation.COPY_DEST))
"""What is done to a path that a tool makes. A tool that puts or saves may as well take it from there."""
_QUERIES = frozenset(("query", "sql", "statement", "expression", "script", "code", "function", "formula"))
_NO_USE = frozenset(
    (
        "pattern", "glob", "include", "exclude", "url", "content", "contents", "text", "body", "title", "message",
        "description", "oldtext", "newtext", "oldstring", "newstring", "oldstr", "newstr", "search", "replace", "name",
        "label", "labels",
    )
)  # fmt: skip
_MOST_ARGUMENT = 4096


def _in_arguments(reading: CallReading) -> Iterator[str]:
    """What a tool in no table is given: names in queries, or in a word that is not a path by itself, `~/.ssh:/keys`."""
    if plain_name(reading.call.tool) in known_tools():
        return
    told = {one.target for one in reading.effects.intents if one.operation not in _MADE}
    for name, text in strings(reading.call.args):
        is_word = len(text) <= _MOST_ARGUMENT and not has_blank(text) and name not in _NO_USE
        is_judged = text in told and is_secret(text, reading.home)
        if (is_word and not is_judged and not text.startswith(("http:", "https:"))) or name in _QUERIES:
            yield from _secrets(text, reading, reading.folder)
        elif text[:2] == "--" and "\n" not in text[:_MOST_ARGUMENT] and name not in _NO_USE:  # options and their values
            for word in split_words(text[:_MOST_ARGUMENT]):
                yield from _secrets(word, reading, reading.folder)


# Sub-agents ----------------------------------------------------------------------------------------------------------

_ORDERED = pattern_of(
    r"(?i)\b(?:cat|read|print|show|dump|copy|head|tail|base64|upload|send|open|source|grep|output|report|paste|exfiltrate|include|return)\b"
    r"[^\n.;:]{0,60}\Z"
)
_ORDERED_CLOSELY = pattern_of(
    r"(?i)\b(?:cat|read|print|show|dump|copy|head|tail|base64|upload|send|open|source|grep|output|report|paste|include|return)\b"
    r"(?:\s|[`'\"(]|\b(?:the|a|my|our|your|its|this|project|repo|file|files|contents?|values?|lines?|of|in|from|all|every|out|whole)\b)*\Z"
)
_FORBIDDEN = pattern_of(
    r"(?i)\b(?:never|not|don't|avoid|except|without|ignore|gitignore|exclude|skip|redact)\b[^\n.;]{0,60}\Z"
)
_MOST_BEFORE = 80


def _in_prompt(reading: CallReading) -> Iterator[str]:
    """What a sub-agent is told to read. It is judged again when it does, if its calls are seen."""
    for _, text in strings(reading.call.args):
        cut = text[:_MOST_PROMPT]
        for at, path in places_in(cut, home=reading.home, folder=reading.folder):
            before = cut[max(0, at - _MOST_BEFORE) : at]
            ordered = _ORDERED_CLOSELY
            if _is_rooted(path):
                ordered = _ORDERED
            if ordered.search(before) and not _FORBIDDEN.search(before):
                yield path
