"""Subversion and Mercurial.

Owns the few kinds of their subcommands. Sources: svn help, hg help.
"""

from __future__ import annotations

from tallystick.catalog.programs import names_of
from tallystick.intent.programs.arguments import grammar, last_part, renamed, taken
from tallystick.intent.programs.rules import NOTHING, UNTOLD, Builder, Rule
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_HERE = Word(".")


def _svn(command: Command) -> Actions:
    """`svn` and `hg`: the same few kinds of subcommands."""
    line = taken(command.arguments, grammar("-m -r -F -u -R --message --file --username --password --cwd --rev"))
    verb, operands = line.operand(0), line.operands[1:]
    built = Builder()
    if verb in ("checkout", "co", "clone", "export") and operands:
        source = built.add(Operation.FETCH, operands[0])
        if len(operands) > 1:
            into = operands[1]
        else:
            into = renamed(operands[0], last_part(operands[0].text))
        built.flow([source], [built.add(Operation.WRITE, into, words=tuple(operands), deep=True)])
    elif verb in (
        "update",
        "up",
        "revert",
        "merge",
        "switch",
        "pull",
        "rebase",
        "shelve",
        "unshelve",
        "patch",
        "import",
    ):
        for word in operands or [_HERE]:
            built.add(Operation.EDIT, word, words=() if operands else tuple(line.operands[:1]), deep=True)
    elif verb in ("delete", "rm", "remove", "purge"):
        for word in operands or [_HERE]:
            built.add(Operation.DELETE, word, words=() if operands else tuple(line.operands[:1]), deep=True)
    elif (verb in ("commit", "ci") and command.program == "svn") or verb == "push":
        built.add(
            Operation.SEND,
            operands[0] if verb == "push" and operands else Word("default"),
            words=tuple(line.operands[:1]),
        )
    elif verb == "cat":
        built.show(*[built.read(word) for word in operands])
    else:
        if verb in _VCS_SILENT or not verb:
            return NOTHING
        return UNTOLD
    return built.build()


_VCS_SILENT = names_of("svn", "silent")

RULES: dict[str, Rule] = {
    "svn": _svn,
}
