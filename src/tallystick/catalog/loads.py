"""What makes which program read or run which file: `loads.toml`, read by `intent`, by `policy` and by the audit of settings.

Owns the schema of the table and the ways to look something up in it. Must not know what a file holds, nor what follows from
its being loaded.
"""

from collections.abc import Mapping

from msgspec import field

from tallystick.catalog.loading import Entry, load


class Load(Entry, frozen=True):
    """What is done with the value of a variable or an option."""

    as_: str = field(name="as")
    """`command`, `options`, `library`, `module`, `folders`, `settings`, `setting`; else a language: the value is a file."""
    by: str = ""
    """The programs that look at it; empty: any."""
    verbs: str = ""
    """Only with one of these among its first words."""
    names: str = ""
    """Options."""
    of: str = ""
    """A program, a language or a form of settings, as `as_` needs it."""
    files: str = ""
    value: str = ""


class _Facts(Entry, frozen=True):
    """Facts of catalog/loads.toml."""

    variables: Mapping[str, Load]
    options: tuple[Load, ...]
    settings: Mapping[str, str]
    modules: Mapping[str, str]
    building: Mapping[str, str]
    whole: Mapping[str, str]
    whole_with: Mapping[str, str]
    unasked: Mapping[str, str]
    names: Mapping[str, str]
    hooks: Mapping[str, str]
    life_cycle: Mapping[str, str]


_FACTS = load("loads", _Facts)
_SCRIPT_ENDINGS = "{js,cjs,mjs,ts,cts,mts}"


def _by_each(table: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """A table by each of the names in its keys; what several keys say of one name comes one after the other."""
    found: dict[str, tuple[str, ...]] = {}
    for names, words in table.items():
        for name in names.split():
            found[name] = (*found.get(name, ()), *words.replace("%", _SCRIPT_ENDINGS).split())
    return found


def loads_file(variable: str, value: str) -> bool:
    """Whether a variable with such a value makes programs load a file before they do anything."""
    load = VARIABLES.get(variable)
    if load is None or not value or load.as_ in ("command", "setting", "folders"):
        return False
    options = tuple(option for option, _ in OPTIONS.get(load.of, ()))
    return load.as_ != "options" or any(word.startswith(options) for word in value.split())


VARIABLES = _FACTS.variables
LOADING = frozenset((*VARIABLES, *(each.value for each in VARIABLES.values() if each.value)))
"""Variables that make a program load something."""
READERS = {name: frozenset(each.by.split()) for name, each in VARIABLES.items()}
"""The programs that look at a variable; none: any."""
OPTIONS: dict[str, tuple[tuple[str, Load], ...]] = {}
"""By program: its options of that kind."""
for _load in _FACTS.options:
    for _name in _load.by.split():
        OPTIONS[_name] = (*OPTIONS.get(_name, ()), *((option, _load) for option in _load.names.split()))
SETTINGS = {name: frozenset(words.split()) for name, words in _FACTS.settings.items()}
"""By the form of settings: the names of those that are commands."""
MODULES = _by_each(_FACTS.modules)
"""By program: patterns of files that it loads in a project."""
BUILDING = _by_each(_FACTS.building)
"""The same of what it loads only when it builds the project."""
WHOLE = _by_each(_FACTS.whole)
"""The same of files that run as if the command named them."""
WHOLE_WITH = _by_each(_FACTS.whole_with)
UNASKED = {kind: frozenset(names.split()) for kind, names in _FACTS.unasked.items()}
"""`files` that the tools of a project run by themselves, by their names, and `folders` of such."""
LANGUAGES = {name: language for language, names in _FACTS.names.items() for name in names.split()}
"""By the name of a file: what it is written in."""
HOOKS = _by_each(_FACTS.hooks)
"""By the verb of git: the hooks that it runs."""
LIFE_CYCLE = _by_each(_FACTS.life_cycle)
"""By a manager of packages: the verbs with which it runs life-cycle scripts."""
