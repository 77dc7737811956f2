"""Files that a call does not name one by one → what it names with them.

Owns which commands the names come from that a program is given by another one (`find … | xargs rm`): a list that
nothing was picked from names all that is there. Owns also when a pattern that was looked up stands for its whole folder
(`rm -rf *`), which files are only taken along because a pattern matches everything (`wc -l *`), and which listings go
deep but show little: `du -s` prints one sum, `tree -L 1` one level, `find / -name gofmt` one name that is no secret's.
Must not know what is done with the files. Sources: du(1), tree(1).
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import TypeAlias

from msgspec.structs import replace

from tallystick.catalog.programs import names_of, programs_with
from tallystick.intent.shell.targets import path_of
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds.secrets import kind_of
from tallystick.policy.world import Files

_MOST_ROOTS = 16
_MOST_PATTERNS = 50
_RUNNING = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_PASSING = programs_with("leaves-no-name-out")
"""Programs that leave no name out."""
_LISTING = programs_with("lists-files")
_LEAVING_OUT = programs_with("leaves-names-out")
_KEEPING = names_of("find", "keeps-all")
"""What find is asked that leaves out no file for its name, age or size."""


def wholes(reading: CallReading, files: Files) -> Iterator[Intent]:
    """Removals by a pattern that was looked up: one intent for all that it names.

    Of `rm -rf folder/*` for the folder itself, of `rm *.md` for the pattern.
    """
    patterns = [text for text in dict.fromkeys(reading.patterns[:_MOST_PATTERNS]) if text.startswith("/")]
    if patterns:
        removed = {found.target: found for found in reading.effects.intents if _removes(found)}
    else:
        removed = {}
    for pattern in patterns if removed else ():
        matched = files.matches(pattern)
        if len(matched) < 1 or not removed.keys() >= set(matched):
            continue
        first = removed[matched[0]]
        if pattern.endswith("/*") and first.is_deep:
            yield replace(first, target=pattern[:-2] or "/")
        elif len(matched) > 1:
            yield replace(first, target=pattern, is_pattern=True)


def _removes(intent: Intent) -> bool:
    return intent.operation is Operation.DELETE and intent.domain is Domain.FILE


_Roots: TypeAlias = tuple[tuple[str, bool], ...]


class UnnamedFiles:
    """What the names come from that commands of one call are given. Each command is asked about once."""

    def __init__(self, reading: CallReading) -> None:
        self._reading = reading
        self._roots: dict[tuple[int, bool], _Roots | None] = {}

    def of(self, intent: Intent) -> tuple[Intent, ...]:
        """An intent whose target is unknown, as intents on what it may name; itself where that is unknown either."""
        reading = self._reading
        if intent.is_known or intent.target or intent.domain is not Domain.FILE or not reading.scripts:
            return (intent,)
        commands = reading.scripts[0].commands
        if (
            intent.command >= len(commands) or commands[intent.command].program == "rmdir"
        ):  # it takes only empty folders
            return (intent,)
        given = tuple(_given_by_parallel(commands, intent))
        if given:
            return given
        key = (intent.command, intent.is_deep)
        if key not in self._roots:
            self._roots[key] = _roots(reading, commands, intent)
        roots = self._roots[key]
        if roots is None:
            return (replace(intent, target=str(reading.workspace), is_known=True),)
        # Where something was picked, the root is as far as a name is known.
        made = [
            replace(intent, target=root, is_known=is_whole, is_pattern=not is_whole, is_deep=intent.is_deep or is_whole)
            for root, is_whole in roots
        ]
        return tuple(made) or (intent,)


def _roots(reading: CallReading, commands: tuple[Command, ...], intent: Intent) -> _Roots | None:
    """The folders that names come from, and whether all below each is named; None: the top of the workspace is named."""
    sources = _sources(commands, intent.command) or frozenset((intent.command,))  # itself: code that lists and removes
    if reading.workspace is not None and any(_prints_top(commands[n]) for n in sources):
        return None
    is_all = all(_keeps_all(commands[n]) for n in sources)
    roots = dict.fromkeys(
        (found.target, (found.is_deep or intent.is_deep) and is_all and not found.is_pattern)
        for found in reading.effects.intents
        if found.command in sources and found.target.startswith("/") and _names_files(found, commands)
    )
    return tuple(roots)[:_MOST_ROOTS]


def _names_files(found: Intent, commands: tuple[Command, ...]) -> bool:
    """Whether what is done there gives names of files: they are listed, or searched for a text."""
    if found.operation is Operation.LIST:
        return True
    return found.operation is Operation.READ and commands[found.command].program in _LEAVING_OUT


def _sources(commands: tuple[Command, ...], at: int) -> frozenset[int]:
    """The commands whose output may be in the words of one, or comes to it."""
    found: set[int] = set()
    waiting = [at]
    while waiting:
        n = waiting.pop()
        for source in _given(commands, n):
            if source not in found and source != at:
                found.add(source)
                waiting.append(source)
    return frozenset(found)


def _given(commands: tuple[Command, ...], n: int) -> Iterator[int]:
    command = commands[n]
    given = [*command.inputs]
    for word in (*command.words, *(redirect.target for redirect in command.redirects)):
        given += word.commands
    if not given and n and any(word.text in _RUNNING for word in commands[n - 1].words):
        given.append(n - 1)  # what find runs stands behind it
    yield from (source for source in given if 0 <= source < len(commands))


def _given_by_parallel(commands: tuple[Command, ...], intent: Intent) -> Iterator[Intent]:
    """`parallel rm ::: a b`: the arguments that it gives stand behind the command."""
    for wrapper in commands[intent.command + 1 : intent.command + 3]:
        words = [word for word in wrapper.spelled[: _MOST_ROOTS * 4] if wrapper.role is Role.WRAPPER]
        texts = [word.text for word in words]
        if texts[:1] != ["parallel"] or ":::" not in texts:
            continue
        for word in words[texts.index(":::") + 1 :]:
            found = path_of(word, wrapper.folder)
            if found.text.startswith("/"):
                yield replace(intent, target=found.text, is_known=found.is_known, is_pattern=found.is_pattern)


def _prints_top(command: Command) -> bool:
    """`git rev-parse --show-toplevel`: the workspace, in most cases."""
    return command.program == "git" and any(word.text == "--show-toplevel" for word in command.arguments)


def _keeps_all(command: Command) -> bool:
    name = command.program.rpartition("/")[2]
    if name in _LEAVING_OUT:  # all but some is as good as all
        return any(re.fullmatch(r"-[a-zA-Z]*v[a-zA-Z]*|--invert-match", word.text) for word in command.arguments)
    if name in ("find", "gfind"):
        tests = takewhile(lambda text: text not in _RUNNING, (word.text for word in command.arguments))
        given = [*tests]
        asked = [text for before, text in pairwise(["", *given]) if text[:1] == "-" and before not in ("!", "-not")]
        return all(text in _KEEPING for text in asked if text[1:2].isalpha())
    return name in _PASSING or name in _LISTING or not command.words


_SHOWING = programs_with("shows-content")
_MATCH_ALL = frozenset(("*", "*.*", "**"))


class Incidental:
    """The files of one call."""

    def __init__(self, reading: CallReading) -> None:
        places = (posixpath.split(pattern) for pattern in reading.patterns)
        self._folders = frozenset(folder for folder, last in places if last in _MATCH_ALL)
        self._texts = reading.texts
        self._workspace = reading.workspace

    def has(self, path: str, program: str) -> bool:
        """Whether a path is one of them. What is in the text of the call is asked for, whatever else matches it.

        Args:
            program: what the path is given to. One that shows all of a file shows this one too.
        """
        if not self._folders or self._workspace is None or program in _SHOWING:
            return False
        folder, name = posixpath.split(path)
        is_matched = folder in self._folders and f"{folder}/".startswith(f"{self._workspace}/")
        return is_matched and not any(name in text for text in self._texts)


_SUMMED = pattern_of(r"-[a-zA-Z]*s[a-zA-Z]*|--summarize|--total|-[a-zA-Z]*d[01]?|--max-depth(?:=[01])?")
_LEVELS = pattern_of(r"-L[123]?")
_PUBLIC = pattern_of(r"[\w.*?-]*\.pub")
_FORMS = {"du": _SUMMED, "gdu": _SUMMED, "tree": _LEVELS}


def is_shallow(intent: Intent, reading: CallReading) -> bool:
    """Whether a listing shows little of what is below."""
    return _is_deep_list(intent) and intent.words[-1] in _shallow_words(reading)


_newest: tuple[CallReading, frozenset[str]] | None = None
"""The call that is looked at: it is asked about each of its listings."""


def _shallow_words(reading: CallReading) -> frozenset[str]:
    """The words of a call that are listed, but by nothing that shows more."""
    global _newest
    known = _newest
    if known is None or known[0] is not reading:
        known = _newest = (reading, frozenset(_listed_shortly(reading)))
    return known[1]


def _listed_shortly(reading: CallReading) -> Iterator[str]:
    listed = Counter(one.words[-1] for one in reading.effects.intents if _is_deep_list(one))
    given, shown = Counter[str](), set[str]()
    for script in reading.scripts:
        for command in script.commands:
            if command.program == "find" or command.program in _FORMS:
                words = {word.plain for word in command.words}
                given.update(words)
                if not _is_short(command, reading.home):
                    shown |= words
    return (word for word, times in listed.items() if given[word] == times and word not in shown)


def _is_deep_list(intent: Intent) -> bool:
    is_list = intent.operation is Operation.LIST and intent.domain is Domain.FILE
    return is_list and intent.is_deep and bool(intent.words)


def _is_short(command: Command, home: str) -> bool:
    words = [word.plain for word in command.arguments]
    if command.program == "find":
        names = [word for before, word in pairwise(words) if before in _FOUND_BY]
        enough = all if {"-o", "-or", ","}.intersection(words) else any
        if (
            not names
            or not (_RUNNING | _NEGATED).isdisjoint(words)
            or any(_may_be_secret(name, home) for name in names)
        ):
            return False
        return enough(map(_is_narrow, names))
    form = _FORMS[command.program]
    return any(form.fullmatch(word) for word in words) and not any(_ALL.fullmatch(word) for word in words)


_FOUND_BY = ("-name", "-iname", "-path", "-ipath", "-wholename")
_NEGATED = frozenset(("!", "-not"))
_NARROW = pattern_of(r"[^*?\[]{2,}|.*(?<![.\w-])[\w-]{4,}.*")
"""A name without wildcards, or with four letters of it that are more than an ending."""
_TELLING = pattern_of(
    r"(?i)secret|passw|token|cred|key|wallet|private|seed|auth|\benv|login|cookie|history|backup|kube|vault|ssh|aws"
)


def _is_narrow(name: str) -> bool:
    return _PUBLIC.fullmatch(name) is not None or _NARROW.fullmatch(name) is not None


def _may_be_secret(name: str, home: str) -> bool:
    last = name.rpartition("/")[2]
    if _PUBLIC.fullmatch(last):
        return False
    is_secret = any(kind_of(f"{folder}/{last}", home) in ("secret", "credential") for folder in ("", f"{home}/.any"))
    return is_secret or _TELLING.search(name) is not None


_ALL = pattern_of(r"-[a-zA-Z]*a[a-zA-Z]*|--all|-[Ld]?\d{2,}|[4-9]")
