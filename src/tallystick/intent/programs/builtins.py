"""What a shell has built in, and small programs that touch no file.

Owns the names that mean nothing for files, network or processes by themselves. What `eval`, `trap` or `watch` run is
read in its place by the reader. Sources: bash(1), POSIX.
"""

from __future__ import annotations

from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Line, renamed
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.script import Command

RULES = Rules()


@RULES.of("history")
def _history(built: Builder, line: Line, command: Command) -> None:
    """`history -c`, `-w FILE`, `-r FILE`."""
    if all(word.text.isdigit() for word in line.operands) and not line.has("-c", "-d", "-w", "-a", "-r", "-n"):
        built.show(built.add(Operation.READ, renamed(command.words[0], "history:"), words=command.words[:1]))
    for word in line.operands:
        if line.has("-w"):
            built.add(Operation.WRITE, word)
        elif line.has("-a"):
            built.add(Operation.APPEND, word)
        elif line.has("-r", "-n"):
            built.show(built.read(word))


def _pastes(command: Command) -> Actions:
    """`pbpaste`: what the user has copied, from wherever."""
    built = Builder()
    built.show(built.add(Operation.READ, renamed(command.words[0], "clipboard:"), words=command.words[:1]))
    return built.build()


_CAPTURE = grammar_of("screencapture")


@RULES.of("captures", _CAPTURE)
def _captures(built: Builder, line: Line, command: Command) -> None:
    """`screencapture FILE`: a picture of what the user sees."""
    source = built.add(Operation.READ, renamed(command.words[0], "screen:"), words=command.words[:1])
    built.flow([source], [built.write(word) for word in [*line.operands[-1:], *line.values("-f", "--file")]])


RULES |= {
    "pastes": _pastes,
}
