"""A git command taken apart.

Owns its own options, the folder that it works in, and the words after the subcommand. Must not know any subcommand.
Source: git(1).
"""

from __future__ import annotations

from tallystick.intent.programs.arguments import below, grammar, taken
from tallystick.intent.programs.rules import Builder
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_HEAD = grammar("-C -c --git-dir --work-tree --namespace --exec-path? --super-prefix --config-env", stops=True)
HERE = Word(".")
_ALL = frozenset((":/", ":(top)", ":"))
"""Path specifications that mean the whole working tree."""
_LONG = (
    "--message --file --author --date --branch --depth --origin --output --prefix --format --remote --onto "
    "--strategy --strategy-option --source --orphan --template --cleanup --exclude --directory --pathspec-from-file "
    "--since --until --grep --max-count --reference --upload-pack --receive-pack --push-option --conflict "
    "--separate-git-dir --output-directory --tree-filter --index-filter --env-filter --msg-filter --exec "
    "--initial-branch --trailer"
)
_SHORT = {
    "clone": "-b -o -u -c -j",
    "init": "-b",
    "fetch": "-j -o",
    "pull": "-j -o -s -X",
    "push": "-o",
    "commit": "-m -F -C -c -t",
    "checkout": "-b -B",
    "switch": "-c -C --create --force-create",
    "restore": "-s",
    "clean": "-e",
    "stash": "-m",
    "apply": "-p -C",
    "am": "-p -C",
    "diff": "-S -G -O -U -l",
    "show": "-S -G -O -U -l",
    "blame": "-L -S",
    "grep": "-e -f -A -B -C -m",
    "remote": "-t -m",
    "worktree": "-b -B",
    "archive": "-o",
    "format-patch": "-o",
    "merge": "-m -s -X -F",
    "rebase": "-s -X -x -C",
    "cherry-pick": "-m -X",
    "revert": "-m",
    "filter-branch": "-d",
    "submodule": "-b -j",
    "hash-object": "-t",
    "lfs": "-I -X",
}
_GRAMMARS = {verb: grammar(f"{_LONG} {short}") for verb, short in _SHORT.items()}
_OTHERS = grammar(_LONG)


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
        return self.own[0].text if self.own else ""

    def path(self, word: Word) -> Word:
        """A path as git reads it."""
        return below(self.folder, word)

    def paths(self) -> list[Word]:
        """The words after `--`, or all operands."""
        at = next((n for n, word in enumerate(self.arguments) if word.text == "--"), None)
        words = self.line.operands if at is None else self.arguments[at + 1 :]
        return [self.path(HERE if word.text in _ALL else word) for word in words]

    def has_dashes(self) -> bool:
        """Whether `--` parts paths from names of commits."""
        return any(word.text == "--" for word in self.arguments)

    def tree(self, operation: Operation = Operation.EDIT) -> int | None:
        """The whole working tree changes."""
        return self.built.add(operation, self.folder or HERE, words=self.own, deep=True)

    def remote(self, operation: Operation, *, default: str = "origin") -> int | None:
        """The other repository: the first operand, or the usual one."""
        word = self.line.operands[0] if self.line.operands else None
        return self.built.add(operation, word or Word(default), words=self.own if word is None else ())
