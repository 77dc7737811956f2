"""Files that a call does not name one by one → what it names with them.

Owns which commands the names come from that a program is given by another one (`find … | xargs rm`): a list that nothing was
picked from names all that is there. Also owns when a pattern that was looked up stands for its whole folder (`rm -rf *`).
Must not know what is done with the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from msgspec.structs import replace

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.targets import path_of
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command, Role
from tallystick.policy.reading import CallReading
from tallystick.policy.world import Files

_MOST_ROOTS = 16
_MOST_PATTERNS = 50
_RUNNING = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_PASSING = programs_with("leaves-no-name-out")
"""Programs that leave no name out."""
_LISTING = programs_with("lists-files")
_LEAVING_OUT = programs_with("leaves-names-out")
_KEEPING = frozenset(
    (
        "-type",
        "-print",
        "-print0",
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-depth",
        "-d",
        "-maxdepth",
        "-follow",
        "-xdev",
        "-mindepth",
        "-not",
    )
)
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


def listed(reading: CallReading, intent: Intent) -> tuple[Intent, ...]:
    """An intent whose target is unknown, as intents on what it may name; itself where that is unknown either."""
    if intent.is_known or intent.target or intent.domain is not Domain.FILE or not reading.scripts:
        return (intent,)
    commands = reading.scripts[0].commands
    if intent.command >= len(commands) or commands[intent.command].program == "rmdir":  # it takes only empty folders
        return (intent,)
    given = tuple(_given_by_parallel(commands, intent))
    if given:
        return given
    sources = _sources(commands, intent.command) or frozenset((intent.command,))  # itself: code that lists and removes
    if reading.workspace is not None and any(_prints_top(commands[n]) for n in sources):
        return (replace(intent, target=reading.workspace, is_known=True),)
    is_all = all(_keeps_all(commands[n]) for n in sources)
    roots = dict.fromkeys(
        (found.target, (found.is_deep or intent.is_deep) and is_all and not found.is_pattern)
        for found in reading.effects.intents
        if found.command in sources and found.target.startswith("/") and _names_files(found, commands)
    )
    # Where something was picked, the root is as far as a name is known.
    made = [
        replace(intent, target=root, is_known=is_whole, is_pattern=not is_whole, is_deep=intent.is_deep or is_whole)
        for root, is_whole in list(roots)[:_MOST_ROOTS]
    ]
    return tuple(made) or (intent,)


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
