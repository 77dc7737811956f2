"""Editors, and programs that open a file for a person.

Owns that an editor may change the files that it is given. Sources: vim(1), nano(1), emacs(1), ed(1), code --help,
xdg-open(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import Line, grammar, is_fed, renamed, taken
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_MOST_COMMANDS = 16_384
_SAVES = pattern_of(
    r"(?:^|[|\n])[ \t:]*(?:%|\d+(?:,\d+)?|1,\$|'<,'>)?(?:w|wq|wri|write|x|xit|sav|saveas|up|update)!?[ \t]+(?:>>[ \t]*)?"
    r"(?P<path>[^ \t\r\n!|+>][^ \t\r\n|]{0,1000})"
)


def _without_silence(command: Command) -> list[Word]:
    """The arguments without `+line`, and without `-s` where it means silence: after `-e`, and for `ex` and `ed`."""
    words = [word for word in command.arguments if word.text[:1] != "+"]
    is_ex = command.program in ("ex", "ed", "red") or any(
        re.fullmatch(r"-[eE]s?|-[a-zA-Z]*e", word.text) for word in words
    )
    if is_ex:
        return [word for word in words if word.text not in ("-s", "-es", "-Es")]
    return words


def _saved(commands: str) -> Iterator[str]:
    """The files that an editor's commands write besides those that it was given: `:w path`."""
    for found in _SAVES.finditer(commands):
        yield found["path"]


_VIM = grammar_of("vim")


def _edits(command: Command) -> Actions:
    """`vim`, `ex`, `ed`: the commands of `-c` or of the input work on the files."""
    line = taken(_without_silence(command), _VIM)
    built = Builder()
    is_read = line.has("-R", "--version", "--help") or command.program in ("view", "less", "rview")
    for word in line.operands:
        if word.text != "-":
            built.add(Operation.READ if is_read else Operation.EDIT, word)
    for word in line.values("-w", "-W"):
        built.write(word)
    for word in [*line.values("-c", "--cmd"), *([command.input] if command.input is not None else [])]:
        for path in _saved(word.text[:_MOST_COMMANDS]):
            built.write(renamed(word, path))
    language = "ed" if command.program in ("ed", "red") else "vim"
    built.codes = [Code(language, word) for word in line.values("-c", "--cmd")]
    if command.input is not None:
        built.codes.append(Code(language, command.input))
    elif is_fed(command):
        built.is_unknown = True
    return built.build()


_EMACS = grammar_of("emacs")


def _emacs(command: Command) -> Actions:
    line = taken([word for word in command.arguments if word.text[:1] != "+"], _EMACS)
    built = Builder()
    built.codes = [Code("elisp", word) for word in line.values("--eval", "-e", "--execute")]
    for word in line.operands:
        built.add(Operation.EDIT, word)
    return built.build()


_OPEN = grammar_of("open")


def _opens(command: Command) -> Actions:
    """`open`, `xdg-open`: files, and pages in a browser."""
    built = Builder()
    for word in taken(command.arguments, _OPEN).operands:
        if "://" in word.text[:12] and not word.text.startswith("file:"):
            built.add(Operation.FETCH, word)
        else:
            built.read(word)
    return built.build()


@RULES.of("gio", grammar("-a --attributes -t --target"))
def _gio(built: Builder, line: Line, command: Command) -> None:
    """`gio VERB`: GNOME's way to files."""
    verb, names = line.operand(0), line.operands[1:]
    for word in names[:-1] if verb in ("copy", "move") else names:
        built.add(_GIO.get(verb, Operation.READ), word, deep=verb in ("trash", "copy", "move"))
    if verb in ("copy", "move") and len(names) > 1:
        built.add(Operation.COPY_DEST, names[-1], deep=True)


_GIO = {
    **dict.fromkeys(("trash", "remove"), Operation.DELETE),
    **dict.fromkeys(("mkdir", "save"), Operation.CREATE),
    **dict.fromkeys(("list", "tree", "info", "monitor"), Operation.LIST),
    "copy": Operation.COPY_SOURCE,
    "move": Operation.RENAME,
    "rename": Operation.RENAME,
    "set": Operation.METADATA,
}

RULES |= {
    "edits": _edits,
    "emacs": _emacs,
    "opens": _opens,
}
