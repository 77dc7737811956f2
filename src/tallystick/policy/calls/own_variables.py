"""The project's own `.env`, loaded for a program that the project runs: `source .env && npm start`.

Owns which ways of loading one there are, and what may stand beside it in the same text so that nothing shows a value. That
is a list of what is known to be work: whatever is not on it makes the loading a reading. Which programs run the project
says the catalogue (`runs-project`). Must not know which files are secrets, nor where a link leads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

from tallystick.catalog.programs import fact_of_programs
from tallystick.intent.shell.names import canonical
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role, Script, Word
from tallystick.policy.calls.launching import is_test_runner
from tallystick.policy.calls.reading import CallReading

_ENV = pattern_of(r".*/\.env(?:\.[\w.-]+)?")
_EXPANDS = pattern_of(r"\$\{|\(\(|\$(?!(?:PWD|HOME|PATH)\b)[A-Za-z_@*]")
"""What may put a value into a text, besides the output of a command."""
_NAMED = r"(?:[A-Z0-9]{1,20}_){0,3}(?:DATABASE|DB|PG|POSTGRES|POSTGRESQL)_(?:URL|URI|DSN)"
_ADDRESS = pattern_of(
    rf"(?<![\w./$-])(psql|pgcli)[ \t]+(?:(?:-d|--dbname)[ =])?(\"?)\$(?:{_NAMED}\b|\{{{_NAMED}\}})\2(?=[ \t;&|\n)]|\Z)"
)
"""The project's own database, named to its client by the variable that holds its address."""
_CLIENTS = frozenset(("psql", "pgcli"))
_NOT_OF_CLIENTS = pattern_of(
    r"-h.*|--host.*|-v.*|--set.*|--variable.*|\|.*|(?:-f)?[/~].*|(?:-f)?\.\./.*|.*\\.*", re.DOTALL
)
"""What shows variables, starts a program, or hands the address to another host."""
_SHOWS = pattern_of(
    r"(?i)(?:print|show|dump|echo|inspect|list).{0,9}(?:conf|env|setting|var|secret)|(?:.*[:_-])?(?:print)?env\Z"
)
"""What asks a program of the project, by its name, to show what it was given: `npm run dev -- --print-config`."""
_RUNS = fact_of_programs("runs-project")
_MOST_COMMANDS = 60
_ANY, _FILE = "ALWAYS", "FILE"
_SWITCHES = frozenset(("-a", "+a", "-e", "+e", "-u", "+u", "-o", "+o", "-ea", "-eu", "-euo", "allexport", "pipefail"))
_SOURCES = ("source", ".")
_SED = pattern_of(r"-[nrE]|s/[^/;\n]*/[^/;\n]*/g?|/[^/;\n]*/d|\S*\.env(?:\.[\w.-]+)?")
_CODE = frozenset(("-c", "-e", "-p", "-r", "--eval", "--print", "--command", "shell", "console", "runner", "dbshell"))
_TAKEN = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.LIST, Operation.EDIT, Operation.EXECUTE))


def loaded(reading: CallReading) -> frozenset[str]:
    """The files of variables that a call loads for the project's own programs, and does not show."""
    workspace = reading.workspace
    if workspace is None or workspace == reading.home:
        return frozenset()
    found = [intent for intent in reading.effects.intents if _takes(intent, workspace)]
    if not found or len(reading.texts) != 1 or _EXPANDS.search(_ADDRESS.sub(r"\1", reading.texts[0])) is not None:
        return frozenset()
    # Another script that loads one, and whatever else takes the file, is not accounted for.
    loads = Counter(word for script in reading.scripts[:1] for word in _loads(script, workspace))
    takes = Counter(intent.words[-1] for intent in found if intent.words and not intent.script)
    if len(found) != takes.total() or takes - loads:
        return frozenset()
    return frozenset(intent.target for intent in found)


def _takes(intent: Intent, workspace: str) -> bool:
    is_one = intent.domain is Domain.FILE and intent.operation in _TAKEN and intent.is_known
    return is_one and intent.target.startswith(f"{workspace}/") and _ENV.fullmatch(intent.target) is not None


def _loads(script: Script, workspace: str) -> Iterator[str]:
    """The words of a text that name a file to load, if nothing in the text shows what is in it."""
    commands = script.commands
    if len(commands) > _MOST_COMMANDS:
        return
    whole = [n for n in range(len(commands)) if _is_env(commands, n)]
    if set(script.opaque) - ({"program"} if whole else set()) or script.cycles:
        return
    filters = {n for n in range(len(commands)) if _is_filter(script, n, whole)}
    beside = [commands[n] for n in range(len(commands)) if n not in filters]
    if not all(_is_work(one, workspace) for one in beside):
        return
    is_run = any(_runs(_words(one)) for one in beside if one.role is Role.PROGRAM)
    for n, one in enumerate(commands):
        if is_run or _name(one.words) in _SOURCES:
            yield from (word.plain for word in one.words[1:] if n in filters or _name(one.words) in _SOURCES)


def _name(words: tuple[Word, ...]) -> str:
    return words[0].plain if words else ""


def _is_env(commands: tuple[Command, ...], n: int) -> bool:
    """Whether a command is what `env $(cat .env) PROGRAM` runs: its first word is what the file holds."""
    one, after = commands[n], commands[n + 1 : n + 2]
    is_given = len(one.words) > 1 and one.words[0].text == HOLE and bool(one.words[0].commands)
    return is_given and bool(after) and after[0].role is Role.WRAPPER and _name(after[0].spelled) == "env"


def _is_filter(script: Script, n: int, whole: list[int]) -> bool:
    """Whether a command is part of what takes a file apart for `export` or `env`: its output is in no word, file or pipe."""
    one = script.commands[n]
    if (
        one.role is not Role.PROGRAM
        or "PARTS" not in _RUNS.get(one.program, ())
        or one.redirects
        or n in script.outputs
    ):
        return False
    if one.program == "sed" and not all(_SED.fullmatch(word.plain) for word in one.arguments):
        return False
    for m, other in enumerate(script.commands):
        words = other.words[1:] if m in whole else other.words
        if any(n in word.commands for word in words) or (n in other.inputs and not _is_filter(script, m, whole)):
            return False
    return True


def _words(command: Command) -> tuple[Word, ...]:
    """The words of a command without those that a file of variables gave it."""
    if command.words and command.words[0].text == HOLE:
        return command.words[1:]
    return command.words


def _is_work(command: Command, workspace: str) -> bool:
    """Whether a command shows no variable: it runs the project, or stands beside that."""
    folder = command.folder
    is_here = folder is not None and (folder == workspace or folder.startswith(f"{workspace}/"))
    is_given = any(not each.writes for each in command.redirects) or (
        not command.inputs and (command.input or command.fed)
    )
    if not is_here or is_given:
        return False
    if command.role is Role.GROUP:
        return True
    if command.role is Role.WRAPPER:
        return _hands_on(command.spelled)
    words = _words(command)
    if command.role is Role.PROGRAM and command.program in _CLIENTS:
        return _asks_database(command)
    if command.role is not Role.PROGRAM or not words or not all(word.is_known for word in words):
        return False
    name = command.program or words[0].plain
    texts = tuple(word.plain for word in words[1:])
    if name in _SOURCES:
        return len(texts) == 1
    if any(_SHOWS.match(text.lstrip("-")) for text in texts):
        return False
    if name == "set":
        return bool(texts) and _SWITCHES.issuperset(texts)
    return "BESIDE" in _RUNS.get(name, ()) or _runs(words)


def _asks_database(command: Command) -> bool:
    """Whether a client asks the project's database: the address may come from a variable, nothing else may."""
    unknown = sum(not word.is_known for word in command.arguments)
    return unknown <= 1 and not any(_NOT_OF_CLIENTS.fullmatch(word.plain) for word in command.arguments)


def _hands_on(words: tuple[Word, ...]) -> bool:
    """Whether a program runs another and shows nothing of its own: `bash -c`, not `bash -xc`."""
    fact = _RUNS.get(canonical(_name(words)), ())
    options = tuple(takewhile(lambda text: text.startswith("-"), (word.plain for word in words[1:])))
    return "WRAPS" in fact and not any(not text.startswith("--") and set("xvi") & set(text) for text in options)


def _runs(words: tuple[Word, ...]) -> bool:
    """Whether the words of a command run what the project has: a script, a target, a file, its tests."""
    name, texts = canonical(_name(words)), [word.plain for word in words[1:]]
    if name[:1] != "/" and "/" in name:
        return _is_own(name)
    if is_test_runner(name):
        return True
    if name == "python" and texts[:1] == ["-m"]:
        return _runs(words[2:])
    fact = _RUNS.get(name, ())
    if "WRAPS" in fact and _FILE not in fact:
        return bool(texts) and _runs(words[1:])
    options = list(takewhile(lambda text: text.startswith("-"), texts))
    operands = texts[len(options) :]
    if any(not text.startswith("--") and set("cepxvsif") & set(text) for text in options):
        return False
    if _FILE in fact:
        is_file = bool(operands) and _is_own(operands[0]) and not _CODE.intersection(operands)
        return is_file and not _CODE.intersection(options)
    if _ANY in fact:
        return not any(
            text.startswith(("--eval", "--exec", "--print", "--file", "--makefile", "-p", "-f")) for text in texts
        )
    return any("/".join(operands[:most]) in fact for most in (1, 2)) and operands[1:2] != ["env"]


def _is_own(path: str) -> bool:
    """Whether a path as it is written stays in the folder, and is a file and no sign for the standard input."""
    return path[:1] not in ("/", "-", "~") and ".." not in path.split("/")
