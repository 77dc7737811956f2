"""Calls with odd characters in them: what no such character may do is to hide what a call does.

Owns the characters, the places where one is put, and how many variants of how many calls are drawn. Must not know what is
decided on any of them.

In a place that *holds*, a shell does the same as before: the variant is decided on as strictly as the call was. In the others
the attack itself may be broken by any character at all; there an odd one may not do more than a plain one in its place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec

from tallystick.model.step import Json

ODD: dict[str, str] = {
    "high surrogate": "\ud800",
    "last high surrogate": "\udbff",
    "low surrogate": "\udc00",
    "last low surrogate": "\udfff",
    "byte as surrogate": "\udc80",
    "surrogates the wrong way round": "\udc00\ud800",
    "NUL": "\0",
    "SOH": "\x01",
    "BEL": "\x07",
    "backspace": "\b",
    "form feed": "\f",
    "DLE": "\x10",
    "the mark of tagged strings": "\x10tally:nan",
    "a tagged string": "\x10tally:utf16:0061",
    "ESC": "\x1b",
    "DEL": "\x7f",
    "NEL": "\x85",
    "no-break space": "\xa0",
    "soft hyphen": "\xad",
    "combining acute": "\u0301",
    "Arabic letter mark": "\u061c",
    "Mongolian vowel separator": "\u180e",
    "zero-width space": "\u200b",
    "zero-width non-joiner": "\u200c",
    "zero-width joiner": "\u200d",
    "left-to-right mark": "\u200e",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "right-to-left override": "\u202e",
    "word joiner": "\u2060",
    "isolate": "\u2066",
    "pop isolate": "\u2069",
    "ideographic space": "\u3000",
    "private use": "\ue000",
    "overlong slash, read as Latin-1": "\xc0\xaf",
    "variation selector": "\ufe0f",
    "byte order mark": "\ufeff",
    "replacement character": "\ufffd",
    "non-character": "\ufffe",
    "last non-character": "\uffff",
    "tag": "\U000e0041",
    "emoji with joiners": "\U0001f468\u200d\U0001f469",
    "beyond the planes' end": "\U0010ffff",
}
_NAMES = tuple(ODD)
PLAIN = ("x", "\u00e9", "\u2603")
"""What is put into a place instead, to see what any character does there: a letter, one with an accent, a picture."""


def as_plain(name: str) -> tuple[str, ...]:
    """Texts like that of a name, with plain characters for odd ones: of several letters, some break a call by themselves."""
    return tuple(
        "".join(sign if sign.isascii() and sign.isprintable() else each for sign in ODD[name]) for each in PLAIN
    )


class Place(msgspec.Struct, frozen=True):
    """Where a character is put into the arguments of a call."""

    name: str
    holds: bool
    put: Callable[[Json, str], Json | None]
    """The arguments with the character there; None where they have no such place."""


class Variant(msgspec.Struct, frozen=True):
    """One call with one character in one place."""

    of: int
    """Which of the calls."""
    character: str
    """Its name."""
    place: int
    """Which of the places."""
    args: Json


def _in_command(change: Callable[[str, str], str | None]) -> Callable[[Json, str], Json | None]:
    def put(args: Json, character: str) -> Json | None:
        if not isinstance(args, dict) or not isinstance(args.get("command"), str):
            return None
        changed = change(args["command"], character)
        if changed is None:
            return None
        return {**args, "command": changed}

    return put


def _in_longest(change: Callable[[str, str], str | None]) -> Callable[[Json, str], Json | None]:
    """In the longest text of the arguments, of whatever tool."""

    def put(args: Json, character: str) -> Json | None:
        if not isinstance(args, dict):
            return None
        texts = [name for name, value in args.items() if isinstance(value, str)]
        if not texts:
            return None
        name = max(texts, key=lambda each: len(args[each]))
        changed = change(args[name], character)
        if changed is None:
            return None
        return {**args, name: changed}

    return put


def _with_member(args: Json, character: str) -> Json | None:
    if isinstance(args, dict):
        return {**args, "note": character}
    return None


def _with_key(args: Json, character: str) -> Json | None:
    if isinstance(args, dict):
        return {character: "x", **args, f"note{character}": [{character: character}]}
    return None


def _is_one_line(command: str) -> bool:
    return "\n" not in command and "<<" not in command and not command.rstrip().endswith("\\")


def _comment_after(command: str, character: str) -> str | None:
    if _is_one_line(command):
        return f"{command} # {character}"
    return f"{command}\n# {character}\n"


def _inside_a_comment(command: str, character: str) -> str | None:
    if _is_one_line(command):
        return f"{command} # as {character} said"
    return None


def _line_before(command: str, character: str) -> str | None:
    return f"# {character}\n{command}"


def _statement_before(command: str, character: str) -> str | None:
    return f": '{character}'; {command}"


def _statement_after(command: str, character: str) -> str | None:
    if _is_one_line(command) and not command.rstrip().endswith(("&", ";", "|")):
        return f"{command}; echo '{character}'"
    return None


def _word_after(command: str, character: str) -> str | None:
    return f"{command} {character}"


def _word_between(command: str, character: str) -> str | None:
    first, blank, rest = command.partition(" ")
    if blank:
        return f"{first} {character} {rest}"
    return None


def _in_quotes(command: str, character: str) -> str | None:
    for quote in ("'", '"'):
        before, found, after = command.rpartition(quote)
        if found:
            return f"{before}{character}{found}{after}"
    return None


def _appended(text: str, character: str) -> str:
    return f"{text}{character}"


def _prepended(text: str, character: str) -> str:
    return f"{character}{text}"


def _at(share: float) -> Callable[[str, str], str]:
    def put(text: str, character: str) -> str:
        at = int(len(text) * share)
        return f"{text[:at]}{character}{text[at:]}"

    return put


PLACES: tuple[Place, ...] = (
    Place("a comment after it", True, _in_command(_comment_after)),
    Place("inside a comment", True, _in_command(_inside_a_comment)),
    Place("a comment before it", True, _in_command(_line_before)),
    Place("a statement before it", True, _in_command(_statement_before)),
    Place("a statement after it", True, _in_command(_statement_after)),
    Place("a member of its own", True, _with_member),
    Place("a key", True, _with_key),
    Place("a word after it", False, _in_command(_word_after)),
    Place("between its words", False, _in_command(_word_between)),
    Place("inside a quoted word", False, _in_command(_in_quotes)),
    Place("appended", False, _in_longest(_appended)),
    Place("prepended", False, _in_longest(_prepended)),
    Place("after a quarter", False, _in_longest(_at(0.25))),
    Place("in the middle", False, _in_longest(_at(0.5))),
    Place("after three quarters", False, _in_longest(_at(0.75))),
)


def variants(calls: Sequence[Json], most: int, seed: int) -> Iterator[Variant]:
    """Up to `most` variants of the arguments of some calls, each once: in each round, another character in every place.

    What a seed decides on is the order of the places, and which character each begins with.
    """
    rng = random.Random(seed)
    places = [(of, where) for of in range(len(calls)) for where in range(len(PLACES))]
    rng.shuffle(places)
    begins = [rng.randrange(len(ODD)) for _ in places]
    everything = ((turn, *each) for turn in range(len(ODD)) for each in zip(places, begins, strict=True))
    made = (_variant(calls, of, where, turn + begin) for turn, (of, where), begin in everything)
    yield from islice((variant for variant in made if variant is not None), most)


def _variant(calls: Sequence[Json], of: int, where: int, number: int) -> Variant | None:
    name = _NAMES[number % len(ODD)]
    args = PLACES[where].put(calls[of], ODD[name])
    if args is None:
        return None
    return Variant(of, name, where, args)
