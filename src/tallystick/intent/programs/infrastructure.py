"""Programs that bring machines and services into a state that files describe.

Owns terraform and ansible. Sources: terraform -help, ansible(1) and its like.
"""

from __future__ import annotations

import re

from tallystick.intent.programs.arguments import Line, below, renamed, taken
from tallystick.intent.programs.rules import NOTHING, Builder, Rule, grammar_of
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_HERE = Word(".")
_FILES = re.compile(r"""\b(?:templatefile|file\w{0,12})\s{0,3}\(\s{0,3}"([^"\n]{1,400})\"""")
"""Functions of Terraform's language that read a file."""

_TERRAFORM = grammar_of("terraform")


def _terraform(command: Command) -> Actions:
    """`terraform VERB`: the files of the folder are read; `apply` changes what they describe."""
    line = taken(command.arguments, _TERRAFORM)
    verb, operands = line.operand(0), line.operands[1:]
    own = tuple(line.operands[:1])
    folder = line.value("-chdir")
    built = Builder()
    if verb in ("", "version", "workspace", "providers", "login", "logout"):
        return NOTHING
    for word in line.values("-var-file", "-state"):
        built.read(below(folder, word))
    if verb == "console" and command.input is not None:
        built.show(*[built.read(Word(path)) for path in _FILES.findall(command.input.plain[:20_000])[:64]])
    if verb == "fmt":
        if line.has("-check"):
            operation = Operation.READ
        else:
            operation = Operation.EDIT
        built.add(
            operation,
            below(folder, operands[0]) if operands else folder or _HERE,
            words=tuple(operands) or own,
            deep=True,
        )
        return built.build()
    built.add(Operation.READ, folder or _HERE, words=own, deep=True)
    for word in operands if verb in ("apply", "show") else ():
        built.read(below(folder, word))
    sources = list(range(len(built.actions)))
    if verb in ("apply", "destroy", "import", "taint", "untaint", "state", "refresh", "force-unlock") and not (
        verb == "state" and line.operand(1) in ("list", "show", "pull")
    ):
        built.flow(sources, [built.add(Operation.SEND, Word(f"terraform://{verb}"), words=own)])
        built.add(
            Operation.EDIT, below(folder, line.value("-state-out", "-state") or Word("terraform.tfstate")), words=own
        )
    elif verb == "init":
        source = built.add(Operation.FETCH, Word("https://registry.terraform.io"), words=own)
        built.flow([source], [built.add(Operation.WRITE, below(folder, Word(".terraform")), words=own, deep=True)])
    for word in line.values("-out"):
        built.flow(sources, [built.write(below(folder, word))])
    return built.build()


_ANSIBLE = grammar_of("ansible")


def _ansible(command: Command) -> Actions:
    """`ansible-playbook FILE…`, `ansible HOSTS -m MODULE`: what the playbook says happens on other machines."""
    line = taken(command.arguments, _ANSIBLE)
    built = Builder()
    _inputs(built, line)
    match command.program:
        case "ansible-playbook":
            for word in line.operands:
                built.add(Operation.EXECUTE, word)
            built.is_unknown = not line.has("--syntax-check", "--list-tasks", "--list-hosts")
        case "ansible":
            for word in line.operands[:1]:
                built.add(Operation.CONNECT, word)
            built.is_unknown = True
        case "ansible-vault":
            _vault(built, line)
        case _:
            built.is_unknown = bool(line.operands)
    return built.build()


def _inputs(built: Builder, line: Line) -> None:
    """Inventories, variables and keys; an inventory with a comma is a list of hosts."""
    for word in line.values("-i", "--inventory"):
        if "," not in word.text:
            built.read(word)
    for word in line.values("-e", "--extra-vars"):
        if word.text.startswith("@"):
            built.read(renamed(word, word.text[1:]))
    for word in line.values("--vault-password-file", "--private-key", "-r"):
        built.read(word)


_VAULT = {"view": Operation.READ, "create": Operation.WRITE}


def _vault(built: Builder, line: Line) -> None:
    operation = _VAULT.get(line.operand(0), Operation.EDIT)
    for word in line.operands[1:]:
        at = built.add(operation, word)
        if operation is Operation.READ:
            built.show(at)
        else:
            built.show(None)


RULES: dict[str, Rule] = {
    "terraform": _terraform,
    "ansible": _ansible,
}
