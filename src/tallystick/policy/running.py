"""Files that a call runs although no argument names them so, and files that it runs only to test them.

Owns modules that code imports from beside it, files whose text is given to a shell that is unknown what it gets, and
which programs are test runners. Must not know whose files they are.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise

from tallystick.catalog.programs import fact_of_programs, programs_with
from tallystick.intent.shell.names import canonical
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command
from tallystick.policy.imports import imported
from tallystick.policy.launching import hooks
from tallystick.policy.origins import TAKES
from tallystick.policy.reading import CallReading
from tallystick.policy.world import Files

_RUNNERS = programs_with("runs-tests")
_WITH_VERB = programs_with("tests-by-verb")
_VERBS = frozenset(("test", "--test", "nextest"))
_FIRST_WORDS = 6
_UNTOLD = frozenset(("eval", "pipe"))
_MOST_TEXT = 64 << 10
_MOST_MODULES = 40
_MOST_READ = 20
_MOST = 200
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,200}")
_PYTHON_SUFFIXES = (".py", "/__init__.py", "/__main__.py")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|py|ipython")
_OPTIONS = fact_of_programs("runs-option-files")
_ELSEWHERE = programs_with("other-machine")
_SHELLS = programs_with("takes-script")
_RUNS = frozenset(("run", "exec", "execute", "--execute", "launch", "eval", "source", "load", "play", "invoke"))
_TOOL_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MOST_WORDS = 200
_LONGEST = 400
_FINDERS = programs_with("finder")
_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename"))


def is_tested(reading: CallReading, position: int) -> bool:
    """Whether a file is run by a test runner, which loads all sorts of files of a project. `position`: of the intent."""
    intents = reading.effects.intents
    own = intents[position]
    for before in reversed(intents[:position]):
        if before.domain is Domain.PROCESS and before.operation is Operation.RUN:
            if before.command == own.command and canonical(before.target) in _RUNNERS:
                return True
            break
    command = _command(reading, own)
    return command is not None and _is_test(command) and own.target not in _scripts_of(command)


def _command(reading: CallReading, intent: Intent) -> Command | None:
    if not reading.scripts or intent.command >= len(reading.scripts[0].commands):
        return None
    return reading.scripts[0].commands[intent.command]


def _is_test(command: Command) -> bool:
    words = [word.plain for word in command.words[:_FIRST_WORDS]]
    if not words:
        return False
    program = canonical(words[0])
    if program in _WITH_VERB:
        return not _VERBS.isdisjoint(words[1:3])
    if program.startswith("python"):
        return "-m" in words and not _RUNNERS.isdisjoint(words[words.index("-m") + 1 :][:1])
    return any(canonical(word) in _RUNNERS for word in words[:2])


def _scripts_of(command: Command) -> tuple[str, ...]:
    """What a command is by itself, where its first word is a path."""
    if command.words:
        return (command.words[0].plain,)
    return ()


def also_run(reading: CallReading, files: Files) -> Iterator[str]:
    """Paths that may be run besides those that are named as run; most of them are not there. Absolute."""
    found = (path for pattern in _found(reading) for path in files.matches(pattern)[:_MOST_READ])
    every = chain(_given_to_shells(reading), _named(reading), _of_tool(reading), _imported(reading), found)
    return islice(dict.fromkeys(every), _MOST)


def _given_to_shells(reading: CallReading) -> Iterator[str]:
    """Files whose text or name goes to something that runs it, though it is unknown what that is."""
    if _UNTOLD.isdisjoint(reading.effects.opaque) and not _is_fed_elsewhere(reading):
        return
    named = (
        intent
        for intent in reading.effects.intents
        if intent.domain is Domain.FILE and (intent.operation in TAKES or intent.operation is Operation.LIST)
    )
    for number, intent in enumerate(named):
        if number >= _MOST_READ:
            return
        if intent.is_known and not intent.is_deep and not intent.is_pattern and intent.target.startswith("/"):
            yield intent.target


def _is_fed_elsewhere(reading: CallReading) -> bool:
    """Whether a shell of another machine or of a container is given a text: `ssh host bash < x.sh`."""
    for script in reading.scripts:
        for command in script.commands[:_MOST_MODULES]:
            words = [word.plain for word in command.words[:_MOST_READ]]
            if words and canonical(words[0]) in _ELSEWHERE:
                inner = {part.rpartition("/")[2] for word in words[1:] for part in word.split()[:_MOST_READ]}
                if not _SHELLS.isdisjoint(inner):
                    return True
    return False


def _named(reading: CallReading) -> Iterator[str]:
    """What commands run by an option, a verb, or a module's name: `python -m a`, `ruby -r ./x`, `jupyter execute n.ipynb`."""
    for script in reading.scripts:
        for _, value in script.assigned[:_MOST_MODULES]:
            yield from _placed(value.split()[:_MOST_READ], reading.folder)
        for command in script.commands[:_MOST_MODULES]:
            words = [word.plain for word in command.words[:_MOST_WORDS]]
            if len(words) < 2 or command.folder is None:
                continue
            program = canonical(words[0])
            yield from _placed(_given(program, words[1:]), command.folder)
            if _PYTHON.fullmatch(program) and "-m" in words[:-1]:
                name = words[words.index("-m") + 1]
                place = posixpath.join(command.folder, name.replace(".", "/"))
                yield from (place + suffix for suffix in _PYTHON_SUFFIXES if _NAME.fullmatch(name))
            found = hooks(command)
            if found is not None:
                yield from (f"{found[0]}/.git/hooks/{hook}" for hook in found[1][1:])


def _given(program: str, words: list[str]) -> Iterator[str]:
    """The words that a program runs, or may."""
    options = _OPTIONS.get(program, ())
    for before, word in pairwise(words):
        if before in options:
            if "/" not in word:
                yield f"./{word}"
            else:
                yield word
    for option in options:
        yield from (word[len(option) :] for word in words if word.startswith(option) and word != option)
    if not _RUNS.isdisjoint(words[:_FIRST_WORDS]):
        yield from (part for word in words for part in word.split()[:_MOST_READ])


def _placed(words: Iterable[str], folder: str | None) -> Iterator[str]:
    """Words that look like paths, absolute."""
    for word in words:
        path = word.partition("=")[2] or word
        if folder is not None and ("/" in path or "." in path) and "://" not in path and len(path) < _LONGEST:
            yield posixpath.normpath(posixpath.join(folder, path))


def _of_tool(reading: CallReading) -> Iterator[str]:
    """Files that are given to a tool whose name says that it runs something."""
    uses = reading.uses
    if uses.commands or uses.programs or uses.codes:
        return
    name = reading.call.tool[:_LONGEST]
    if not _RUNS.isdisjoint(word.lower() for word in _TOOL_WORDS.findall(name)):
        yield from (
            one.target for one in uses.intents[:_MOST_READ] if one.domain is Domain.FILE and one.target[:1] == "/"
        )


def _imported(reading: CallReading) -> Iterator[str]:
    """Modules beside the code that runs which it imports."""
    beside = [
        posixpath.dirname(intent.target)
        for intent in reading.effects.intents
        if intent.operation is Operation.EXECUTE and intent.is_known and intent.target.startswith("/")
    ][:_MOST_READ]
    folders = tuple(dict.fromkeys([*beside, *([reading.folder] if reading.folder is not None else [])]))
    for snippet in reading.snippets[:_MOST_MODULES]:
        for candidates in imported(
            snippet.language, snippet.text[:_MOST_TEXT], folders, folders[0] if beside else None
        ):
            yield from candidates


def _found(reading: CallReading) -> Iterator[str]:
    """Patterns of what `find … -exec sh {}` and similar may run."""
    if _UNTOLD.isdisjoint(reading.effects.opaque):
        return
    for script in reading.scripts:
        for command in script.commands[:_MOST_MODULES]:
            words = [word.plain for word in command.words[:_MOST_READ]]
            if not words or canonical(words[0]) not in _FINDERS or command.folder is None:
                continue
            names = [after for option, after in pairwise(words) if option in _NAMES] or ["*"]
            start = posixpath.normpath(
                posixpath.join(command.folder, words[1] if words[1:2] and words[1][:1] != "-" else "")
            )
            for name in names[:4]:
                yield from (f"{start}/{middle}{name.rpartition('/')[2]}" for middle in ("", "*/", "*/*/"))
