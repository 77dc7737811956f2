"""Programs that test, check and format source code.

Owns which of them read the files that they name, which edit them (formatters, `--fix`) and which run them (test
runners). What the tests of a project do is unknown by these words. Sources: pytest --help, the manuals of ruff, black,
mypy, eslint, prettier, jest.
"""

from __future__ import annotations

import re

from tallystick.catalog.programs import Program
from tallystick.intent.programs.arguments import below, grammar, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, grammar_of
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_CONFIG = "-c --config --config-file --configuration --rcfile --settings-path --tsconfig -p --project --ignore-path"


def _is_deep(word: Word) -> bool:
    """A path without a suffix may be a folder."""
    return "." not in word.text.rstrip("/").rpartition("/")[2].lstrip(".")


def checker(entry: Program) -> Rule:
    """A checker: it reads what it names, and edits it with one of `fixes`, or `always` but for `unless`."""
    rules = grammar(
        f"{entry.takes} {_CONFIG} -o --output --output-file --format --select --ignore --exclude --extend-exclude"
    )
    verbs, kept, options = entry.verbs.split(), entry.unless.split(), entry.fixes.split()

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        if line.operand(0) in verbs:
            operands = line.operands[1:]
        else:
            operands = line.operands
        is_format = entry.always or (bool(verbs) and line.operand(0) in ("format", "fmt"))
        edits = (is_format and not line.has(*kept)) or line.has(*options)
        if line.has("--version", "--help", "-h", "-V"):
            return built.build()
        paths = operands or ([Word(entry.default)] if entry.default else [])
        own = command.words[:1] if not operands else ()
        sources = []
        for word in paths:
            if word.text == "-":
                built.reads_input = True
            else:
                sources.append(
                    built.add(Operation.EDIT if edits else Operation.READ, word, words=own, deep=_is_deep(word))
                )
        written = [built.write(word) for word in line.values("-o", "--output", "--output-file")]
        built.flow(sources, written)
        if not edits and not written:
            built.show(*sources)
        return built.build()

    return rule


def test_runner(entry: Program) -> Rule:
    """A test runner: it runs the files that it names, or those below the folder."""
    rules, verbs = grammar(entry.takes), entry.verbs.split()

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        if line.has("--version", "--help", "-h", "-V"):
            return built.build()
        if line.operand(0) in verbs:
            operands = line.operands[1:]
        else:
            operands = line.operands
        for word in operands or [Word(".")]:
            path = Word(word.text.partition("::")[0], word.hidden, word.commands)
            built.add(Operation.EXECUTE, path, words=(word,) if operands else command.words[:1], deep=_is_deep(path))
        for word in line.values(
            "--junitxml", "--junit-xml", "--log-file", "--html", "--json-report-file", "--outputFile"
        ):
            built.write(word)
        return built.build()

    return rule


_TSC = grammar_of("tsc")


def _tsc(command: Command) -> Actions:
    """`tsc FILE…`: a script beside each file, or below the folder of `--outDir`; without files the project says which."""
    line = taken(command.arguments, _TSC)
    built = Builder()
    if line.has("--version", "-v", "--help", "-h", "--init"):
        return built.build()
    folder, whole = line.value("--outDir"), line.value("--outFile")
    sources = [built.read(word) for word in line.operands]
    is_silent = line.has("--noEmit")
    if not line.operands:
        project = line.value("-p", "--project", "-b") or Word("tsconfig.json")
        is_file = project.text.endswith(".json")
        if is_file:
            path = project
        else:
            path = below(project, Word("tsconfig.json"))
        sources = [built.add(Operation.READ, path, words=(project,) if project in command.words else command.words[:1])]
        built.is_unknown = not (is_silent or folder or whole)
    made: list[int | None] = []
    if not is_silent:
        made = [built.write(word, deep=word is folder) for word in (folder, whole) if word is not None]
        built.flow(sources, made)
    for at, word in zip(sources, line.operands if not (is_silent or made) else [], strict=False):
        built.flow([at], [built.write(renamed(word, re.sub(r"\.([cm]?)tsx?$", r".\1js", word.text)), words=(word,))])
    return built.build()


RULES: dict[str, Rule] = {
    "tsc": _tsc,
}
