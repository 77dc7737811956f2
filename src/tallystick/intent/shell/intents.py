"""The list of intents that is built, and how data moves between them.

Owns where a command stands while its intents are made, how an intent is put down, and a graph of places that data passes:
intents, and the pipes between commands. Must not know what commands do.
"""

from __future__ import annotations

import msgspec

from tallystick.intent.actions import Action
from tallystick.intent.shell.files import Files
from tallystick.intent.shell.output import Output
from tallystick.intent.shell.targets import Target, clean, spelled
from tallystick.model.intent import Chance, Domain, Flow, Intent, Operation
from tallystick.model.script import Command, Word

_MOST_FLOWS = 1000
_MOST_STEPS = 50_000


class Plumbing:
    """A graph whose nodes are intents, by their position, and pipes, which have negative numbers."""

    def __init__(self) -> None:
        self._next = -1
        self._after: dict[int, list[int]] = {}
        self.is_cut = False
        """Whether there are more flows than are known."""

    def pipe(self) -> int:
        """A new pipe."""
        self._next -= 1
        return self._next

    def connect(self, source: int, target: int) -> None:
        """Data goes from one place to another."""
        if source != target:
            self._after.setdefault(source, []).append(target)

    def before(self, target: int) -> set[int]:
        """The intents whose data reaches a place."""
        into: dict[int, list[int]] = {}
        for source, targets in self._after.items():
            for each in targets:
                into.setdefault(each, []).append(source)
        return {node for node in _reached(into, target) if node >= 0}

    def flows(self) -> tuple[Flow, ...]:
        """Which intent's data reaches which other one through pipes, in the order of the intents."""
        found: list[Flow] = []
        steps = 0
        for source in sorted(node for node in self._after if node >= 0):
            reached = _reached(self._after, source)
            steps += len(reached) + 1
            targets = sorted(node for node in reached if node >= 0 and node != source)
            if len(found) + len(targets) > _MOST_FLOWS or steps > _MOST_STEPS:
                self.is_cut = True
                return tuple(found)
            found += [Flow(source, target) for target in targets]
        return tuple(found)


def _reached(after: dict[int, list[int]], start: int) -> set[int]:
    """The places that data reaches from one, not going on at intents: those pass nothing on by themselves."""
    seen: set[int] = set()
    left = list(after.get(start, ()))
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            if node < 0:
                left += after.get(node, ())
    return seen


_CHANGES = frozenset(
    {Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST, Operation.DELETE, Operation.RENAME}
)


class Frame(msgspec.Struct, frozen=True):
    """Where a script stands that is being looked at: by itself, or run by a command."""

    stdin: int | None = None
    stdout: int | None = None
    command: int | None = None
    """The command of the outermost script."""
    chance: Chance = Chance.ALWAYS
    is_last: bool = True


class Site(msgspec.Struct):
    """One command while its intents are made."""

    command: Command
    frame: Frame
    number: int
    into: int
    """The pipe that is its standard input."""
    out: int
    outs: list[int]
    """The output of each command of its script so far, and in `ins` the input."""
    ins: list[int]
    commands: tuple[Command, ...]
    """All commands of its script."""
    fed: Output
    """What is known of its standard input."""
    told: list[Output]
    """What is known of the output of each command of its script so far."""


class Intents:
    """Collects the intents of one text."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.found: list[Intent] = []
        self.plumbing = Plumbing()
        self.opaque: dict[str, None] = {}

    def state(self, site: Site) -> tuple[Chance, bool]:
        """Whether a command surely runs, and whether it belongs to the last statement."""
        if site.frame.chance is Chance.MAYBE:
            chance = Chance.MAYBE
        else:
            chance = site.command.chance
        return chance, site.command.is_last and site.frame.is_last

    def add(self, site: Site, action: Action, target: Target) -> int:
        """Put down what a command does to what a word of it names; its position, its node in the plumbing as well."""
        chance, is_last = self.state(site)
        content = action.content
        if action.operation in _CHANGES and action.domain is Domain.FILE and target.is_known and not target.is_pattern:
            self.files.change(target.text, content)
        if content is not None:
            content = clean(content)
        self.found.append(
            Intent(
                domain=action.domain,
                operation=action.operation,
                target=clean(target.text),
                is_known=target.is_known,
                is_pattern=target.is_pattern,
                is_deep=action.is_deep,
                is_authored=action.is_authored,
                content=content,
                command=site.number,
                words=spelled(action.words or (action.target,)),
                script=self.files.opened(),
                chance=chance,
                is_last=is_last,
            )
        )
        return len(self.found) - 1

    def missing(self, site: Site, what: str, words: tuple[Word, ...]) -> int:
        """An intent for something that is unknown."""
        chance, is_last = self.state(site)
        return self.unknown(what, words, Frame(command=site.number, chance=chance, is_last=is_last))

    def unknown(self, what: str, words: tuple[Word, ...], frame: Frame) -> int:
        """Put down an intent for something that is unknown, of a command or of a script as a whole."""
        intent = Intent(
            domain=Domain.UNKNOWN,
            operation=Operation.UNKNOWN,
            target=clean(what),
            command=frame.command or 0,
            words=spelled(words),
            chance=frame.chance,
            is_last=frame.is_last,
        )
        self.found.append(intent)
        return len(self.found) - 1
