"""Calls that are a risk by their words: `catalog/call_forms.toml` says which, one form a line.

Owns how a line is written and compared with a call. Must not know any program, nor what follows from a risk. A line is a
risk, programs, and conditions that must all hold, apart by blanks; `|` stands between alternatives, which may have wildcards.
The first line of a part that a call fits decides; where its risk is `-`, the call is none.

    word        an operand, in small letters, anywhere; several stand next to each other
    a+b|c+d     the same for alternatives of several words each
    0:word      the first operand; `1-3:word` one of the second to the fourth; `0:*` there is one
    @word       the first operand, or what stands behind options at the front that have a value each
    -x, --name  an option, also among joined letters or with a value; `--set-*` one that begins so
    {-x|--y}z   what an option is given
    ~word       any word, an option or not, in small letters; `~0:word` the first
    only:word   every word is one of these
    ?           it only tells about itself: `--help`, `--version`
    <>          a word is not known
    =test:a|b   a test of the module that the part belongs to, for what needs more than words
    !…          the condition that follows does not hold
    %name       in any place: the words of a group of the file, or the programs with a trait
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from tallystick.catalog.loading import Entry, load
from tallystick.catalog.programs import programs_with
from tallystick.errors import FormatError
from tallystick.model.pattern import pattern_of
from tallystick.policy.risks.programs import Started
from tallystick.policy.risks.risk import Risk

_Condition: TypeAlias = Callable[[Started], bool]
Test: TypeAlias = Callable[..., bool]
"""What a line names after `=`: a function of a call and of the words behind the colon."""


class _File(Entry, frozen=True):
    groups: Mapping[str, str]
    forms: Mapping[str, str]


class _Form(NamedTuple):
    """One line."""

    risk: str
    conditions: tuple[_Condition, ...]

    def fits(self, started: Started) -> bool:
        """Whether a call has this form."""
        return all(holds(started) for holds in self.conditions)


class Forms:
    """The forms of one part, with the tests that its lines name: `_set_id` is `=set-id`."""

    def __init__(self, part: str, *tests: Test) -> None:
        """Read the part.

        Raises:
            FormatError: a line names a test that is not among those given.
        """
        named = {test.__name__.strip("_").replace("_", "-"): test for test in tests}
        self._by_program = _by_program(_lines(part), named, part)
        self.risks = frozenset(form.risk for forms in self._by_program.values() for form in forms) - {"-"}
        self.programs = frozenset(self._by_program)

    def of(self, started: Started) -> str | None:
        """The risk of the first form that a call has; None: it has none."""
        for form in self._by_program.get(started.name, ()):
            if form.fits(started):
                return form.risk if form.risk != "-" else None
        return None

    def found(self, started: Iterable[Started]) -> Iterator[Risk]:
        """The risks of some programs that are started."""
        for one in started:
            risk = self.of(one)
            if risk is not None:
                yield Risk(risk, one.spelled)


def fits(conditions: str, started: Started) -> bool:
    """Whether a call has what the conditions of a line say."""
    return _Form("", tuple(_conditions(conditions.split(), {}))).fits(started)


def group(name: str) -> frozenset[str]:
    """The words of a group of the file."""
    return frozenset(_file().groups[name].split())


# Lines ---------------------------------------------------------------------------------------------------------------


_GOES_ON = pattern_of(r"\|\n +")
_GROUP = pattern_of(r"%([a-z]+(?:-[a-z]+)*)")


@cache
def _file() -> _File:
    return load("call_forms", _File)


def _lines(part: str) -> Iterator[tuple[str, str, list[str]]]:
    """The lines of a part: risk, programs, conditions."""
    for line in _GOES_ON.sub("|", _file().forms[part]).split("\n"):
        if line:
            risk, called, *words = _GROUP.sub(_group, line).split()
            yield risk, called, words


def _group(found: re.Match[str]) -> str:
    words = _file().groups.get(found[1])
    return "|".join(words.split() if words is not None else sorted(programs_with(found[1])))


def _by_program(
    lines: Iterator[tuple[str, str, list[str]]], tests: Mapping[str, Test], part: str
) -> dict[str, tuple[_Form, ...]]:
    found: dict[str, tuple[_Form, ...]] = {}
    for risk, called, words in lines:
        try:
            form = _Form(risk, tuple(_conditions(words, tests)))
        except KeyError as error:
            raise FormatError(f"catalog/call_forms.toml: {part}: {called}: {error} is not a test") from error
        for program in called.split("|"):
            found[program] = (*found.get(program, ()), form)
    return found


# Conditions ----------------------------------------------------------------------------------------------------------


_PLACE = pattern_of(r"(\d)(?:-(\d))?:")


def _conditions(words: list[str], tests: Mapping[str, Test]) -> Iterator[_Condition]:
    sequence = [word for word in words if _is_plain(word)]
    if sequence:
        yield _in_order(tuple(map(_alternatives, sequence)))
    for word in words:
        if not _is_plain(word):
            yield _condition(word, tests)


def _is_plain(word: str) -> bool:
    """Whether a word of a line is an operand, which stands next to the others."""
    return word[0] not in "!-+~?{@=<" and "+" not in word and _PLACE.match(word) is None and word[:5] != "only:"


class _Wanted(NamedTuple):
    """Alternatives: words as they are, and those with wildcards."""

    plain: frozenset[str]
    forms: re.Pattern[str] | None

    def has(self, word: str) -> bool:
        """Whether a word is one of them."""
        return word in self.plain or (self.forms is not None and self.forms.match(word) is not None)


def _alternatives(text: str) -> _Wanted:
    words = text.split("|")
    wild = [fnmatch.translate(word) for word in words if "*" in word or "[" in word]
    plain = frozenset(word for word in words if "*" not in word and "[" not in word)
    return _Wanted(plain, pattern_of("|".join(wild)) if wild else None)


def _condition(text: str, tests: Mapping[str, Test]) -> _Condition:
    rest = text[1:]
    match text[0]:
        case "!":
            inner = _condition(rest, tests)
            return lambda started: not inner(started)
        case "=":
            name, _, given = rest.partition(":")
            return _tested(tests[name], tuple(given.split("|")) if given else ())
        case "?":
            return lambda started: not _TELLING.isdisjoint(started.words[:2])
        case "<":
            return lambda started: not all(word.is_known for word in started.given)
        case "{":
            options, _, values = rest.partition("}")
            return _given(tuple(options.split("|")), _alternatives(values))
        case "@":
            return _verb(_alternatives(rest))
        case "-" | "+":
            return _option(_alternatives(text))
    return _of_words(text)


def _of_words(text: str) -> _Condition:
    is_any = text[0] == "~"
    place = _PLACE.match(text, is_any)
    if place is not None:
        wanted = _alternatives(text[place.end() :])
        return _at(slice(int(place[1]), int(place[2] or place[1]) + 1), wanted, is_any=is_any)
    if is_any:
        return _at(slice(None), _alternatives(text[1:]), is_any=True)
    if text.startswith("only:"):
        wanted = _alternatives(text.removeprefix("only:"))
        return lambda started: all(wanted.has(word.lower()) for word in started.words)
    sequences = [_in_order(tuple(map(_alternatives, each.split("+")))) for each in text.split("|")]
    return lambda started: any(holds(started) for holds in sequences)


_TELLING = frozenset(("--help", "--version", "-h", "-V", "-?", "help", "version"))


def _tested(test: Test, given: tuple[str, ...]) -> _Condition:
    return lambda started: test(started, *given)


def _at(place: slice, wanted: _Wanted, *, is_any: bool) -> _Condition:
    def holds(started: Started) -> bool:
        words = started.words if is_any else started.operands
        return any(wanted.has(word.lower()) for word in words[place])

    return holds


def _verb(wanted: _Wanted) -> _Condition:
    def holds(started: Started) -> bool:
        words, at = started.words, 0
        while words[at : at + 1] and words[at][:1] == "-":
            at += 1 + ("=" not in words[at])
        return any(wanted.has(word.lower()) for word in (*started.operands[:1], *words[at : at + 1]))

    return holds


def _given(options: tuple[str, ...], wanted: _Wanted) -> _Condition:
    return lambda started: wanted.has(started.value(*options).lower())


def _option(wanted: _Wanted) -> _Condition:
    plain = tuple(sorted(wanted.plain))
    begins = _Wanted(frozenset(), wanted.forms)
    return lambda started: started.has(*plain) or any(begins.has(word.lower()) for word in started.words)


def _in_order(wanted: tuple[_Wanted, ...]) -> _Condition:
    def holds(started: Started) -> bool:
        said = [word.lower() for word in started.operands]
        starts = range(len(said) - len(wanted) + 1)
        return any(all(one.has(said[n + k]) for k, one in enumerate(wanted)) for n in starts)

    return holds
