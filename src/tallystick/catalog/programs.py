"""What each known program does: one entry a program, in `programs/*.toml`, read by `intent` and by `policy`.

Owns the schema of an entry and the tables made of all entries. Must not know what any rule or test does: an entry only
names them. Words within a text are apart by blanks throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec import field
from msgspec.structs import replace

from tallystick.catalog.loading import Entry, load, load_folder
from tallystick.errors import FormatError


class Options(Entry, frozen=True):
    """A grammar of arguments besides the main one: of a verb, of another form of the program."""

    takes: str = ""
    stops: bool = False
    long: bool = False


class Wrapper(Entry, frozen=True):
    """A program that runs the program in its words."""

    takes: str = ""
    """Its own options that take the next word."""
    skips: int = 0
    """How many words of its own stand before the program."""


class RiskRule(Entry, frozen=True):
    """When a call of the program is a risk. Its members mean what the test that `when` names makes of them."""

    when: str
    """`MODULE.TEST`: a test that the module of that name in `policy.risks` registers."""
    risk: str = ""
    words: str = ""
    options: str = ""
    begins: str = ""
    pattern: str = ""
    at: int | None = None


class Program(Entry, frozen=True):
    """One program, or several that do the same."""

    also: str = ""
    """Further names that all of the entry holds for."""
    like: str = ""
    """The name of a program whose arguments mean the same: all members from `rule` to `words` are taken from it."""

    rule: str = ""
    """What reads its arguments: `plain`, `filter` (without a file it reads its standard input, and what it reads goes to its
    standard output), another form that several share, or a function for this program alone. Empty: nothing does."""
    takes: str = ""
    """Options that take a value; `-i?` takes one in the same word only."""
    stops: bool = False
    """Options end at the first operand."""
    long: bool = False
    """One dash begins a whole name."""
    skips: int = 0
    """How many operands at the front are not files: the pattern of `grep`, the mode of `chmod`."""
    unless: str = ""
    """Options with which there are no such operands; for a checker, with which it edits nothing."""
    prints: bool | None = None
    """What it reads goes to its standard output; by default for a filter."""
    deep: str = ""
    """Options with which all that is below a folder is meant; `always`."""
    in_place: str = ""
    """Options with which the files that it reads are edited."""
    default: str = ""
    """The operand that is meant where there is none."""
    language: str = ""
    """Of the code in `code`."""
    code: str = ""
    """Options and operands that are code."""

    # An operation: the options whose value it concerns, and which operands: `operands` (all), `first`, `second`, `last`,
    # `rest` (all but the first), `most` (all but the last), `leading` (those skipped).
    read: str = ""
    execute: str = ""
    write: str = ""
    append: str = ""
    edit: str = ""
    create: str = ""
    delete: str = ""
    list: str = ""
    metadata: str = ""
    connect: str = ""
    listen: str = ""
    copy_source: str = ""
    copy_dest: str = ""

    loops: str = ""
    """Options of an interpreter with which the code runs for each line of the input."""
    runs: str = ""
    """Options whose value is a file that an interpreter runs; verbs with which a package manager runs a script."""
    verbs: str = ""
    """Words that may come before the files: `ruff check`, `jest run`."""
    fixes: str = ""
    """Options with which a checker edits."""
    always: bool = False
    """A checker that edits without being asked to."""
    listing: str = ""
    """Options with which a search lists files."""
    suffix: str = ""
    """Of the file that it makes."""
    port: str = ""
    """Of its server, where none is given."""
    url: str = ""
    """Of the service that it talks to."""
    bare: bool = False
    """It sends the project when called without a verb."""
    registry: str = ""
    """Which registry a package manager takes packages from: `npm`, `pypi`."""
    installs: str = ""
    removes: str = ""
    sends: str = ""
    fetches: str = ""
    folder: str = ""
    """Where a package manager puts packages."""
    manifest: str = ""
    """The file in which a project says what it needs, or which tasks it has."""
    system: bool = False
    """A package manager of the machine."""
    grammars: Mapping[str, Options] = field(default_factory=dict)
    verb_takes: Mapping[str, str] = field(default_factory=dict)
    """By verb: the options that take a value there, besides `takes`."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Lists that its own rule asks for by name."""

    wrapper: Wrapper | None = None
    """It runs the program in its words: `sudo`, `env`, `xargs`."""
    under: Mapping[str, str] = field(default_factory=dict)
    """It runs the program after one of these words of its own (`uv run`): its options there that take the next word."""
    traits: str = ""
    """What else is true of it; see `vocabulary.toml`."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is true of it, with words to it; see `vocabulary.toml`."""
    risks: tuple[RiskRule, ...] = ()
    """When a call of it is a risk. Of the tests of one module, the first that speaks decides."""


@cache
def programs() -> Mapping[str, Program]:
    """Every known program by each of its names.

    Raises:
        FormatError: a name has two entries, or an entry is like one that does not exist.
    """
    found: dict[str, Program] = {}
    for file, entries in load_folder("programs", dict[str, Program]).items():
        for name, entry in entries.items():
            for each in (name, *entry.also.split()):
                if each in found:
                    raise FormatError(f"catalog/programs/{file}.toml: {each} has another entry")
                found[each] = entry
    return MappingProxyType({name: _resolved(name, entry, found) for name, entry in found.items()})


def _resolved(name: str, entry: Program, found: Mapping[str, Program]) -> Program:
    """An entry with the arguments of the one that it is like."""
    if not entry.like:
        return entry
    model = found.get(entry.like)
    if model is None or model.like:
        raise FormatError(f"catalog/programs: {name} is like {entry.like}, which has no arguments of its own")
    return replace(
        model,
        also="",
        like=entry.like,
        wrapper=entry.wrapper,
        under=entry.under,
        traits=entry.traits,
        facts=entry.facts,
        risks=entry.risks,
    )


@cache
def programs_in(file: str) -> frozenset[str]:
    """The names of the programs in one file of `programs/`."""
    entries = load(f"programs/{file}", dict[str, Program])
    return frozenset(each for name, entry in entries.items() for each in (name, *entry.also.split()))


@cache
def modules_of_python() -> Mapping[str, Program]:
    """What `python -m NAME` does, by each name."""
    entries = load("python_modules", dict[str, Program])
    return MappingProxyType({each: entry for name, entry in entries.items() for each in (name, *entry.also.split())})


def words_of(program: str, words: str) -> tuple[str, ...]:
    """A list of a program that its own rule asks for."""
    return tuple(programs()[program].words[words].split())


def names_of(program: str, words: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(words_of(program, words))


@cache
def programs_with(trait: str) -> frozenset[str]:
    """The names of the programs that have a trait."""
    return _by_trait().get(trait, frozenset())


@cache
def _by_trait() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, entry in programs().items():
        for trait in entry.traits.split():
            found.setdefault(trait, set()).add(name)
    return {trait: frozenset(names) for trait, names in found.items()}


@cache
def fact_of_programs(fact: str) -> Mapping[str, tuple[str, ...]]:
    """The words of a fact, for each program that it is stated of."""
    return MappingProxyType(
        {name: tuple(entry.facts[fact].split()) for name, entry in programs().items() if fact in entry.facts}
    )
