"""The project's own `.env`, counted, or asked for the names in it: `grep -c =`, `grep -q ^API_KEY=`, `cut -d= -f1`.

Owns which commands show how much there is, or a name, and never a value; which programs those are says the
catalogue (`counts`, `shows-names`). A pattern that says what a value begins with is no such question. Must not know which
files are secrets, nor where a link leads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from tallystick.catalog.programs import fact_of_programs, programs_with
from tallystick.intent.programs.arguments import Line, taken
from tallystick.intent.programs.rules import grammar_of
from tallystick.intent.shell.names import canonical
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role, Script
from tallystick.policy.calls.reading import CallReading

_ENV = pattern_of(r".*/\.env(?:\.[\w.-]+)?")
_COUNTS = fact_of_programs("counts")
_NAMES = fact_of_programs("shows-names")
_ALWAYS = "ALWAYS"
_PASSING = programs_with("passes-text") - {name for name, (rule, *_) in _NAMES.items() if rule in ("SCRIPT", "PROGRAM")}
"""Programs whose output is of what they are given, and that have no language in which they could be told to write it."""
_GREPS = programs_with("greps")
_MOST_COMMANDS = 60
_NOWHERE = "/dev/null"
_TAKEN = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.EDIT, Operation.EXECUTE))
_NO_VALUE = pattern_of(r"[^=]{0,64}(?:=[\s.*+?$^\\\"'()\[\]|]{0,16})?")
"""A pattern that asks for names, or for whether there is a value at all."""
_NAME_ONLY = pattern_of(r"\^(?:export |\(?)\[[A-Za-z][^\]=.]{0,40}\](?:\[[A-Za-z][^\]=.]{0,40}\])?[*+]?\)?=?")
_CUT_OFF = pattern_of(r"s(?P<sign>[/#|,])=\.\*\$?(?P=sign)=?[*x.<>A-Za-z]{0,16}(?P=sign)[gp]*")
_FIRST_FIELD = pattern_of(r"\{ ?print \$1 ?;? ?\}")


def measured(reading: CallReading) -> frozenset[str]:
    """The project's files of variables of which a call shows no more than a count, a yes or no, or names."""
    workspace = reading.workspace
    if workspace is None or workspace == reading.home or reading.uses.codes:
        return frozenset()
    found = [intent for intent in reading.effects.intents if _takes(intent, workspace)]
    if not found:
        return frozenset()
    asked = Counter(word for script in reading.scripts for word in _asked(script))
    takes = Counter(intent.words[-1] for intent in found if intent.words and not intent.script)
    if len(found) != takes.total() or any(intent.operation is not Operation.READ for intent in found):
        return frozenset()
    return frozenset(intent.target for intent in found if takes[intent.words[-1]] <= asked[intent.words[-1]])


def _takes(intent: Intent, workspace: str) -> bool:
    is_one = intent.domain is Domain.FILE and intent.operation in _TAKEN
    return is_one and intent.target.startswith(f"{workspace}/") and _ENV.fullmatch(intent.target) is not None


def _asked(script: Script) -> Iterator[str]:
    """The words by which commands name what they count, or show the names in."""
    if len(script.commands) > _MOST_COMMANDS:
        return
    for n, one in enumerate(script.commands):
        if one.role is Role.PROGRAM and one.words and _tells_little(script, n):
            yield from (word.plain for word in one.arguments if word.is_known)
            yield from (each.target.plain for each in one.redirects if not each.writes)


def _tells_little(script: Script, n: int) -> bool:
    """Whether no value comes out of a command: by what it shows itself, or by what reads its output."""
    one = script.commands[n]
    if _is_measure(one):
        return True
    if n in script.outputs or one.is_diverted or not _passes(one):
        return False
    readers = [m for m, other in enumerate(script.commands) if n in other.inputs]
    is_in_word = any(n in word.commands for other in script.commands for word in other.words)
    return bool(readers) and not is_in_word and all(m > n and _tells_little(script, m) for m in readers)


def _passes(command: Command) -> bool:
    name = canonical(command.program)
    writes = (each for each in command.redirects if each.writes and each.descriptor != "2")
    is_quiet = all(each.target.plain == _NOWHERE for each in writes)
    writes_file = any(word.plain.startswith(("-o", "--output")) for word in command.arguments) and name not in _GREPS
    is_search = name in _GREPS and name in _COUNTS
    asks = not is_search or _asks_no_value(taken(command.arguments, grammar_of(name)))
    return name in _PASSING and is_quiet and not writes_file and asks


def _is_measure(command: Command) -> bool:
    name = canonical(command.program)
    options = _COUNTS.get(name, ())
    rule = _SHOWING.get((_NAMES.get(name) or ("",))[0])
    if not options and rule is None:
        return False
    line = taken(command.arguments, grammar_of(name))
    if options == (_ALWAYS,):
        return True
    if options and line.has(*options):
        return _asks_no_value(line)
    return rule is not None and rule(line)


def _patterns(line: Line) -> list[str]:
    given = [word.plain for word in line.values("-e", "--regexp")]
    return given or [word.plain for word in line.operands[:1]]


def _asks_no_value(line: Line) -> bool:
    patterns = _patterns(line)
    parts = [part for pattern in patterns for part in pattern.replace("\\|", "|").split("|")]
    return bool(parts) and not line.has("-f", "--file") and all(_NO_VALUE.fullmatch(part) for part in parts)


def _matches_names(line: Line) -> bool:
    """`grep -o '^[A-Z_]*'`."""
    return line.has("-o", "--only-matching") and all(_NAME_ONLY.fullmatch(one) for one in _patterns(line))


def _first_field(line: Line) -> bool:
    """`cut -d= -f1`."""
    mark, field = line.value("-d", "--delimiter"), line.value("-f", "--fields")
    return mark is not None and field is not None and (mark.plain, field.plain) == ("=", "1")


def _without_values(line: Line) -> bool:
    """`sed 's/=.*//'`."""
    scripts = [word.plain for word in line.values("-e", "--expression")] or [word.plain for word in line.operands[:1]]
    is_one = len(scripts) == 1 and not line.has("-f", "--file", "-i", "--in-place")
    return is_one and _CUT_OFF.fullmatch(scripts[0]) is not None


def _prints_first(line: Line) -> bool:
    """`awk -F= '{print $1}'`."""
    mark = line.value("-F", "--field-separator")
    is_one = bool(line.operands) and _FIRST_FIELD.fullmatch(line.operands[0].plain.strip()) is not None
    return mark is not None and mark.plain == "=" and is_one


_SHOWING: Mapping[str, Callable[[Line], bool]] = {
    "MATCH": _matches_names,
    "FIELD": _first_field,
    "SCRIPT": _without_values,
    "PROGRAM": _prints_first,
}
"""By the catalogue's word: whether a program shows names alone."""
