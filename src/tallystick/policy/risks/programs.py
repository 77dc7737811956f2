"""The programs that a call starts, each with its arguments.

Owns what a program is called when it is looked up in a table: without its folder, its ending and its second names. Must not
know what any program does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from msgspec import Struct

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.packages import RUNNERS
from tallystick.intent.shell.names import canonical
from tallystick.intent.tools.arguments import plain_name, strings
from tallystick.model.script import Command, Role, Script, Word
from tallystick.policy.calls.reading import CallReading

_MOST_PROGRAMS = 2000
_MOST_WORDS = 200
_MOST_SHOWN = 200
_MOST_HIDDEN = 400
_MOST_STEPS = 200


class Started(Struct, frozen=True, dict=True):
    """One program that is started, wrappers like `sudo` included."""

    name: str
    """In lower case."""
    given: tuple[Word, ...]
    """Its arguments; at most 200."""
    spelled: str
    """For people: the whole of it."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The arguments, what is unknown of them left out."""
        return tuple(word.plain for word in self.given)

    @property
    def hidden(self) -> str:
        """What the parts that are unknown were made from: a substitution, what `find` looked through."""
        return " ".join(word.hidden[:_MOST_HIDDEN] for word in self.given[:16] if word.hidden)

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The arguments that are not options. The value of an option is taken for one."""
        return tuple(word for word in self.words if word[:1] != "-" or word == "-")

    def has(self, *options: str) -> bool:
        """Whether one of some options is there: `-f` also among joined letters, `--name` also with a value."""
        return any(_is(word, option) for word in self.words if word[:1] in "-+" for option in options)

    def value(self, *options: str) -> str:
        """What follows one of some options, in its own word or in the next; empty if there is nothing."""
        words = self.words
        for n, word in enumerate(words):
            for option in options:
                if word == option:
                    if n + 1 < len(words):
                        return words[n + 1]
                    return ""
                if option[:2] == "--" and word.startswith(option + "="):
                    return word[len(option) + 1 :]
        return ""


_newest: tuple[CallReading, tuple[Started, ...]] | None = None
"""The call that is looked at: some thirty detectors ask for its programs, one after the other."""


def programs(reading: CallReading) -> tuple[Started, ...]:
    """What a call starts, in order."""
    global _newest
    known = _newest
    if known is None or known[0] is not reading:
        known = _newest = (reading, tuple(_programs(reading)))
    return known[1]


def _programs(reading: CallReading) -> Iterator[Started]:
    left = _MOST_PROGRAMS
    for script in reading.scripts:
        for command in script.commands:
            if command.role is Role.PROGRAM:
                words = command.words
            else:
                words = command.spelled
            if not words or command.role not in (Role.PROGRAM, Role.WRAPPER) or not words[0].is_known:
                continue
            left -= 1
            if left < 0:
                return
            name = name_of(words[0].plain)
            if name:
                yield Started(name, words[1 : _MOST_WORDS + 1], shown(words))


def programs_and_run(reading: CallReading) -> Iterator[Started]:
    """The same, and what a runner among them runs: `npx prisma`, `python -m twine`, `bundle exec rake`, `npx -y NAME`."""
    for started in programs(reading):
        yield started
        words = started.words
        at = next((n for n, word in enumerate(words) if word[:1] != "-" and word not in _VERBS), len(words))
        if started.name in _HOLDERS and at < len(words):
            yield Started(name_of(words[at].partition("@")[0]), started.given[at + 1 :], started.spelled)
        elif started.name.startswith("python") and words[:1] == ("-m",) and len(words) > 1:
            yield Started(words[1], started.given[2:], started.spelled)


_HOLDERS = RUNNERS | programs_with("runs-named-program")
_VERBS = frozenset(("run", "exec", "x"))


def own_scripts(reading: CallReading) -> tuple[Script, ...]:
    """The texts that the agent gave itself, without the scripts that they run; all of them where there are several."""
    if len(reading.texts) > 1:
        return reading.scripts
    return reading.scripts[:1]


def inner_texts(reading: CallReading) -> Iterator[str]:
    """Texts of the shell that no reader takes for such.

    They are in arguments of some programs, and are typed into a shell that runs already.
    """
    for started in programs(reading):
        if started.name in _RUN_TEXTS:
            for word in started.words:
                text = word.removeprefix("shell ").removeprefix("!")
                if " " in text:
                    yield text
    if reading.uses.intents and plain_name(reading.call.tool[:100]).endswith("writestdin"):
        yield from (text for _, text in islice(strings(reading.call.args), _MOST_TYPED))


_RUN_TEXTS = programs_with("runs-argument-text")
_MOST_TYPED = 20


def called(command: Command) -> str:
    """What the program of a command is called in tables; empty if it has none, or one of the project's own."""
    return name_of(command.words[0].plain) if command.words else ""


def reaching(inputs: Iterable[int], commands: Sequence[Command]) -> Iterator[Command]:
    """Some commands of a text, and those whose output reaches them, through others as well."""
    left, seen = list(inputs), set[int]()
    while left and len(seen) < _MOST_STEPS:
        at = left.pop()
        if at not in seen and at < len(commands):
            seen.add(at)
            yield commands[at]
            left += commands[at].inputs


def name_of(word: str) -> str:
    """What a program is called in tables; empty for one of the project's own (`./run`)."""
    if "/" in word and not word.startswith("/"):
        return ""
    last = word.rpartition("/")[2].rpartition("\\")[2].lower()
    return canonical(last.removesuffix(".exe"))


def shown(words: tuple[Word, ...]) -> str:
    """Words for people."""
    found = ""
    for word in words:
        found += (" " if found else "") + word.plain[:_MOST_SHOWN]
        if len(found) >= _MOST_SHOWN:
            break
    return found[:_MOST_SHOWN]


def _is(word: str, option: str) -> bool:
    if option[:2] == "--" or len(option) > 2:
        return word == option or (option[:2] == "--" and word.startswith(option + "="))
    return word[:1] == option[:1] and word[:2] != "--" and option[1:] in word[1:]
