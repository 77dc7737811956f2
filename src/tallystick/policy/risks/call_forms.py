"""Calls that are a risk by their words alone: `catalog/call_forms.toml` says which, one form a line.

Owns how a line is written and compared with a call. Must not know any program, nor what follows from a risk. A line is a
risk, programs, and conditions that must all hold, apart by blanks; `|` stands between alternatives, which may have wildcards.

    word        an operand, in small letters, anywhere; several stand next to each other
    0:word      the first operand; `1-3:word` one of the second to the fourth; `0:*` there is one
    @word       the first operand, or what stands behind options at the front that have a value each
    -x, --name  an option, also among joined letters or with a value; `--set-*` one that begins so
    {-x|--y}z   what an option is given
    ~word       any word, an option or not, in small letters; `~0:word` the first
    ?           it only tells about itself: `--help`, `--version`
    !…          the condition that follows does not hold
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
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


_GOES_ON = pattern_of(r"\|\n +")


def _by_program(forms: str) -> dict[str, tuple[_Form, ...]]:
    found: dict[str, tuple[_Form, ...]] = {}
    for line in _GOES_ON.sub("|", forms).split("\n"):
        if not line:
            continue
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


def programs_of(part: str) -> frozenset[str]:
    """The programs of which a part knows a form."""
    return frozenset(_parts()[part])


def fits(conditions: str, started: Started) -> bool:
    """Whether a call has what the conditions of a line say."""
    return _Form("", tuple(_conditions(conditions.split()))).fits(started)


# Conditions ----------------------------------------------------------------------------------------------------------


_PLACE = pattern_of(r"(\d)(?:-(\d))?:")


def _conditions(words: list[str]) -> Iterator[_Condition]:
    sequence: list[_Wanted] = []
    for word in words:
        if word[0] not in "!-+~?{@" and _PLACE.match(word) is None:
            sequence.append(_alternatives(word))
        else:
            yield _condition(word)
    if sequence:
        yield _in_order(tuple(sequence))


class _Wanted(NamedTuple):
    """Alternatives: words as they are, and those with wildcards."""

    plain: frozenset[str]
    forms: re.Pattern[str] | None

    def has(self, word: str) -> bool:
        """Whether a word is one of them."""
        return word in self.plain or (self.forms is not None and self.forms.match(word) is not None)


def _alternatives(text: str) -> _Wanted:
    words = text.split("|")
    wild = [fnmatch.translate(word) for word in words if "*" in word]
    return _Wanted(frozenset(word for word in words if "*" not in word), pattern_of("|".join(wild)) if wild else None)


def _condition(text: str) -> _Condition:
    if text[0] == "!":
        inner = _condition(text[1:])
        return lambda started: not inner(started)
    if text == "?":
        return lambda started: not _TELLING.isdisjoint(started.words[:2])
    if text[0] == "{":
        options, _, values = text[1:].partition("}")
        return _given(tuple(options.split("|")), _alternatives(values))
    if text[0] == "@":
        return _verb(_alternatives(text[1:]))
    if text[0] in "-+":
        return _option(_alternatives(text))
    is_any = text[0] == "~"
    place = _PLACE.match(text, is_any)
    if place is not None:
        wanted = _alternatives(text[place.end() :])
        return _at(slice(int(place[1]), int(place[2] or place[1]) + 1), wanted, is_any=is_any)
    if is_any:
        return _at(slice(None), _alternatives(text[1:]), is_any=True)
    return _in_order((_alternatives(text),))


_TELLING = frozenset(("--help", "--version", "-h", "-V", "-?", "help", "version"))


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


def check(known: frozenset[str]) -> None:
    """Raises FormatError: a line names a risk that is not among those known."""
    for part, forms in _parts().items():
        for program, its in forms.items():
            for form in its:
                if form.risk not in known:
                    raise FormatError(f"catalog/call_forms.toml: {part}: {program}: {form.risk} is no risk")
