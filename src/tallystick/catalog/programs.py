"""What each known program does: one entry a program, in `programs/*.toml`, and lists of programs by trait, in `traits.toml`.

Owns the schema of an entry, and the tables made of all entries and lists. Must not know what any rule does: an entry
only names it. Words within a text are apart by blanks throughout.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec import field

from tallystick.catalog.loading import Entry, load, load_folder
from tallystick.errors import FormatError


class Options(Entry, frozen=True):
    """A grammar of arguments besides the main one: of a verb, of another form of the program."""

    takes: str = ""
    stops: bool = False
    long: bool = False


class Program(Entry, frozen=True):
    """One program, or several that do the same."""

    rule: str
    """What reads its arguments: `plain`, `filter` (without a file it reads its standard input, and what it reads goes to its
    standard output), another form that several share, or a function for this program alone."""
    also: str = ""
    """Further names that all of the entry holds for."""
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


@cache
def programs() -> Mapping[str, Program]:
    """Every known program by each of its names.

    Raises:
        FormatError: a name has two entries.
    """
    found: dict[str, Program] = {}
    for file, table in load_folder("programs", dict[str, Program]).items():
        for name, entry in table.items():
            for each in (name, *entry.also.split()):
                if each in found:
                    raise FormatError(f"catalog/programs/{file}.toml: {each} has another entry")
                found[each] = entry
    return MappingProxyType(found)


def arguments_of(program: str) -> Program:
    """The entry of a program that must have one.

    Raises:
        FormatError: it has none.
    """
    if program not in programs():
        raise FormatError(f"catalog/programs: {program} has no entry")
    return programs()[program]


@cache
def programs_in(file: str) -> frozenset[str]:
    """The names of the programs in one file of `programs/`."""
    table = load(f"programs/{file}", dict[str, Program])
    return frozenset(each for name, entry in table.items() for each in (name, *entry.also.split()))


@cache
def modules_of_python() -> Mapping[str, Program]:
    """What `python -m NAME` does, by each name."""
    entries = load("python_modules", dict[str, Program])
    return MappingProxyType({each: entry for name, entry in entries.items() for each in (name, *entry.also.split())})


def words_of(program: str, words: str) -> tuple[str, ...]:
    """A list of a program that its own rule asks for."""
    return tuple(arguments_of(program).words[words].split())


def names_of(program: str, words: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(words_of(program, words))


class _Kinds(Entry, frozen=True):
    """`traits.toml`: programs by what else is true of them."""

    traits: Mapping[str, str]
    """By trait: the names of the programs that have it."""
    facts: Mapping[str, Mapping[str, str]]
    """By fact, and by the words to it: the names of the programs that it is stated of."""


@cache
def _kinds() -> _Kinds:
    return load("traits", _Kinds)


@cache
def programs_with(trait: str) -> frozenset[str]:
    """The names of the programs that have a trait.

    Raises:
        KeyError: there is no such trait.
    """
    return frozenset(_kinds().traits[trait].split())


def fact_of_programs(fact: str) -> Mapping[str, tuple[str, ...]]:
    """The words of a fact, for each program that it is stated of.

    Raises:
        KeyError: there is no such fact.
    """
    found: dict[str, tuple[str, ...]] = {}
    for words, names in _kinds().facts[fact].items():
        for name in names.split():
            found[name] = (*found.get(name, ()), *words.split())
    return MappingProxyType(found)
