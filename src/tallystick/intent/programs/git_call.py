"""A git command taken apart.

Owns its own options, the folder that it works in, and the words after the subcommand. Must not know any subcommand.
Source: git(1).
"""

from __future__ import annotations

from tallystick.catalog.programs import arguments_of
from tallystick.intent.programs.arguments import below, grammar, taken
from tallystick.intent.programs.rules import Builder
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_HEAD = grammar("-C -c --git-dir --work-tree --namespace --exec-path? --super-prefix --config-env", stops=True)
HERE = Word(".")
_ALL = frozenset((":/", ":(top)", ":"))
"""Path specifications that mean the whole working tree."""
_ENTRY = arguments_of("git")
_GRAMMARS = {verb: grammar(f"{_ENTRY.takes} {takes}") for verb, takes in _ENTRY.verb_takes.items()}
_OTHERS = grammar(_ENTRY.takes)


class GitCall:
    """A git command taken apart: its folder, and the words after the subcommand."""

    __slots__ = ("arguments", "built", "command", "folder", "line", "own", "settings")

    def __init__(self, command: Command) -> None:
        head = taken(command.arguments, _HEAD)
        self.command = command
        self.folder: Word | None = None
        for word in head.values("-C", "--work-tree"):
            self.folder = below(self.folder, word)
        self.settings = head.values("-c")
        self.arguments = head.operands[1:]
        self.own = tuple(head.operands[:1])
        self.line = taken(self.arguments, _GRAMMARS.get(self.verb, _OTHERS))
        self.built = Builder()

    @property
    def verb(self) -> str:
        """The subcommand."""
        if self.own:
            return self.own[0].text
        return ""

    def path(self, word: Word) -> Word:
        """A path as git reads it."""
        return below(self.folder, word)

    def paths(self) -> list[Word]:
        """The words after `--`, or all operands."""
        at = next((n for n, word in enumerate(self.arguments) if word.text == "--"), None)
        if at is None:
            words = self.line.operands
        else:
            words = self.arguments[at + 1 :]
        return [self.path(HERE if word.text in _ALL else word) for word in words]

    def has_dashes(self) -> bool:
        """Whether `--` parts paths from names of commits."""
        return any(word.text == "--" for word in self.arguments)

    def tree(self, operation: Operation = Operation.EDIT) -> int | None:
        """The whole working tree changes."""
        return self.built.add(operation, self.folder or HERE, words=self.own, deep=True)

    def remote(self, operation: Operation, *, default: str = "origin") -> int | None:
        """The other repository: the first operand, or the usual one."""
        word = None
        if self.line.operands:
            word = self.line.operands[0]
        if word is None:
            words = self.own
        else:
            words = ()
        return self.built.add(operation, word or Word(default), words=words)
