"""Programs read by their calls: which function is called with which texts.

Owns names that are bound once to a text, texts that are put together, the arguments of a call. Must not know any function nor
any language: `Language` tells those. Conditions and the order of things are not looked at: a name that is bound twice is
unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import TypeVar

import msgspec

from tallystick.intent.actions import Found, TooMuchError, or_hole
from tallystick.intent.code.pure import FUNCTIONS, METHODS, Plain, made
from tallystick.intent.code.tokens import Dialect, Token, tokens
from tallystick.model.script import HOLE

_T = TypeVar("_T")
_MOST_ARGUMENTS = 64
_MOST_IN_ARGUMENTS = 400
"""Tokens that are looked at for the arguments of one call."""
_MOST_WORK = 30_000
"""Tokens that are looked at again for arguments: about 15 ms."""
_DEEPEST = 12
_LONGEST = 8192
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BARE_ENDS = frozenset(
    (";", "}", ")", "|", "||", "&&", "?", ":", "or", "and", "if", "unless", "do", "while", "until", "for")
)
_END = Token("line", "\n")


class Argument(msgspec.Struct, frozen=True):
    """An argument of a call."""

    text: str | None
    """As a text with holes; None if it is none."""
    items: tuple[str | None, ...] | None
    """As a list; None if it is none."""
    tokens: tuple[Token, ...] = ()

    def says(self, name: str) -> str | None:
        """What stands after a name in it: `{recursive: true}` says `true` of `recursive`; None if it does not stand there."""
        for place, token in enumerate(self.tokens):
            if token.text.lstrip(":") == name and token.kind in ("name", "string"):
                rest = [
                    after.text
                    for after in self.tokens[place + 1 : place + 4]
                    if after.text not in (":", "=", ">", "=>")
                ]
                if rest:
                    return rest[0]
                return ""
        return None


NOTHING = Argument(None, None)


class Call:
    """A call: the function's name, as the language writes it, and its arguments, which are read when they are asked for."""

    def __init__(self, name: str, read: Callable[[], tuple[Argument, ...]]) -> None:
        self.name = name
        self._read = read

    @cached_property
    def args(self) -> tuple[Argument, ...]:
        """The arguments."""
        return self._read()

    def at(self, place: int) -> Argument:
        """An argument; NOTHING where it is left out."""
        if place < len(self.args):
            return self.args[place]
        return NOTHING

    def text(self, place: int) -> str | None:
        """An argument as a text."""
        return self.at(place).text


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A language: how it is written, and what its calls do."""

    dialect: Dialect
    calls: Callable[[Scan, Call], None]
    """Takes note of what a call does."""
    texts: Callable[[Scan, Call], str | None]
    """The text that a call gives, if it gives one that is known: `path.join("a", "b")`."""
    names: Callable[[list[Token]], Mapping[str, str]] = lambda _: {}
    """What names of modules and functions stand for."""
    constants: Mapping[str, str] = MappingProxyType({})
    """Names whose text is known."""


class Scan:
    """A program that is being read."""

    def __init__(self, language: Language, found: Found, program: list[Token]) -> None:
        self.language, self.found, self.program = language, found, program
        self.folder: str | None = None
        self.aliases = language.names(program)
        self._bound: dict[str, int | None] = self._bindings()
        self._known: dict[str, str | None] = {}
        self._depth = 0
        self._work = 0
        self._methods_after = _METHOD_SIGNS - language.dialect.joins

    def placed(self, path: str | None) -> str | None:
        """A path in the folder that the program went to; a `~` that nothing replaces is a name like any other."""
        if path is not None and path.startswith("~"):
            path = f"./{path}"
        if path is None or self.folder is None or path.startswith("/"):
            return path
        return f"{self.folder}/{path}"

    def _bindings(self) -> dict[str, int | None]:
        """Where the text of a name begins, for names that are bound once: `NAME =`, also with a type between."""
        found: dict[str, int | None] = {}
        for place, token in enumerate(self.program[:-1]):
            if token.kind != "name":
                continue
            after = self.program[place + 1].text
            if after == ":" and place and self.program[place - 1].text in self.language.dialect.declares:
                after, place = self._after_type(place + 1)
            if after == "=" and self._at(place + 2).text not in ("=", "~", ">"):
                if token.text in found:
                    found[token.text] = None
                else:
                    found[token.text] = place + 2
            elif after in _CHANGES:
                found[token.text] = None
        return found

    def _after_type(self, place: int) -> tuple[str, int]:
        for ahead in range(place, place + 8):
            if self._at(ahead).text == "=":
                return "=", ahead - 1
        return "", place

    def _at(self, place: int) -> Token:
        if place < len(self.program):
            return self.program[place]
        return _END

    # Texts ------------------------------------------------------------------------------------------------------------

    def text_at(self, place: int, end: int | None = None) -> str | None:
        """The text that an expression gives, None if it is not known to be one."""
        if end is None:
            end = len(self.program)
        found: list[str] = []
        place = self._next(place, end)
        while place < end:
            part, place = self._part(place, end)
            if part is None:
                found.append(HOLE)
            else:
                found.append(part)
            if (
                self._at(following := self._next(place, end)).text not in self.language.dialect.joins
                or following >= end
            ):
                break
            place = self._next(following + 1, end)
        known = "".join(found)
        is_ended = place >= end or self._at(place).text in (",", ";", ")", "]", "}") or self._at(place).kind == "line"
        if not known.strip(HOLE) or len(known) > _LONGEST:
            if found and known == "" and is_ended:
                return known
            return None
        if is_ended:
            return known
        if found[0].strip(HOLE):
            return known + HOLE
        return None

    def _next(self, place: int, end: int) -> int:
        """The place of the next token that is no end of a line."""
        while place < end and self._at(place).kind == "line":
            place += 1
        return place

    def _part(self, place: int, end: int) -> tuple[str | None, int]:
        """One part of a text: a string, a name, a call, and what methods make of it; and the place after it."""
        found, place = self._first_part(place, end)
        while self._at(place).text in self._methods_after and (kind := METHODS.get(self._at(place + 1).text)):
            given: tuple[Argument, ...] = ()
            place += 2
            if self._at(place).text == "(":
                given, place = self.arguments(place), self._past(place)
            found = self._made(kind, (found, *map(_plain, given)))
        return found if isinstance(found, str) else None, place

    def _first_part(self, place: int, end: int) -> tuple[Plain | None, int]:
        token = self._at(place)
        if token.kind in ("string", "template"):
            read = self.language.dialect.unescape if token.kind == "string" else self.filled
            return read(token.text), place + 1
        if token.kind == "number":
            return self._of_number(token, place), place + 1
        if token.kind == "sign" and token.text in _OPENING - {"{"}:
            after = self._past(place)
            if self._at(after).text not in self._methods_after or after > end:
                return None, after
            found: Plain | None = self._listed(place) if token.text == "[" else self.text_at(place + 1, after - 1)
            return found, after
        if token.kind != "name":
            return None, self._past(place)
        if token.text == "new" and self._at(place + 1).kind == "name":
            place += 1
        name, after = self.dotted(place)
        owner, _, method = name.rpartition(".")
        if self._at(after).text == "(":
            return self._deeper(partial(self._given, self._call(name, after))), self._past(after)
        if name in self.language.constants:
            return self.language.constants[name], after
        if owner and method in METHODS:
            return self._made(METHODS[method], (self._value(owner),)), after
        return self._value(name) if self._at(after).text in self._methods_after else self.value_of(name), after

    def _of_number(self, token: Token, place: int) -> Plain | None:
        """A number, where a method makes a text of it: `47.chr` is one token."""
        number, _, method = token.text.partition(".")
        if method in METHODS:
            return made(METHODS[method], (number,))
        return number if self._at(place + 1).text in self._methods_after else None

    def _given(self, call: Call) -> Plain | None:
        """What a call gives: as its language says, else by a function or a method that only makes texts."""
        found = self.language.texts(self, call)
        if found is not None:
            return found
        owner, _, method = call.name.rpartition(".")
        if call.name in FUNCTIONS:
            return self._made(FUNCTIONS[call.name], [_plain(argument) for argument in call.args])
        if owner and method in METHODS:
            return self._made(METHODS[method], (self._value(owner), *map(_plain, call.args)))
        return None

    @staticmethod
    def _made(kind: str, given: Sequence[Plain | None]) -> Plain | None:
        known = [part for part in given if part is not None]
        return made(kind, known) if len(known) == len(given) else None

    def _value(self, name: str) -> Plain | None:
        """The text or the list that a name is bound to."""
        place = self._bound.get(name)
        if place is not None and self._at(place).text == "[" and self._at(place).kind == "sign":
            return self._listed(place)
        return self.language.constants.get(name) or self.value_of(name)

    def _listed(self, place: int) -> Plain | None:
        """The texts of a list."""
        return self._deeper(lambda: tuple(map(or_hole, self._items(place, self._past(place)))))

    def _items(self, start: int, end: int) -> tuple[str | None, ...]:
        inside = self._between_commas(start + 1, min(self._past(start) - 1, end))
        return tuple(self._number(first, last) or self.text_at(first, last) for first, last in inside)

    def _deeper(self, read: Callable[[], _T]) -> _T | None:
        """Something inside of something, to a bounded depth."""
        self._depth += 1
        found = None
        if self._depth <= _DEEPEST:
            found = read()
        self._depth -= 1
        return found

    def _works(self, count: int) -> None:
        """Count tokens that are looked at."""
        self._work += count
        if self._work > _MOST_WORK:
            raise TooMuchError

    def _call(self, name: str, place: int) -> Call:
        return Call(name, partial(self.arguments, place))

    def _past(self, place: int) -> int:
        """The place after a token, or after the brackets that it opens."""
        if self._at(place).text not in _OPENING:
            return place + 1
        depth = 0
        last = min(len(self.program), place + _MOST_IN_ARGUMENTS)
        for ahead in range(place, last):
            text = ""
            if self.program[ahead].kind == "sign":
                text = self.program[ahead].text
            depth += (text in _OPENING) - (text in _CLOSING)
            if depth <= 0:
                self._works(ahead - place)
                return ahead + 1
        self._works(last - place)
        return last

    def value_of(self, name: str) -> str | None:
        """The text that a name is bound to."""
        place = self._bound.get(name)
        if place is None:
            return None
        if name not in self._known:
            self._known[name] = None  # while it is looked for: a name may be bound to itself
            self._known[name] = self._deeper(partial(self.text_at, place))
        return self._known[name]

    def filled(self, template: str) -> str:
        """A text with its variables filled in."""
        dialect = self.language.dialect
        found: list[str] = []
        last = 0
        for variable in dialect.variable.finditer(template[:_LONGEST]):
            name = next((part for part in variable.groups() if part), "")
            known = self.language.constants.get(name) or self.value_of(name)
            found += (dialect.unescape(template[last : variable.start()]), or_hole(known))
            last = variable.end()
        return "".join((*found, dialect.unescape(template[last:])))

    # Calls ------------------------------------------------------------------------------------------------------------

    def dotted(self, place: int) -> tuple[str, int]:
        """A name with what is picked of it (`a.b.c`), its first part as what it stands for, and the place after it."""
        parts = [self._at(place).text]
        place += 1
        if parts[0] in self.language.dialect.loads and self._is_picked(place):
            parts = [self._at(place + 1).text.removeprefix("node:")]
            place += 3
        while len(parts) < 8 and self._at(place).text in _PICKS and self._at(place + 1).kind == "name":
            parts.append(self._at(place + 1).text)
            place += 2
        first = self.aliases.get(parts[0], parts[0])
        return ".".join((first, *parts[1:])), place

    def _is_picked(self, place: int) -> bool:
        """Whether a text in brackets follows, of which something is picked."""
        texts = [self._at(ahead).text for ahead in (place, place + 2)]
        return texts == ["(", ")"] and self._at(place + 1).kind == "string" and self._at(place + 3).text in _PICKS

    def arguments(self, place: int) -> tuple[Argument, ...]:
        """The arguments in brackets that open at a place, or up to the end of the line where they stand without brackets."""
        is_bare = self._at(place).text != "("
        if is_bare:
            start = place
        else:
            start = place + 1
        end = self._end_of(start, is_bare)
        found = [self._argument(first, last) for first, last in self._between_commas(start, end)]
        return tuple(found[:-1] if found and not found[-1].tokens else found)  # a comma may stand before the bracket

    def _between_commas(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where the parts between commas begin and end, at most 64."""
        self._works(end - start)
        depth, count, first = 0, 0, start
        for ahead in range(start, end):
            token = self.program[ahead]
            if token.kind != "sign":
                continue
            if token.text == "," and depth == 0:
                if ahead > first:
                    yield first, ahead
                first = ahead + 1
                count += 1
                if count >= _MOST_ARGUMENTS:
                    return
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if end > first:
            yield first, end

    def _end_of(self, start: int, is_bare: bool) -> int:
        """The place of what ends the arguments."""
        depth = 0
        last = min(len(self.program), start + _MOST_IN_ARGUMENTS)
        for ahead in range(start, last):
            token = self.program[ahead]
            if depth == 0 and is_bare and _is_end(token):
                last = ahead
            elif token.kind == "sign":
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
                if depth < 0:
                    last = ahead
            if last == ahead:
                break
        self._works(last - start)
        return last

    def _argument(self, start: int, end: int) -> Argument:
        start = self._next(start, end)
        part = tuple(self.program[start : min(end, start + 60)])
        text = self.text_at(start, end)
        items = None
        if part and part[0].text == "[" and part[0].kind == "sign" and text is None:
            items = self._items(start, end)
        return Argument(text, items, part)

    def _number(self, start: int, end: int) -> str | None:
        return self._at(start).text if end == start + 1 and self._at(start).kind == "number" else None

    def calls(self) -> Iterator[Call]:
        """All calls of the program, unchanged in it."""
        place = 0
        dialect = self.language.dialect
        while place < len(self.program):
            token = self.program[place]
            if token.kind != "name":
                place += 1
                continue
            name, after = self.dotted(place)
            following = self._at(after)
            if token.text in dialect.loads and after > place + 1:
                yield self._call(token.text, place + 1)
            if following.text == "(" and following.kind == "sign":
                yield self._call(name, after)
            elif dialect.has_bare_calls and self._at(place - 1 if place else len(self.program)).text not in _PICKS:
                if _begins(following):
                    yield self._call(name, after)
                else:
                    yield Call(name, tuple)
            place = after


def _plain(argument: Argument) -> Plain | None:
    """An argument as a text, a number or a list."""
    if argument.items is not None:
        return tuple(map(or_hole, argument.items))
    if argument.text is None and len(argument.tokens) == 1 and argument.tokens[0].kind == "number":
        return argument.tokens[0].text
    return argument.text


_METHOD_SIGNS = frozenset((".", "?.", "&.", ":"))
_PICKS = frozenset((".", "?.", "::", "->", "&."))
_CHANGES = frozenset(("+=", ".=", "<<", "||=", "?=", "++", "=~"))


def _is_end(token: Token) -> bool:
    """Whether the arguments of a call without brackets end here."""
    return token.kind == "line" or (token.kind in ("sign", "name") and token.text in _BARE_ENDS)


def _begins(token: Token) -> bool:
    """Whether an argument without brackets can begin so."""
    return token.kind in ("string", "template", "command", "name", "number") or token.text == "["


def scan(text: str, found: Found, language: Language) -> None:
    """Note what a program does, as far as its calls tell."""
    program, is_whole = tokens(text, language.dialect)
    found.is_unknown |= not is_whole
    reader = Scan(language, found, program)
    for token in program:
        if token.kind == "command":
            found.runs("sh", reader.filled(token.text))
    for call in reader.calls():
        language.calls(reader, call)


def words_of(first: str | None, rest: Sequence[Argument]) -> list[str | None]:
    """A program and its arguments, each of which may be a list."""
    found: list[str | None] = [first]
    for argument in rest:
        if argument.items is not None:
            found += argument.items
        else:
            found += (argument.text,)
    return found
