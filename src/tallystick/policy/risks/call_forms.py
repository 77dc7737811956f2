"""Calls that are a risk by their words alone: `catalog/call_forms.toml` says which, one form a line.

Owns how a line is written and compared with a call. Must not know any program, nor what follows from a risk. A line is a
risk, programs, and conditions that must all hold, apart by blanks; `|` stands between alternatives, which may have wildcards.

    word        an operand, in small letters, anywhere; several after each other stand in that order
    0:word      the first operand; `1-3:word` one of the second to the fourth; `0:*` there is one
    -x, --name  an option, also among joined letters or with a value; `--set-*` one that begins so
    ~word       any word, an option or not, in small letters
    !…          the condition that follows does not hold
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple, TypeAlias

from tallystick.catalog.loading import Entry, load
from tallystick.errors import FormatError
from tallystick.model.pattern import pattern_of
from tallystick.policy.risks.programs import Started

_Condition: TypeAlias = Callable[[Started], bool]


class _Part(Entry, frozen=True):
    forms: str


class _Form(NamedTuple):
    """One line."""

    risk: str
    conditions: tuple[_Condition, ...]

    def fits(self, started: Started) -> bool:
        """Whether a call has this form."""
        return all(holds(started) for holds in self.conditions)


@cache
def _parts() -> Mapping[str, Mapping[str, tuple[_Form, ...]]]:
    """The forms of each part, by the names of programs."""
    return {name: _by_program(part.forms) for name, part in load("call_forms", dict[str, _Part]).items()}


def _by_program(forms: str) -> dict[str, tuple[_Form, ...]]:
    found: dict[str, tuple[_Form, ...]] = {}
    for line in filter(None, map(str.strip, forms.splitlines())):
        risk, programs, *words = line.split()
        form = _Form(risk, tuple(_conditions(words)))
        for program in programs.split("|"):
            found[program] = (*found.get(program, ()), form)
    return found


def form_of(part: str, started: Started) -> str | None:
    """The risk of the first form of a part that a call has; None: it has none."""
    for form in _parts()[part].get(started.name, ()):
        if form.fits(started):
            return form.risk
    return None


def fits(conditions: str, started: Started) -> bool:
    """Whether a call has what the conditions of a line say."""
    return _Form("", tuple(_conditions(conditions.split()))).fits(started)


# Conditions ----------------------------------------------------------------------------------------------------------


_PLACE = pattern_of(r"(\d)(?:-(\d))?:")


def _conditions(words: list[str]) -> Iterator[_Condition]:
    sequence: list[frozenset[str]] = []
    for word in words:
        if word[0] not in "!-+~" and _PLACE.match(word) is None:
            sequence.append(_alternatives(word))
        else:
            yield _condition(word)
    if sequence:
        yield _in_order(tuple(sequence))


def _alternatives(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


def _condition(text: str) -> _Condition:
    if text[0] == "!":
        inner = _condition(text[1:])
        return lambda started: not inner(started)
    if text[0] == "~":
        return _any_word(_alternatives(text[1:]))
    if text[0] in "-+":
        return _option(_alternatives(text))
    place = _PLACE.match(text)
    if place is None:
        return _in_order((_alternatives(text),))
    return _at(int(place[1]), int(place[2] or place[1]) + 1, _alternatives(text[place.end() :]))


def _at(first: int, end: int, wanted: frozenset[str]) -> _Condition:
    return lambda started: any(_is(word.lower(), wanted) for word in started.operands[first:end])


def _any_word(wanted: frozenset[str]) -> _Condition:
    return lambda started: any(_is(word.lower(), wanted) for word in started.words)


def _option(wanted: frozenset[str]) -> _Condition:
    plain = tuple(option for option in wanted if "*" not in option)
    begins = frozenset(wanted.difference(plain))
    return lambda started: (
        started.has(*plain) or (bool(begins) and any(_is(word.lower(), begins) for word in started.words))
    )


def _in_order(wanted: tuple[frozenset[str], ...]) -> _Condition:
    def holds(started: Started) -> bool:
        left = list(wanted)
        for word in started.operands:
            if left and _is(word.lower(), left[0]):
                left.pop(0)
        return not left

    return holds


def _is(word: str, wanted: frozenset[str]) -> bool:
    return word in wanted or any("*" in one and fnmatchcase(word, one) for one in wanted)


def check(known: frozenset[str]) -> None:
    """Raises FormatError: a line names a risk that is not among those known."""
    for part, forms in _parts().items():
        for program, its in forms.items():
            for form in its:
                if form.risk not in known:
                    raise FormatError(f"catalog/call_forms.toml: {part}: {program}: {form.risk} is no risk")
