"""Package managers: what they fetch and where they put it.

Owns pip, npm, cargo, gem and similar, and those of a whole machine: apt, dnf, apk, pacman, brew. A package is named as
a package URL (`pkg:pypi/requests`), whichever index it comes from; a change of the machine is also an elevation whose
target is the program's name. Sources: the manuals of each; package-url/purl-spec for the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from tallystick.catalog.programs import Program, arguments_of, names_of, programs_with
from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Grammar, Line, below, grammar, last_part, names, renamed, taken
from tallystick.intent.programs.rules import NOTHING, Builder, Rule, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Word

RULES = Rules()

LOCAL = pattern_of(r"(?:\.{1,2}(?:/|$)|/|~/|file:).*|.*\.(?:whl|tar\.gz|tgz|deb|rpm|gem|zip|apk|jar)$", re.DOTALL)
_URL = pattern_of(
    r"(?:[\w.-]+(?:\[[^\]]*\])? *@ *)?(?:(?:git|hg|svn|bzr)\+)?(?:https?|ssh|git)(?:\+\w+)?://|git@|(?:github|gitlab|bitbucket|gist):",
    re.DOTALL,
)
_OF_GITHUB = pattern_of(r"[A-Za-z0-9][\w-]*/[\w.-]+(?:#.*)?", re.DOTALL)
"""`npm` takes `owner/name` for a repository."""
_HERE = Word(".")


class _Manager(msgspec.Struct, frozen=True, kw_only=True):
    """One package manager."""

    kind: str
    grammar: Grammar
    installs: frozenset[str]
    removes: frozenset[str]
    sends: frozenset[str]
    fetches: frozenset[str]
    """Asks the index and installs nothing."""
    runs: frozenset[str]
    """Runs what the words do not tell."""
    folder: str = ""
    """Where packages of the project are put."""
    manifest: str = ""
    is_system: bool = False
    """It changes the whole machine."""


def manager(entry: Program) -> Rule:
    """The rule of a package manager: which of its verbs do what, and where packages and their list are kept."""
    known = _Manager(
        kind=entry.registry,
        grammar=grammar(entry.takes),
        installs=names(entry.installs),
        removes=names(entry.removes),
        sends=names(entry.sends),
        fetches=names(entry.fetches),
        runs=names(entry.runs),
        folder=entry.folder,
        manifest=entry.manifest,
        is_system=entry.system,
    )

    def rule(command: Command) -> Actions:
        return _managed(known, command)

    return rule


_FOLDERS = ("-t", "--target", "--prefix", "-C", "--cwd", "--dir", "--directory", "--root")
_LISTS = ("-r", "--requirement", "-c", "--constraint", "--file", "--requirements")


def _managed(entry: _Manager, command: Command) -> Actions:
    line = taken(command.arguments, entry.grammar)
    verb = line.operand(0)
    built = Builder()
    if verb in entry.runs:
        return _script(entry, line)
    if verb in entry.installs or (
        not verb and "" in entry.installs and not line.has("--version", "-v", "--help", "-h")
    ):
        _install(entry, built, line, command)
    elif verb in entry.removes:
        _removed(entry, built, line, command)
    elif verb in entry.sends:
        named = [word for word in line.operands[1:] if entry.kind != "npm" or LOCAL.match(word.text)]
        sent = [built.read(word, deep="." not in last_part(word.text)) for word in named]
        built.flow(sent, [built.add(Operation.SEND, Word(f"pkg:{entry.kind}"), words=tuple(line.operands[:1]))])
    elif verb in entry.fetches:
        for word in line.operands[1:] or [Word("")]:
            words = tuple(line.operands[:1])
            if word.text:
                words = (word,)
            built.show(
                built.add(
                    Operation.FETCH,
                    package_of(entry.kind, word),
                    words=words,
                )
            )
    return built.build()


def _script(entry: _Manager, line: Line) -> Actions:
    """A script that the list of packages names: what it does stands there."""
    built = Builder()
    if entry.manifest:
        where = below(line.value(*_FOLDERS), Word(entry.manifest))
        built.add(Operation.EXECUTE, where, words=tuple(line.operands[:2]))
    built.is_unknown = True
    return built.build()


def _install(entry: _Manager, built: Builder, line: Line, command: Command) -> None:
    where = line.value(*_FOLDERS)
    own = tuple(line.operands[:1]) or command.words[:1]
    read = [built.read(word) for word in line.values(*_LISTS)]
    sources: list[int | None] = []
    for word in [*line.operands[1:], *line.values("-e", "--editable")]:
        sources.append(_source(entry, built, word))
    if not sources and entry.manifest:
        sources.append(built.add(Operation.READ, below(where, Word(entry.manifest)), words=own))
    elif sources and entry.manifest and not line.has("-g", "--global", "--no-save"):
        built.flow(read, [built.add(Operation.EDIT, below(where, Word(entry.manifest)), words=own)])
    if entry.is_system:
        built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:1])
    elif entry.folder and not line.has("-g", "--global"):
        built.flow(sources, [built.add(Operation.EDIT, below(where, Word(entry.folder)), words=own, deep=True)])
    elif where is not None:
        built.flow(sources, [built.add(Operation.EDIT, where, deep=True)])


def _source(entry: _Manager, built: Builder, word: Word) -> int | None:
    """A package, a URL or a path."""
    if (url := _url_in(entry.kind, word)) is not None:
        return built.add(Operation.FETCH, url, words=(word,))
    folder = word.plain.partition("[")[0]
    if folder in (".", ".."):  # with extras: `.[dev]`
        return built.add(Operation.READ, renamed(word, folder), words=(word,), deep=True)
    if LOCAL.fullmatch(word.text):
        path = renamed(word, word.text.removeprefix("file:").partition("[")[0])
        return built.add(Operation.READ, path, words=(word,), deep=not re.search(r"\.\w+$", path.text))
    return built.add(Operation.FETCH, package_of(entry.kind, word), words=(word,))


def _url_in(kind: str, word: Word) -> Word | None:
    """The URL or repository that is in the place of a package's name; None if it is a name."""
    text = word.text
    if _URL.match(text):
        start = 0
        if "@ " in text[:200]:
            start = text.find("@ ") + 1
        name, at, url = text.partition("@")
        if not start and at and "://" in url and "://" not in name and ":" not in name:
            start = len(name) + 1
        if start:
            return renamed(word, text[start:].strip())
        return word
    if kind == "npm" and _OF_GITHUB.fullmatch(text):
        return renamed(word, f"github:{text}")
    return None


def package_of(kind: str, word: Word) -> Word:
    """The package URL of a name as its manager writes it, with the version if one is known exactly."""
    text = word.text
    version = ""
    if kind in ("pypi", "deb", "apk"):
        found = re.fullmatch(r"([^\s=<>!~\[;]+)(?:\[[^\]]*\])?(?:={1,2}([^\s,;*]+))?(?P<more>.*)", text, re.DOTALL)
        if found is not None:
            text, version = found[1], found[2] or ""
        else:
            text, version = text, ""
    elif kind in ("npm", "golang", "cargo"):
        name, at, told = text[:1], "", ""
        rest, at, told = text[1:].partition("@")
        text, version = name + rest, told if at else ""
    is_hole = HOLE in text and not text.strip(HOLE)
    if is_hole:
        return renamed(word, HOLE)
    if version:
        version = f"@{version}"
    return renamed(word, f"pkg:{kind}/{text}{version}")


def fetched(built: Builder, kind: str, word: Word) -> int | None:
    """Take a package that is fetched from its index, or from a URL."""
    url = _url_in(kind, word)
    return built.add(Operation.FETCH, package_of(kind, word) if url is None else url, words=(word,))


def _removed(entry: _Manager, built: Builder, line: Line, command: Command) -> None:
    if entry.is_system:
        built.add(Operation.ELEVATE, renamed(command.words[0], command.program), words=command.words[:1])
        return
    where = line.value(*_FOLDERS)
    if entry.manifest and not line.has("-g", "--global"):
        built.add(Operation.EDIT, below(where, Word(entry.manifest)), words=tuple(line.operands))
    if entry.folder and not line.has("-g", "--global"):
        built.add(Operation.EDIT, below(where, Word(entry.folder)), words=tuple(line.operands), deep=True)


_PIP, _PIP_LINE = manager(arguments_of("pip")), grammar_of("pip")


def _pip(command: Command) -> Actions:
    """`pip`; `download -d` and `wheel -w` write packages, `freeze` and `list` tell what is there."""
    line = taken(command.arguments, _PIP_LINE)
    verb = line.operand(0)
    if verb not in ("download", "wheel"):
        return _PIP(command)
    built = Builder()
    for word in line.values("-r", "--requirement"):
        built.read(word)
    pip = _Manager(
        kind="pypi",
        grammar=grammar(),
        installs=frozenset(),
        removes=frozenset(),
        sends=frozenset(),
        fetches=frozenset(),
        runs=frozenset(),
    )
    sources = [_source(pip, built, word) for word in line.operands[1:]]
    into = line.value("-d", "--dest", "-w", "--wheel-dir") or _HERE
    words = tuple(line.operands[:1])
    if into is not _HERE:
        words = (into,)
    built.flow(
        sources,
        [built.add(Operation.WRITE, into, words=words, deep=True)],
    )
    return built.build()


def _uv(command: Command) -> Actions:
    """`uv`: `pip` as pip's own, `run` another program, the rest a manager of the project."""
    words = [word for word in command.arguments if word.text[:1] != "-"]
    verb = ""
    if words:
        verb = words[0].text
    at = 0
    if verb:
        at = next((n for n, word in enumerate(command.arguments) if word.text == verb), 0)
    rest = command.arguments[at:]
    if verb == "pip":
        return _pip(msgspec.structs.replace(command, words=rest))
    if verb == "venv":
        built = Builder()
        for word in words[1:] or [Word(".venv")]:
            built.add(Operation.CREATE, word, words=tuple(words[:1]), deep=True)
        return built.build()
    if verb in ("run", "tool", "build", "x"):
        return _uv_run(rest)
    return _UV(command)


def _uv_run(words: tuple[Word, ...]) -> Actions:
    """`uv run FILE.py` runs a file; the name of a program is found in the environment."""
    line = taken(
        words[1:],
        grammar(
            "--with --python -p --project --directory --env-file --extra --group --from --package --index", stops=True
        ),
    )
    built = Builder()
    if line.operand(0).endswith((".py", ".sh")):
        built.run(line.operands[0])
    else:
        built.is_unknown = bool(line.operands)
    return built.build()


_UV = manager(arguments_of("uv"))


_YARN, _YARN_LINE = manager(arguments_of("yarn")), grammar_of("yarn")
_YARN_OWN = names_of("yarn", "own")


def _yarn(command: Command) -> Actions:
    """`yarn`: alone it installs; a word that is not a command of its own is a script of the project."""
    line = taken(command.arguments, _YARN_LINE)
    verb = line.operand(0)
    if not verb:
        if line.has("--version", "-v", "--help", "-h"):
            return NOTHING
        return _YARN(msgspec.structs.replace(command, words=(*command.words, Word("install"))))
    own = verb in _YARN_OWN
    if own:
        return _YARN(command)
    return _YARN(msgspec.structs.replace(command, words=(*command.words[:1], Word("run"), *command.words[1:])))


def _runs_package(command: Command) -> Actions:
    """`npx PROGRAM`, `uvx`, `pipx run`: a program of the tables does as ever; another package is fetched and run."""
    line = taken(command.arguments, _RUNNER)
    built = Builder()
    kind = "npm"
    if command.program in ("uvx", "pipx"):
        kind = "pypi"
    operands, runs = line.operands, True
    if command.program == "pipx":
        runs = line.operand(0) == "run"
        if line.operand(0) not in ("run", "install", "upgrade", "inject"):
            return NOTHING
        inner = taken(operands[1:], _PIPX)
        line.options += inner.options
        operands = inner.operands
    rule = None
    if operands and runs:
        rule = _look[0](operands[0].text.partition("@")[0])
    if rule is not None:
        return rule(msgspec.structs.replace(command, words=tuple(operands)))
    for word in [*line.values("-p", "--package", "--from", "--with", "--spec"), *operands[:1]]:
        fetched(built, kind, word)
    built.is_unknown = bool(operands) and runs
    return built.build()


RUNNERS = programs_with("runs-packages")
_RUNNER = grammar_of("npx", "runner")
_PIPX = grammar_of("npx", "pipx")


_look: list[Callable[[str], Rule | None]] = []


def run_by_name(look: Callable[[str], Rule | None]) -> None:
    """What finds a program that `npx`, `uvx` and `pipx` run by its name."""
    _look[:] = [look]


_CHANGES = names_of("pacman", "changes")
_ASKS = {"rpm": frozenset({"-q", "-V", "--query"}), "pacman": frozenset({"-Q", "-F"})}


@RULES.of("lettered", grammar("--root --dbpath --config --prefix"))
def _lettered(built: Builder, line: Line, command: Command) -> None:
    """`pacman -S`, `rpm -i`, `dpkg -i`: what is done is in a letter."""
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
        return
    is_removal = bool(changes & {"-R", "-e", "-r", "-P", "--remove", "--purge", "--erase"})
    for word in () if is_removal else line.operands:
        is_file = bool(LOCAL.fullmatch(word.text)) or name == "dpkg"
        operation = Operation.FETCH
        if is_file:
            operation = Operation.READ
        built.add(operation, word if is_file else package_of(kind, word), words=(word,))
    built.add(Operation.ELEVATE, Word(name), words=command.words[:1])


RULES |= {
    "pip": _pip,
    "uv": _uv,
    "runs-package": _runs_package,
    "yarn": _yarn,
}
