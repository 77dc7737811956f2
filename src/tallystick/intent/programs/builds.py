"""Programs that compile, test, check and format source code, and those that drive them.

Owns what the words of a compiler name (sources in, results out), and which checkers read the files that they name,
which edit them (formatters, `--fix`) and which run them (test runners). What a target of a Makefile does is in that
file, and what the tests of a project do is in them: such a command is unknown by its words. Sources: gcc(1), ld(1),
make(1), cmake(1), go help, cargo help, rustc --help, javac(1), tsc --help; pytest --help, the manuals of ruff, black,
mypy, eslint, prettier, jest.
"""

from __future__ import annotations

import re

import msgspec

from tallystick.catalog.programs import Program, arguments_of, programs
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import Line, below, grammar, is_fed, last_part, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, Rules, grammar_of, plain
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

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
        if not operands:
            own = command.words[:1]
        else:
            own = ()
        sources = []
        for word in paths:
            if word.text == "-":
                built.reads_input = True
            else:
                operation = Operation.READ
                if edits:
                    operation = Operation.EDIT
                sources.append(built.add(operation, word, words=own, deep=_is_deep(word)))
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
            words = command.words[:1]
            if operands:
                words = (word,)
            built.add(Operation.EXECUTE, path, words=words, deep=_is_deep(path))
        for word in line.values(
            "--junitxml", "--junit-xml", "--log-file", "--html", "--json-report-file", "--outputFile"
        ):
            built.write(word)
        return built.build()

    return rule


@RULES.of("tsc")
def _tsc(built: Builder, line: Line, command: Command) -> None:
    """`tsc FILE…`: a script beside each file, or below the folder of `--outDir`; without files the project says which."""
    if line.has("--version", "-v", "--help", "-h", "--init"):
        return
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
        words = command.words[:1]
        if project in command.words:
            words = (project,)
        sources = [built.add(Operation.READ, path, words=words)]
        built.is_unknown = not (is_silent or folder or whole)
    made: list[int | None] = []
    if not is_silent:
        made = [built.write(word, deep=word is folder) for word in (folder, whole) if word is not None]
        built.flow(sources, made)
    for at, word in zip(sources, line.operands if not (is_silent or made) else [], strict=False):
        built.flow([at], [built.write(renamed(word, re.sub(r"\.([cm]?)tsx?$", r".\1js", word.text)), words=(word,))])


_HERE = Word(".")

# C and its like --------------------------------------------------------------------------------------------------------

_CC = grammar_of("gcc")
_OBJECT = {"-c": ".o", "-S": ".s"}


@RULES.of("compiles", _CC)
def _compiles(built: Builder, line: Line, command: Command) -> None:
    """`cc`: without `-o` the result is `a.out`, or with `-c` an object file in the working folder."""
    sources = [built.read(word) for word in [*line.operands, *line.values("-include", "-imacros", "-T")]]
    output = line.value("-o")
    joined = next(
        (renamed(word, word.text[2:]) for word in command.arguments[:500] if re.match(r"-o[^b-]", word.text)), None
    )
    output = output or joined
    suffix = next((_OBJECT[name] for name, _ in line.options if name in _OBJECT), None)
    if output is not None:
        built.flow(sources, [built.write(output)])
        if output.text == "-":
            built.show(*sources)
    elif line.has("-E", "-M", "-MM", "-fsyntax-only") or not line.operands:
        built.show(*sources)
    elif suffix is not None:
        for at, word in zip(sources, line.operands, strict=False):
            name = f"{last_part(word.text).rpartition('.')[0]}{suffix}"
            built.flow([at], [built.write(renamed(word, name))])
    else:
        built.flow(sources, [built.write(Word("a.out"), words=command.words[:1])])
    for word in line.values("-MF"):
        built.write(word)
    _included(command, built)


_INCLUDES = pattern_of(
    r"""(?:#[ \t]*include|\.inc(?:bin|lude)|\binclude(?:_str|_bytes)?!\(?)[ \t]*["<]([^">\n]{1,400})[">]"""
)


def _included(command: Command, built: Builder) -> None:
    """Files by their whole path that a source on the input takes into itself."""
    text = ""
    if command.input is not None:
        text = command.input.plain[:20_000]
    built.show(*[built.read(Word(path)) for path in _INCLUDES.findall(text)[:64] if path.startswith(("/", "~", ".."))])


@RULES.of("rustc")
def _rustc(built: Builder, line: Line, command: Command) -> None:
    """`rustc FILE`: the result has the name of the source."""
    sources = [built.read(word) for word in line.operands]
    _included(command, built)
    output, folder = line.value("-o"), line.value("--out-dir")
    if line.operands:
        name = renamed(line.operands[0], last_part(line.operands[0].text).removesuffix(".rs"))
        made = output or below(folder, name)
        built.flow(sources, [built.write(made, words=(output or line.operands[0],))])


@RULES.of("javac")
def _javac(built: Builder, line: Line, command: Command) -> None:
    """`javac FILE.java`: classes beside the source, or below the folder of `-d`."""
    folder = line.value("-d")
    for word in line.operands:
        at = built.read(renamed(word, word.text[1:]) if word.text.startswith("@") else word)
        if folder is None and word.text.endswith(".java"):
            built.flow([at], [built.write(renamed(word, f"{word.text.removesuffix('.java')}.class"), words=(word,))])
    if folder is not None:
        sources = range(len(built.actions))
        built.flow(list(sources), [built.write(folder, deep=True)])


# make and its like ------------------------------------------------------------------------------------------------------


@RULES.of("make")
def _make(built: Builder, line: Line, command: Command) -> None:
    """`make [-C FOLDER] [-f FILE] TARGET…`: the file is run; what it does is in it."""
    if line.has("--version", "-v", "--help", "-h"):
        return
    folder: Word | None = None
    for word in line.values("-C", "--directory"):
        folder = below(folder, word)
    files = line.values("-f", "--file", "--makefile")
    for word in files or [Word("Makefile")]:
        words = command.words[:1]
        if files:
            words = ()
        built.add(Operation.EXECUTE, below(folder, word), words=words)
    is_dry = line.has("-n", "--dry-run", "--just-print", "--question", "-q")
    if not is_dry and any(word.text.startswith("install") for word in line.operands):
        for word in line.operands:
            name, equals, value = word.text.partition("=")
            if equals and name in _INSTALLS_INTO and value:
                built.add(Operation.WRITE, renamed(word, value), words=(word,), deep=True)
    built.is_unknown = not is_dry


_INSTALLS_INTO = frozenset({"DESTDIR", "PREFIX", "prefix", "INSTALL_ROOT", "INSTALL_PREFIX"})


_TASKS = grammar_of("ninja")


@RULES.of("task", _TASKS)
def _task(built: Builder, line: Line, command: Command) -> None:
    """Programs that run what a file of the folder says: `ninja`, `just`, `gradle`, `tox`."""
    if line.has("--version", "--help", "-h", "-V", "-l", "--list", "-T"):
        return
    folder = line.value("-C", "-d", "--working-directory", "--directory", "--project-dir", "-p")
    file = line.value("-f", "-F", "-b", "--file", "--justfile", "--build-file", "--taskfile", "--rakefile")
    entry = programs().get(last_part(command.program).rstrip("0123456789.-"))
    name = "Makefile"
    if entry is not None and entry.manifest:
        name = entry.manifest
    words = command.words[:1]
    if file is not None:
        words = (file,)
    built.add(Operation.EXECUTE, below(folder, file or Word(name)), words=words)
    built.is_unknown = True


@RULES.of("cmake")
def _cmake(built: Builder, line: Line, command: Command) -> None:
    """`cmake -S SOURCE -B BUILD`, `--build FOLDER`, `-P SCRIPT`, `-E COMMAND`."""
    if line.has("-E"):
        built.is_unknown = True
    for word in line.values("-P"):
        built.add(Operation.EXECUTE, word)
        built.is_unknown = True
    folder = line.value("--build", "--install")
    if folder is not None:
        built.add(Operation.EDIT, folder, deep=True)
        if line.has("--install"):
            for word in line.values("--prefix"):
                built.add(Operation.WRITE, word, deep=True)
        built.is_unknown = True
    elif not built.is_unknown and not line.has("--version", "--help"):
        source = line.value("-S") or (line.operands[0] if line.operands else _HERE)
        words = command.words[:1]
        if source is not _HERE:
            words = (source,)
        built.add(
            Operation.EXECUTE,
            below(source, Word("CMakeLists.txt")),
            words=words,
        )
        target = line.value("-B") or _HERE
        built.add(Operation.WRITE, target, words=(target,) if target is not _HERE else command.words[:1], deep=True)


_DEBUGGER = grammar_of("gdb")


@RULES.of("debugs", _DEBUGGER)
def _debugs(built: Builder, line: Line, command: Command) -> None:
    """Debuggers: the program is run, and the commands of `-x` and `-ex`."""
    if command.program in ("perf", "rr"):
        operands = line.operands[1:]
    else:
        operands = line.operands
    for word in operands[:1]:
        built.add(Operation.EXECUTE, word)
    for word in line.values("--log-file"):
        built.write(word)
    if command.program in ("gdb", "lldb"):
        built.codes = [Code("gdb", word) for word in line.values("-ex", "--eval-command", "-o", "--one-line")]
    built.is_unknown = is_fed(command)


_LINKER = plain(arguments_of("ld"))


def _assembles(command: Command) -> Actions:
    """`as`, `nasm`: a source, or the input, becomes an object file."""
    built = Builder()
    _included(command, built)
    done = _LINKER(command)
    if not built.actions:
        return done
    more = built.build()
    return msgspec.structs.replace(done, actions=(*done.actions, *more.actions))


RULES |= {
    "assembles": _assembles,
}
