"""Secrets that commands and calls are given: `mysql -p…`, `echo … | sudo -S`, `HTTPBasicAuth(user, "…")`.

Owns how the patterns of catalog/secret_arguments.toml are read and matched. Must not know any program or function: those are
data. What is matched is at most a command's length, and each place is looked at once.
"""

import re
from collections.abc import Iterator
from functools import cache

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import Stands, is_phrase, is_secret
from tallystick.scrubbing.names import Says
from tallystick.scrubbing.places import Place


class _Program(Entry, frozen=True, array_like=True):
    """Programs, words one of which must be in the command, and the patterns of what they take."""

    names: tuple[str, ...]
    takes: tuple[str, ...]
    having: tuple[str, ...] = ()
    kind: str = "password"


class _Pipe(Entry, frozen=True):
    """Programs that read a secret from what is piped into them."""

    into: tuple[str, ...]


class _Call(Entry, frozen=True):
    """Functions, and which of their arguments is a secret."""

    names: tuple[str, ...]
    argument: int
    says: str = "password"


class _Facts(Entry, frozen=True):
    """Facts of catalog/secret_arguments.toml."""

    programs: tuple[_Program, ...]
    pipes: tuple[_Pipe, ...]
    calls: tuple[_Call, ...]


_FACTS = load("secret_arguments", _Facts)
_LONGEST_COMMAND = 600
_COMMAND = pattern_of(rb"(?:[^\n;|&]|\\\n|;(?! )|&(?!&| )|\|(?![| ])){1,%d}" % _LONGEST_COMMAND)
_NOT_BEFORE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ANY_WORD = rb"""(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^\s"'|;&]{1,200})"""
_SECRET = (
    rb"""(?P<inner>["'])?(?P<secret>(?(outer)[^"'\n\\]{3,256}|(?(inner)[^"'\n\\]{3,256}|[^\s"'`;|<>()\\]{3,256})))"""
)
_PAIR = "pair"
_SAYS = {"password": Says.PASSWORD, "secret": Says.SECRET, _PAIR: Says.PASSWORD, "token": Says.TOKEN}
_KINDS = {_PAIR: "password"}
_USER_AND_PASSWORD = pattern_of(rb"[\w.@+-]{1,64}:(?!//)(?P<secret>[^\s:]{3,128})\Z")


def _word(word: str) -> bytes:
    if word == "*":
        return _ANY_WORD
    if "?" not in word:
        return _fixed(word)
    before, after = word.split("?")
    return rb"""(?P<outer>\\{0,7}["'])?""" + _open(before) + _SECRET + _fixed(after)


def _fixed(text: str) -> bytes:
    """A word without the secret; `*` in it are some letters of options."""
    return re.escape(text).replace(r"\*", r"[^\s\"']{0,64}").encode()


def _open(text: str) -> bytes:
    """What goes before the secret in its word; `*` goes as far as the sign that follows it."""
    parts = []
    for position, piece in enumerate(pieces := text.split("*")):
        parts.append(re.escape(piece).encode())
        if position + 1 < len(pieces):
            sign = re.escape(pieces[position + 1][:1]).encode()
            parts.append(rb"[^\s\"'`|;" + sign + rb"]{0,100}")
    return b"".join(parts)


@cache
def _pattern(takes: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<=[\s\"'])" + rb"(?:[ \t]+|=)".join(map(_word, takes.split(" "))))


@cache
def _programs() -> dict[str, list[_Program]]:
    found: dict[str, list[_Program]] = {}
    for entry in _FACTS.programs:
        for name in entry.names:
            found.setdefault(f"{name} ", []).append(entry)
    return found


def program_literals() -> tuple[str, ...]:
    """What every command has in it that may be given a secret."""
    return tuple(_programs())


def command_end(data: bytes, start: int) -> int:
    """Where the command that begins at `start` ends."""
    found = _COMMAND.match(data, start)
    if found is None:
        return start
    return found.end()


def given(data: bytes, literal: str, start: int, end: int) -> Iterator[Place]:
    """The secrets that the program at `start` is given, in the command that ends at `end`."""
    if start > 0 and data[start - 1] in _NOT_BEFORE:
        return
    for entry in _programs()[literal]:
        if entry.having and not any(word.encode() in data[start:end] for word in entry.having):
            continue
        for takes in entry.takes:
            for found in _pattern(takes).finditer(data, start, end):
                value = found["secret"]
                if is_phrase(value) or is_secret(value, Says.PASSWORD, Stands.MEMBER):
                    yield Place(*found.span("secret"), entry.kind)


# Pipes ---------------------------------------------------------------------------------------------------------------

_ECHO = pattern_of(
    rb"""(?:echo|printf|print)(?:[ \t]+-[a-zA-Z]{1,4}){0,3}[ \t]+(?:["']%s(?:\\{1,4}n)?["'][ \t]+)?"""
    rb"""(?:(?P<quote>\\{0,3}["'])(?P<quoted>[^"'\n]{3,256}?)(?:\\{1,4}n)?(?P=quote)|(?P<bare>[^\s"'|;&]{3,256}))[ \t]*\Z"""
)
_NEWLINE = pattern_of(rb"\\{1,4}[nr]")


def pipe_literals() -> tuple[str, ...]:
    """What follows a secret that is piped into a program."""
    found = [name for entry in _FACTS.pipes for name in entry.into]
    return tuple(f"| {before}{name}" for name in found for before in ("", "sudo "))


def piped(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`echo SECRET | program`."""
    floor = max(0, start - 400)
    floor = max(floor, data.rfind(b"|", floor, start) + 1, data.rfind(b"\n", floor, start) + 1)
    found = _ECHO.search(data[floor:start])
    if found is None:
        return
    group = "quoted"
    if found["bare"] is not None:
        group = "bare"
    at = floor + found.start(group)
    for piece in _NEWLINE.split(found[group]):
        begin = data.find(piece, at)
        secret = piece[piece.find(b":") + 1 :]
        if secret.startswith(b"//"):  # an address
            secret = piece
        if b" " in secret or is_secret(secret, Says.PASSWORD, Stands.MEMBER):
            yield Place(begin + len(piece) - len(secret), begin + len(piece), "password")
        at = begin + len(piece)


# Calls ---------------------------------------------------------------------------------------------------------------

_ARGUMENT = pattern_of(
    rb"""\s{0,16}(?:[A-Za-z_]\w{0,24}=)?(?:[bfr@$]?(?P<quote>\\{0,7}["'`])(?P<text>[^"'`\n]{0,256})(?P=quote)|(?P<code>[^,()"'`\n]{1,100}(?:\(\))?))\s{0,16}(?P<after>[,)])"""
)
_MOST_ARGUMENTS = 6


@cache
def _calls() -> dict[str, list[_Call]]:
    found: dict[str, list[_Call]] = {}
    for entry in _FACTS.calls:
        for name in entry.names:
            found.setdefault(f"{name}(", []).append(entry)
    return found


def call_literals() -> tuple[str, ...]:
    """How every call begins that may be given a secret."""
    return tuple(_calls())


def passed(data: bytes, literal: str, start: int, end: int) -> Iterator[Place]:
    """The argument of the call at `start` that is a secret; its arguments begin at `end`."""
    if not literal.startswith(".") and start > 0 and data[start - 1 : start].isalnum() and literal[0].islower():
        return
    arguments = list(_arguments(data, end))
    for entry in _calls()[literal]:
        at = entry.argument - (entry.argument > 0)
        if -len(arguments) <= at < len(arguments):
            found = arguments[at]
            if found["text"] is not None:
                yield from _argument(found, entry.says)


def _argument(found: re.Match[bytes], form: str) -> Iterator[Place]:
    """The secret in a text that is an argument: all of it, or what is after the name of a user."""
    begin, value = found.start("text"), found["text"]
    if form == _PAIR:
        pair = _USER_AND_PASSWORD.match(value)
        if pair is None:
            return
        begin, value = begin + pair.start("secret"), pair["secret"]
    if is_secret(value, _SAYS[form], Stands.QUOTED) or (form == "password" and is_phrase(value)):
        yield Place(begin, begin + len(value), _KINDS.get(form, form))


def _arguments(data: bytes, at: int) -> Iterator[re.Match[bytes]]:
    for _ in range(_MOST_ARGUMENTS):
        found = _ARGUMENT.match(data, at)
        if found is None:
            return
        yield found
        if found["after"] == b")":
            return
        at = found.end()
