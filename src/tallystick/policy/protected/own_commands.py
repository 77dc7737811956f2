"""What a command of Tallystick's own command line does to the record.

Owns how the command line is known, however it is started, and which of its commands a line means; what each does is a table
of the catalogue. What is not told there changes the record. Must not know paths or policies.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tallystick.catalog import Entry, load
from tallystick.intent.programs.arguments import Grammar, Line, grammar, names, taken
from tallystick.model.pattern import Near, pattern_of
from tallystick.model.script import Word


class Does(enum.StrEnum):
    """What a command does to the record."""

    READ = "read"
    RECORD = "record"
    """It adds to it what the one who calls it says."""
    CHANGE = "change"
    """It changes what there is, or what will be recorded."""


class Package(Entry, frozen=True):
    """How a package of that name is put in another's place, or taken away."""

    name: str
    replaces: str
    replaces_all: str
    removes: str
    removes_all: str
    removes_from_machine: str
    installs: str
    installs_unasked: str
    """Programs that install what they are given, without a verb."""
    installs_by_option: str
    """Programs whose verbs are options."""
    also_installs: str
    """Programs that install and of which nothing else is known."""
    of_one_package: str
    forces: str


class _Code(Entry, frozen=True):
    writes: tuple[str, ...]


class _Table(Entry, frozen=True):
    """catalog/own_commands.toml."""

    read: tuple[str, ...]
    record: tuple[str, ...]
    change: tuple[str, ...]
    passes_on: tuple[str, ...]
    takes: str
    writes: str
    reads_with: Mapping[str, str]
    changes_with: Mapping[str, str]
    starts: Mapping[str, str]
    code: _Code
    runners: Mapping[str, str]
    package: Package


class OwnCommand(NamedTuple):
    """A command of ours."""

    does: Does
    writes: tuple[Word, ...] = ()
    """The files that it writes its answer to."""


_TABLE = load("own_commands", _Table)
PACKAGE = _TABLE.package
_DOES = {
    **dict.fromkeys(_TABLE.read, Does.READ),
    **dict.fromkeys(_TABLE.record, Does.RECORD),
    **dict.fromkeys(_TABLE.change, Does.CHANGE),
}
_GROUPS = frozenset(path[: end.start()] for path in _DOES for end in re.finditer(" ", path))
_FIRST = frozenset(path.partition(" ")[0] for path in _DOES)
_WRITES = tuple(_TABLE.writes.split())
_ARGUMENTS = grammar(_TABLE.takes)
_HEAD = grammar(_TABLE.takes, stops=True)
_READS_ALWAYS = ("--help", "-h", "--version")

_FILE = pattern_of(r"(?:.*/)?(tallystick/(?:\w+/)*\w+)\.py", re.DOTALL)
_LOOKED_UP = pattern_of(r"\b(?:which|whence|command\s{1,3}-[vV]|type\s{1,3}-[pP]{1,2})\s{1,3}([\w-]{1,40})")
_VERSION = pattern_of(r"(?:\[|@|==|>|<|~=|!=|;).*", re.DOTALL)
_PYTHON = pattern_of(r"(?:python|pypy)[\d.]*")
_PYTHON_OPTIONS = grammar("-m -c -W -X --check-hash-based-pycs", stops=True)
RUNNERS = {name: names(verbs) for name, verbs in _TABLE.runners.items()}
_MOST_WORDS = 40
_LONGEST_END = 300


def own_command(words: Sequence[Word]) -> OwnCommand | None:
    """What a command does if it is one of ours, however it is started; None if it is not."""
    found = _started(words)
    if found is None:
        return None
    path, rest = found
    if path:
        return _judged(path, rest)
    head = taken(rest, _HEAD)
    if not head.operands or head.has(*_READS_ALWAYS):
        return OwnCommand(Does.READ)
    return _command(head.operands[0], head.operands[1:])


def _started(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """The command that the program stands for, empty for the command line itself, and the words that belong to it."""
    if not words:
        return None
    looked_up = _LOOKED_UP.search(words[0].hidden[:_LONGEST_END])
    if looked_up is not None and not words[0].plain:
        return _named(looked_up[1], words[1:])
    if is_python(words):
        return _by_python(words[1:])
    name = words[0].plain.rpartition("/")[2]
    if name in RUNNERS:
        return _by_runner(words[1:], RUNNERS[name])
    return _named(words[0].plain, words[1:])


def is_python(words: Sequence[Word]) -> bool:
    """Whether a command's program is Python."""
    return bool(words) and _PYTHON.fullmatch(words[0].plain.rpartition("/")[2]) is not None


def _named(text: str, rest: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """A program or a project by its name, a module by its file."""
    file = _FILE.fullmatch(text[-_LONGEST_END:])
    if file is not None:
        name = file[1].replace("/", ".")
    else:
        name = _VERSION.sub("", text[-_LONGEST_END:].rstrip("/").rpartition("/")[2])
    start = _TABLE.starts.get(name)
    if start is None:
        return None
    return start, rest


def _by_python(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """`python -m MODULE …`, `python FILE …`."""
    for at, word in enumerate(words[:_MOST_WORDS]):
        line = taken(words[: at + 1], _PYTHON_OPTIONS)
        module = line.value("-m")
        if module is not None:
            return _by_module(module, words[at + 1 :])
        if line.has("-c"):
            return None
        if line.operands:
            return _named(word.plain, words[at + 1 :])
    return None


def _by_module(module: Word, rest: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    name = module.plain
    if name in RUNNERS:  # `python -m pipx run …`
        return _by_runner(rest, RUNNERS[name])
    start = _TABLE.starts.get(name)
    if start is None:
        return None
    return start, rest


def _by_runner(words: Sequence[Word], verbs: frozenset[str]) -> tuple[str, Sequence[Word]] | None:
    """`uvx tallystick …`, `uv run --with x python -m tallystick …`: the first operand, or an option's value before it.

    Which options take a value is not known: a value is meant for ours only where a command of ours follows.
    """
    at = 0
    if verbs:
        at = next((n for n, word in enumerate(words[:_MOST_WORDS], 1) if word.plain in verbs), 0)
        if not at:
            return None
    is_value = False
    for n, word in enumerate(words[at:_MOST_WORDS], at):
        if word.plain[:1] == "-":
            is_value = True
            continue
        found = _started(words[n:])
        if found is not None and (not is_value or _is_followed(found)):
            return found
        if not is_value:
            return None
        is_value = False
    return None


def _is_followed(found: tuple[str, Sequence[Word]]) -> bool:
    """Whether the next word, other than options, is a command of ours."""
    path, rest = found
    operands = taken(rest, _HEAD).operands
    return bool(path) or not operands or operands[0].plain in _FIRST


def _command(first: Word, rest: Sequence[Word], group: str = "") -> OwnCommand:
    name = f"{group} {first.plain}".lstrip()
    if not first.is_known:
        return OwnCommand(Does.RECORD)  # which it is, nothing tells
    if name in _TABLE.starts:  # `uvx --from tallystick tally …`
        return own_command((first, *rest)) or OwnCommand(Does.CHANGE)
    if name not in _GROUPS:
        return _judged(name, rest)
    head = taken(rest, _HEAD)
    if not head.operands or head.has(*_READS_ALWAYS):
        return OwnCommand(Does.READ)
    return _command(head.operands[0], head.operands[1:], name)


def _judged(path: str, words: Sequence[Word]) -> OwnCommand:
    line = taken(words, _grammar_of(path))
    if line.has(*_READS_ALWAYS, _TABLE.reads_with.get(path, "")):
        return OwnCommand(Does.READ)
    does = _DOES.get(path, Does.CHANGE)
    if line.has(_TABLE.changes_with.get(path, "")):
        does = Does.CHANGE
    return OwnCommand(does, _written(line))


def _grammar_of(path: str) -> Grammar:
    if path in _TABLE.passes_on:
        return _HEAD
    return _ARGUMENTS


def _written(line: Line) -> tuple[Word, ...]:
    return tuple(line.values(*_WRITES))


# Code -----------------------------------------------------------------------------------------------------------------

_IMPORTS = Near(
    "tallystick", r"\b(?:from|import)\s{1,9}tallystick\b|import_module\(.tallystick|run_module\(.tallystick"
)
_CALLS = pattern_of(r"\btallystick\.(?:cli|__main__)\b|run_module\(.tallystick")
_QUOTED = pattern_of(r"[\"']([a-z][a-z-]{1,20})[\"']")
_CHANGING = pattern_of(rf"\b(?:{'|'.join(path for path in _TABLE.change if path.isalpha() and len(path) > 2)})\b")
_WRITING = pattern_of(rf"\btallystick(?:\.|\s{{1,3}}import\s{{1,3}})(?:{'|'.join(_TABLE.code.writes)})\b")
_THROUGH_ITSELF = pattern_of(r"sys\.executable\s{0,9},((?:\s{0,9}[\"'][^\"'\n]{0,200}[\"']\s{0,9},?){1,40})")
_TEXT = pattern_of(r"[\"']([^\"'\n]{0,200})[\"']")
_MOST_CODE = 20_000


def done_by_code(code: str) -> Does:
    """What Python code does that imports Tallystick, as far as its text tells."""
    if _IMPORTS.search(code) is None:
        return Does.READ
    if _CHANGING.search(code) is not None:
        return Does.CHANGE
    least = Does.RECORD if _WRITING.search(code) is not None else Does.READ
    if _CALLS.search(code) is None:
        return least
    said = _QUOTED.findall(code[:_MOST_CODE])
    paths = [*said, *map(" ".join, pairwise(said)), *map(" ".join, zip(said, said[1:], said[2:], strict=False))]
    return max((least, *(_DOES.get(path, Does.READ) for path in paths)), key=_ORDER.index)


_ORDER = tuple(Does)


def started_by_code(code: str) -> Iterator[tuple[Word, ...]]:
    """The commands that Python code starts through its own interpreter: `[sys.executable, "-m", "pip", …]`."""
    for found in _THROUGH_ITSELF.finditer(code[:_MOST_CODE]):
        yield (Word("python3"), *map(Word, _TEXT.findall(found[1])))
