"""Package managers of a whole machine.

Owns apt, dnf, apk, pacman, brew and similar: a change is an elevation whose target is the program's name. Sources:
their manual pages.
"""

from __future__ import annotations

from tallystick.catalog.programs import names_of
from tallystick.intent.programs.arguments import grammar, taken
from tallystick.intent.programs.packages import LOCAL, package_of
from tallystick.intent.programs.rules import Builder, Rule
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_CHANGES = names_of("pacman", "changes")
_ASKS = {"rpm": frozenset({"-q", "-V", "--query"}), "pacman": frozenset({"-Q", "-F"})}


def _lettered(command: Command) -> Actions:
    """`pacman -S`, `rpm -i`, `dpkg -i`: what is done is in a letter."""
    line = taken(command.arguments, grammar("--root --dbpath --config --prefix"))
    built = Builder()
    name = command.program
    letters = {option for option, _ in line.options}
    kind = {"pacman": "alpm", "rpm": "rpm"}.get(name, "deb")
    changes = letters & _CHANGES
    asks = _ASKS.get(name, frozenset())
    if name == "pacman" and "-S" in letters:
        asks = asks | {"-s", "-l", "-i"}
    if not changes or letters & asks:
        if kind == "rpm" and "-p" in letters:
            built.show(*[built.read(word) for word in line.operands])
        return built.build()
    is_removal = bool(changes & {"-R", "-e", "-r", "-P", "--remove", "--purge", "--erase"})
    for word in () if is_removal else line.operands:
        is_file = bool(LOCAL.fullmatch(word.text)) or name == "dpkg"
        built.add(
            Operation.READ if is_file else Operation.FETCH, word if is_file else package_of(kind, word), words=(word,)
        )
    built.add(Operation.ELEVATE, Word(name), words=command.words[:1])
    return built.build()


RULES: dict[str, Rule] = {
    "lettered": _lettered,
}
