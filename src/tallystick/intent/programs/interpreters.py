"""Programs that run code: a file of it, a word, a module, or what they are fed.

Owns where the code of python, node, perl, ruby, php, the shells and Java stands among their words. Must not know what
the code does. Sources: python(1), node(1), perlrun(1), ruby(1), php(1), bash(1), deno and bun's own help.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tallystick.catalog.programs import Program, arguments_of, words_of
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import Grammar, Line, fed_file, grammar, is_fed, renamed, sentence, taken
from tallystick.intent.programs.rules import NOTHING, UNTOLD, Builder, Rule, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

RULES = Rules()


class _Interpreter(msgspec.Struct, frozen=True):
    """Where an interpreter's code stands."""

    language: str
    grammar: Grammar
    code: tuple[str, ...]
    """Options whose value is code."""
    in_place: str = ""
    """The option that makes it edit the files after the code."""
    loops: tuple[str, ...] = ()
    """Options that make it read the files after the code, or its input."""
    runs: tuple[str, ...] = ()
    """Options whose value is a file that it runs first."""


def interpreter(entry: Program) -> Rule:
    """A program that runs code of one language: a file, or what an option gives it."""
    known = _Interpreter(
        entry.language,
        grammar(f"{entry.takes} {entry.code} {entry.runs}", stops=True, is_long=entry.long),
        tuple(entry.code.split()),
        entry.in_place,
        tuple(entry.loops.split()),
        tuple(entry.runs.split()),
    )

    def rule(command: Command) -> Actions:
        return _interpreted(known, command)

    return rule


_PIPED = frozenset({"javascript", "perl", "ruby", "php"})
"""Languages whose interpreters' piped input `effects` looks after."""
_INFORMS = words_of("php", "informs")


def _interpreted(entry: _Interpreter, command: Command) -> Actions:
    line = taken(command.arguments, entry.grammar)
    built = Builder()
    for word in line.values(*entry.runs):
        built.run(word)
    texts = line.values(*entry.code)
    built.codes = [Code(entry.language, text) for text in texts]
    if texts:
        _loops(entry, line, built)
    elif line.operands and line.operands[0].text not in ("-", "/dev/stdin"):
        built.run(line.operands[0])
    elif command.input is not None and not line.has(*_INFORMS):
        built.codes = [Code(entry.language, command.input)]
    elif (file := fed_file(command)) is not None:
        built.run(file)
    else:
        built.is_unknown = is_fed(command) and not (command.inputs and entry.language in _PIPED)
    return built.build()


def _loops(entry: _Interpreter, line: Line, built: Builder) -> None:
    """`perl -pe`, `ruby -ne`: the files after the code are read, or edited with `-i`."""
    edits = bool(entry.in_place) and line.has(entry.in_place)
    if not edits and not line.has(*entry.loops):
        return
    for word in line.operands:
        if edits:
            at = built.author(Operation.EDIT, word)
            built.back_up(at, word, line.said(entry.in_place))
        else:
            built.show(built.read(word))
    built.reads_input = built.reads_input or not line.operands


# Python ---------------------------------------------------------------------------------------------------------------

_PYTHON = grammar("-c -m -W -X -Q", stops=True)
Look = Callable[[str], Rule | None]
_look: list[Look] = []
"""Finds what a module of Python does."""


def _python(command: Command) -> Actions:
    """`python`: `-c` and `-m` end its own options."""
    words, at = command.arguments, 0
    built = Builder()
    while at < len(words) and words[at].text[:1] == "-" and words[at].text != "-":
        text = words[at].text
        letters = ""
        if text[1:2] != "-":
            letters = text[1:]
        if "c" in letters and not letters.startswith(("W", "X")):
            code = letters.partition("c")[2]
            if code:
                value = renamed(words[at], code)
            elif at + 1 < len(words):
                value = words[at + 1]
            else:
                value = None
            built.codes += [Code("python", value)] if value is not None else []
            return built.build()
        if "m" in letters and not letters.startswith(("W", "X")):
            name = letters.partition("m")[2]
            rest = (renamed(words[at], name), *words[at + 1 :]) if name else words[at + 1 :]
            return _module(command, rest)
        at += 2 if text in ("-W", "-X", "-Q") else 1
    rest = words[at:]
    if rest and rest[0].text not in ("-", "/dev/stdin"):
        built.run(rest[0])
    elif command.input is not None:
        built.codes = [Code("python", command.input)]
    elif (file := fed_file(command)) is not None:
        built.run(file)
    else:
        built.is_unknown = is_fed(command) and not command.inputs  # of a pipe, `effects` knows more
    return built.build()


def _module(command: Command, words: tuple[Word, ...]) -> Actions:
    """`python -m NAME …`."""
    if not words:
        return NOTHING
    name = words[0].text
    rule = next((rule for look in _look if (rule := look(name)) is not None), None)
    if rule is None:
        return UNTOLD
    return rule(msgspec.structs.replace(command, words=words))


def run_as_modules(look: Look) -> None:
    """What `python -m` runs, by its name."""
    _look.append(look)


_SERVER = grammar_of("python", "server")


@RULES.of("serves", _SERVER)
def _serves(built: Builder, line: Line, command: Command) -> None:
    """`http.server`: all below a folder can be fetched."""
    if line.operands:
        port = line.operands[0]
    else:
        port = Word("8000")
    host = line.said("-b", "--bind")
    source = built.add(Operation.READ, line.value("-d", "--directory") or Word("."), words=command.words[:1], deep=True)
    words = command.words[:1]
    if line.operands:
        words = (port,)
    target = built.add(Operation.LISTEN, renamed(port, f"{host}:{port.text}"), words=words)
    built.flow([source], [target])


def _archives(command: Command) -> Actions:
    """`python -m zipfile`, `tarfile`: `-c ARCHIVE MEMBER…`, `-e ARCHIVE FOLDER`, `-l ARCHIVE`."""
    words = command.arguments
    if words:
        option, rest = words[0].text, words[1:]
    else:
        option, rest = "", ()
    built = Builder()
    if option in ("-c", "--create") and rest:
        members = [built.read(word, deep=True) for word in rest[1:]]
        built.flow(members, [built.write(rest[0])])
    elif option in ("-e", "--extract") and rest:
        if len(rest) > 1:
            into = rest[1]
        else:
            into = Word(".")
        source = built.read(rest[0])
        built.flow([source], [built.add(Operation.WRITE, into, words=(rest[-1],), deep=True)])
    elif rest:
        built.show(built.read(rest[0]))
    return built.build()


@RULES.of("profiles", grammar("-o -s -m --rcfile --source --omit --include --data-file -c", stops=True))
def _profiles(built: Builder, line: Line, command: Command) -> None:
    """Modules that run another file: `cProfile`, `pdb`, `trace`, `coverage run`."""
    operands = line.operands
    if operands and operands[0].text == "run" and command.program == "coverage":
        operands = taken(operands[1:], grammar("--source -m --rcfile --omit --data-file", stops=True)).operands
    elif command.program == "coverage":
        return
    for word in operands[:1]:
        built.run(word)
    for word in line.values("-o"):
        built.write(word)


_TESTS = grammar_of("python", "tests")


@RULES.of("tests", _TESTS)
def _tests(built: Builder, line: Line, command: Command) -> None:
    """`unittest`: files by their path; modules by their name are somewhere below the folder."""
    files = [word for word in line.operands if word.text.endswith(".py")]
    for word in files:
        built.add(Operation.EXECUTE, word)
    if not files:
        folder = line.value("-s", "--start-directory")
        words = command.words[:1]
        if folder is not None:
            words = (folder,)
        built.add(Operation.EXECUTE, folder or Word("."), words=words, deep=True)


# Shells, Java and others ----------------------------------------------------------------------------------------------

_SHELL = grammar_of("bash")


@RULES.of("shell", _SHELL)
def _shell(built: Builder, line: Line, command: Command) -> None:
    """`bash FILE`; the text of `-c` is read in its place by the reader."""
    operands = [word for word in line.operands if not word.text.startswith("+")]
    if operands and not line.has("-c", "-s") and operands[0].text not in ("-", "/dev/stdin"):
        built.run(operands[0])


def _sources(command: Command) -> Actions:
    """`source FILE`, `. FILE`."""
    built = Builder()
    words = [word for word in command.arguments[:2] if word.text != "--"]
    if words and words[0].text not in ("/dev/stdin", "-"):
        built.run(words[0])
    return built.build()


@RULES.of("java")
def _java(built: Builder, line: Line, command: Command) -> None:
    """`java -jar FILE`, `java File.java`, `java Class`: a class is found on the class path, which is read."""
    jar = line.value("-jar")
    if jar is not None:
        built.add(Operation.EXECUTE, jar)
    elif line.operands and line.operands[0].text.endswith((".java", ".jar")):
        built.run(line.operands[0])
    else:
        path = line.value("-cp", "-classpath", "--class-path")
        if path is not None:
            for part in path.text.split(":")[:64]:
                if part:
                    is_folder = not part.endswith((".jar", "*"))
                    built.add(Operation.EXECUTE, renamed(path, part), deep=is_folder)
        built.is_unknown = bool(line.operands) and path is None


_DENO = grammar_of("deno")


def _deno(command: Command) -> Actions:
    """`deno run FILE`, `deno eval CODE`, `bun FILE`, `bun run FILE`."""
    rules = grammar("-e -p --eval --print --cwd", stops=True) if command.program == "bun" else _DENO
    line, built = taken(command.arguments, rules), Builder()
    verb = line.operand(0)
    built.codes = [Code("javascript", word) for word in line.values("-e", "-p", "--eval", "--print")]
    inner = taken(tuple(line.operands[1:]), _DENO)
    if verb == "eval":
        built.codes += [Code("javascript", word) for word in inner.operands[:1]]
    elif verb in ("run", "test", "bench", "serve", "x"):
        for word in inner.operands[:1] if inner.operand(0) != "-" else ():
            if word.text.startswith(("http:", "https:", "npm:", "jsr:")):
                built.add(Operation.FETCH, word)
                built.is_unknown = True
            elif "." in word.text or "/" in word.text:
                built.run(word)
            else:
                built.add(Operation.EXECUTE, Word("package.json"), words=(word,))
                built.is_unknown = True
    elif verb == "fmt":
        for word in inner.operands or [Word(".")]:
            built.add(Operation.EDIT, word, words=() if inner.operands else command.words[:1], deep=True)
    elif verb in ("install", "add", "i", "remove", "upgrade", "cache", "compile", "build", "task", "publish"):
        built.is_unknown = True
    elif "." in verb or "/" in verb:
        built.run(line.operands[0])
    return built.build()


_PHP = interpreter(arguments_of("php"))
_PHP_LINE = grammar(f"{arguments_of('php').takes} {arguments_of('php').code}", stops=True)


def _php(command: Command) -> Actions:
    """`php`: `-S HOST:PORT -t FOLDER` gives all below the folder to anyone who asks."""
    line = taken(command.arguments, _PHP_LINE)
    address = line.value("-S")
    if address is None:
        return _PHP(command)
    built = Builder()
    source = built.add(Operation.READ, line.value("-t") or Word("."), words=command.words[:1], deep=True)
    built.flow([source], [built.add(Operation.LISTEN, address, words=(address,))])
    for word in line.operands[:1]:
        built.run(word)
    return built.build()


_CRYSTAL = interpreter(arguments_of("crystal"))


def _crystal(command: Command) -> Actions:
    """`crystal eval CODE`, `crystal run FILE`."""
    words = command.words
    verb = ""
    if len(words) > 1:
        verb = words[1].text
    if verb == "eval" and len(words) > 2:
        return Actions(codes=(Code("other", sentence(words[2:])),))
    if verb in ("build", "tool", "docs", "init", "spec", "version", "env", "deps"):
        return NOTHING
    return _CRYSTAL(
        msgspec.structs.replace(command, words=(words[0], *words[2:])) if verb in ("run", "eval") else command
    )


_NODE = interpreter(arguments_of("node"))


def _node(command: Command) -> Actions:
    """`node FILE`, `node -e CODE`; `-pe` is one option."""
    words = tuple(Word("-e") if word.text == "-pe" else word for word in command.words)
    return _NODE(msgspec.structs.replace(command, words=words) if words != command.words else command)


_CMDLETS = (
    "Remove-Item Clear-Content Set-Content Add-Content Out-File Copy-Item Move-Item Rename-Item New-Item Get-Content "
    "Invoke-WebRequest Invoke-RestMethod Invoke-Expression Start-BitsTransfer Stop-Process Format-Volume Clear-Disk"
)


def _cmdlet(command: Command) -> Actions:
    """A cmdlet of PowerShell, where the shell of the call is one."""
    built = Builder()
    built.codes = [Code("powershell", sentence(command.words))]
    return built.build()


def _cmd(command: Command) -> Actions:
    """`cmd /c …`, `cmd /k …`: all that follows is one text."""
    built = Builder()
    words = command.arguments
    for n, word in enumerate(words[:20]):
        if word.plain.lower() in ("/c", "/k", "//c", "//k"):
            built.codes = [Code("batch", sentence(words[n + 1 :]))]
            return built.build()
    built.is_unknown = True
    return built.build()


RULES |= {
    "deno": _deno,
    "archives": _archives,
    "cmd": _cmd,
    "python": _python,
    "node": _node,
    "php": _php,
    "crystal": _crystal,
    "cmdlet": _cmdlet,
    "sources": _sources,
}
