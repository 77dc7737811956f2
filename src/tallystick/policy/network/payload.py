"""What leaves in one call, after a secret was read: which step read a value that is in it, and whether all of it is known.

Owns what is looked through (the text of the call, files, commits) and which programs' output is known by what they are given.
Must not know how values are compared (`world.Leaving`), nor what follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Done
from tallystick.intent.shell.names import canonical
from tallystick.intent.tools.arguments import strings
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role, Script
from tallystick.policy.calls.reading import CallReading, is_archive
from tallystick.policy.taint.origins import REACHES, TAKES
from tallystick.policy.world import Comparison, Leaving

_CODE = programs_with("runs-code")
_PACKERS = programs_with("packs")
_BRANCHES = programs_with("package-manager") | programs_with("container-engine")
"""What these send is put together by them."""
_TRAITS = ("passes-value", "packs", "puts-out-input", "puts-out-pieces", "shows-content", "thins-text", "lists-files")
_NAMING = programs_with("prints-names") & programs_with("gnu-name")
"""What these print is a name, a number or a time."""
_TELLING = (frozenset(name for trait in _TRAITS for name in programs_with(trait)) | _NAMING) - _CODE
"""What these print is made of their words, their input and the files that they read, or is no more than a name."""
_COMPUTES = pattern_of(
    r"environ|getenv|process\.env|ENV\b|stdin|input\(|argv|subprocess|popen|spawn|exec|eval|\bopen\(|read|import_module"
)
_MOST_FILES, _MOST_DEEP, _MOST_STRINGS = 12, 8, 200


def compare(reading: CallReading, intent: Intent, files: Iterable[Intent], leaving: Leaving) -> Comparison:
    """What leaves with one intent: the text of the call, some files, and the commits of a push."""
    found = [leaving.text(_text(reading, intent))]
    found += [_of_file(file, reading, leaving) for file in islice(files, _MOST_FILES)]
    for folder, words in _pushes(reading) if intent.operation is Operation.SEND else ():
        found.append(leaving.push(folder, words, commits_first=any("commit" in text for text in reading.texts)))
    steps = dict.fromkeys(step for one in found for step in one.steps)
    return Comparison(steps=tuple(steps), is_known=all(one.is_known for one in found) and _is_told(reading, intent))


def _pushes(reading: CallReading) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The pushes of a call: where each runs, and its words after that one."""
    for done in reading.done:
        words = tuple(word.plain for word in done.command.words)
        folder = done.command.folder or reading.folder
        if folder and canonical(done.command.program) == "git" and "push" in words and _reaches(done):
            yield folder, words[words.index("push") + 1 :]


def _text(reading: CallReading, intent: Intent) -> str:
    said = reading.texts or (text for _, text in islice(strings(reading.call.args), _MOST_STRINGS))
    return "\n".join((intent.target, *said))


def _of_file(file: Intent, reading: CallReading, leaving: Leaving) -> Comparison:
    if not file.is_known or file.is_pattern or not file.target.startswith("/"):
        return Comparison(is_known=False)
    if file.is_deep and not takes_all(file, reading):
        return Comparison(is_known=False)  # a build takes what is its own
    return leaving.file(file.target)


def takes_all(intent: Intent, reading: CallReading) -> bool:
    """Whether all that lies below a folder is taken as it is: copied, or packed. Builds and similar read what is theirs."""
    if not intent.is_deep or not intent.is_known or not intent.target.startswith("/"):
        return False
    if intent.operation is not Operation.READ:
        return intent.operation in TAKES
    intents = reading.effects.intents
    goes_into = (intents[flow.target] for flow in reading.effects.flows if intents[flow.source].target == intent.target)
    return any(map(is_archive, goes_into)) or any(
        one.operation is Operation.RUN and one.command == intent.command and canonical(one.target) in _PACKERS
        for one in intents
    )


# What the call tells --------------------------------------------------------------------------------------------------


def _is_told(reading: CallReading, intent: Intent) -> bool:
    """Whether what goes out besides files is in the text of the call."""
    if reading.effects.opaque:
        return False
    if intent in reading.uses.intents and not reading.uses.codes:
        return True
    if reading.snippets and _is_of_code(reading, intent):
        return not intent.script and not any(_COMPUTES.search(one.text) for one in reading.snippets)
    senders = [done for done in reading.done if _reaches(done)]
    return bool(senders) and all(_tells(done.command, reading) for done in senders)


def _is_of_code(reading: CallReading, intent: Intent) -> bool:
    programs = (one for one in reading.effects.intents if one.operation is Operation.RUN)
    return bool(reading.uses.codes) or any(
        one.command == intent.command and canonical(one.target) in _CODE for one in programs
    )


def _reaches(done: Done) -> bool:
    return any(one.domain is Domain.NETWORK and one.operation in REACHES for one in done.actions.actions)


def _tells(command: Command, reading: CallReading) -> bool:
    """Whether what a program sends is in its words, its files, or the output of programs of which that is known."""
    if canonical(command.program) in _BRANCHES:
        return False
    inner = {n for word in command.words for n in word.commands} | {*command.inputs}
    if not inner:
        return True
    script = next((one for one in reading.scripts if command in one.commands), None)
    return script is not None and all(_is_telling(script, n, _MOST_DEEP) for n in inner)


def _is_telling(script: Script, n: int, left: int) -> bool:
    if n >= len(script.commands) or not left:
        return False
    command = script.commands[n]
    if command.role is Role.PROGRAM and canonical(command.program) not in _TELLING:
        return False
    inner = {m for word in command.words for m in word.commands} | {*command.inputs}
    return command.role is not Role.UNTOLD and all(_is_telling(script, m, left - 1) for m in inner)
