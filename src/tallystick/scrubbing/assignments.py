r"""Secrets that text gives a name: `API_KEY=…`, `"password": "…"`, `--token …`, `<password>…</password>`.

Owns the notations in which a name and a value stand beside each other, in code, settings, commands and logs, at any depth of
escaping (`\"token\": \"…\"`). Must not know which names say "secret", nor what a secret looks like.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tallystick.scrubbing.judging import LONGEST, Stands, is_secret
from tallystick.scrubbing.names import KIND, Says, says

_WORDS = """
    password passwd pass_word passphrase pass_phrase passcode contrase _pass pass= pass" pass: pwd secret token
    credential apikey api_key api-key _key -key access_key private_key signing_key encryption_key master_key
    account_key auth_key client_key shared_access connection_string _auth sig= mnemonic seed_phrase
"""


def _spellings(word: str) -> set[str]:
    """The ways to write a word in names: `api_key`, `API_KEY`, `Api_Key`, `apiKey`, `ApiKey`, `APIKey`, `apikey`."""
    joined, camel = word.replace("_", ""), word.title().replace("_", "")
    first, _, rest = word.partition("_")
    written = {word, word.upper(), word.title()}
    if first and rest:
        written |= {
            joined,
            joined.upper(),
            joined.title(),
            camel,
            camel[0].lower() + camel[1:],
            first.upper() + camel[len(first) :],
        }
    return written


LITERALS = tuple(sorted(set().union(*map(_spellings, _WORDS.split()))))
"""What every name that says "secret" has in it."""

_IN_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
_LONGEST_NAME = 64
_REST = re.compile(rb"[A-Za-z0-9_.-]{0,64}")
_SPACE = rb"(?:[ \t]|\\+t(?![A-Za-z0-9_]))"
_CLOSE = rb"""(?:\\{0,7}["'`])?(?:\]|\}\}?)?(?:\*\*)?"""
_TYPE = (
    rb":[ ]{0,2}&?(?:'static )?[A-Za-z][A-Za-z0-9_.]{0,24}(?:\[[a-zA-Z]{1,12}\])?"
    rb"(?: ?\| ?(?:None|null|undefined))?\??[ ]{0,2}="
)
# Name, then sign, then value. A comma only between two quoted texts: `setenv("TOKEN", "…")`.
_SIGN = re.compile(
    _CLOSE
    + rb"(?:"
    + (_SPACE + rb"{0,24}(?:" + _TYPE + rb"|:=|=>|={1,3}|!==?|\?=|:(?!:)|%3[Dd])(?:\*\*)?" + _SPACE + rb"{0,24}")
    + rb"|[ ]{1,4}(?:is|was)(?: now)?:?[ ]{1,4}"
    + rb"""|,?(?:[ \t\r\n]|\\+[rnt]){0,24}\\{0,7}["']?[vV]alue\\{0,7}["']?[ ]{0,4}[:=][ ]{0,4}"""
    + rb"""|(?<=["'`]),[ ]{0,4}(?=\\{0,7}["'`])"""
    + rb"""|(?<=["'])[ ]{1,4}value=(?=["'])"""
    + rb"|(?<=[A-Za-z0-9])>(?=[^\s<>]{4,200}</)"
    + rb"|[ ]?\|[ ]{1,24}(?=[^\s|]{4,200}[ ]{1,24}\|)"
    + rb")"
)
_FLAG_SIGN = re.compile(rb"[ ]{1,4}|=")
_AFTER_COMMAND = re.compile(rb"(?:login[ \t]{1,8}\S{1,64}[ \t]{1,8}|\bset -[gUx]{1,3} |\bENV )\Z")
_LINE_START = re.compile(
    rb"(?:[ \t>+|-]|[0-9]{1,6}(?:\t|\xe2\x86\x92|:)){0,16}(?:export |set |ENV |ARG |- |\$env:|-e |--env )?\Z"
)
_OPENING = re.compile(rb"""(?:[bruf@]{1,2}(?=["'`]))?(\\{0,15})(["'`])(?!\2)""")
_BARE = re.compile(
    rb"""(?:[^\s"'`,;&=|<>(){}\[\]\\\x00-\x1f]|=(?![A-Za-z_.-]{1,40}=)|&(?!&|amp;|[A-Za-z_.-]{1,40}=)){1,8192}"""
)
_SETTING = re.compile(rb"""(?![A-Za-z_][A-Za-z0-9_.]*[(\[])[^\s"'`\\\x00-\x1f]{1,8192}""")
_CALL = (b"(", b"[")
_EXPRESSION = re.compile(rb"!{0,2}[A-Za-z_$][A-Za-z0-9_$]*(?:\??\.[A-Za-z_$][A-Za-z0-9_$]*)+[?:]*\Z|!|.*\?\.")
_DIGIT = re.compile(rb"[0-9]")
_SMALL_LETTERS = re.compile(rb"[a-z]+")
_NAME = re.compile(rb"_{0,2}\$?[A-Za-z][A-Za-z0-9_$]*\Z")
_NO_SIGN = re.compile(rb"[(;/@&]|[)]|[.,] [a-z]| (?!is|was|value)[a-z]{1,20}[ .,]")
"""What goes after a name in code or a sentence that gives it no value, in JSON too."""


class Assignment(NamedTuple):
    """A secret under its name: from where to where it goes, and its kind."""

    start: int
    end: int
    kind: str


class Name(NamedTuple):
    """A name in a text: from where to where it goes."""

    start: int
    end: int


def name_at(data: bytes, start: int, end: int) -> Name:
    """The name that has one of LITERALS at `start` to `end`."""
    begin = _name_start(data, start)
    rest = _REST.match(data, end)
    after = end
    if rest is not None:
        after = rest.end()
    return Name(begin, begin + len(data[begin:after].rstrip(b".-")))


class Claim(NamedTuple):
    """A name that says "secret", and where its value begins."""

    name: int
    value: int
    clearly: Says


def claim(data: bytes, name: Name) -> Claim | None:
    """What is beside a name as its value, if the name says "secret"."""
    begin, after = name
    clearly = says(data[begin:after].decode("ascii", "replace"))
    if clearly is Says.NOTHING:
        return None
    sign = _SIGN.match(data, after)
    if sign is not None:
        if sign.end() > after:
            return Claim(begin, sign.end(), clearly)
        return None
    flag = None
    if _takes_a_word(data, begin):
        flag = _FLAG_SIGN.match(data, after)
    if flag is None:
        return None
    return Claim(begin, flag.end(), max(clearly, Says.SECRET))


def assigned(data: bytes, claimed: Claim, limit: int) -> Assignment | None:
    """The secret that a name claims, or None before `limit`."""
    return _value(data, claimed.name, claimed.value, limit, claimed.clearly)


def _takes_a_word(data: bytes, begin: int) -> bool:
    """Whether the name is an option, or is in a command where the next word is its value."""
    if data[begin : begin + 1] == b"-":
        return True
    is_after_blank = data[begin - 1 : begin] in (b" ", b"\t")
    return is_after_blank and _AFTER_COMMAND.search(data, max(0, begin - 90), begin) is not None


def may_be_assigned(data: bytes, start: int, end: int) -> bool:
    """Whether `claim` may find something there once JSON's escapes are undone."""
    begin, after = name_at(data, start, end)
    if says(data[begin:after].decode("ascii", "replace")) is Says.NOTHING:
        return False
    return _NO_SIGN.match(data, after) is None or _takes_a_word(data, begin)


def _name_start(data: bytes, start: int) -> int:
    before = data[max(0, start - _LONGEST_NAME) : start]
    begin = start - (len(before) - len(before.rstrip(_IN_NAME)))
    # The letter of an escape is none of the name: `\nTOKEN=…`.
    if begin and data[begin - 1 : begin] == b"\\" and data[begin : begin + 1] in (b"n", b"r", b"t"):
        if begin < start:
            return begin + 1
        return begin
    return begin


def _value(data: bytes, begin: int, at: int, limit: int, clearly: Says) -> Assignment | None:
    begins_line = _begins_line(data, begin)
    name = data[begin : at - 1]
    is_setting = begins_line and data[at - 1 : at] == b"=" and name == name.upper()
    opening = _OPENING.match(data, at)
    if opening is not None:
        inside = _quoted(opening[1], opening[2]).match(data, opening.end(), limit)
        if inside is not None:
            if is_setting:
                stands = Stands.MEMBER
            else:
                stands = Stands.QUOTED
            return _judged(data, inside.start(), inside.end(), clearly, stands)
        at = opening.end()
    found = (_SETTING if is_setting else _BARE).match(data, at, limit)
    if found is None or data[found.end() : found.end() + 1] in _CALL:
        return None
    is_sure = is_setting or data[at - 1 : at] == b">"
    if not is_sure and _is_code(found[0]):
        return None
    stands = Stands.BARE
    if is_sure:
        stands = Stands.MEMBER
    elif begins_line or data[at - 2 : at] == b"| ":
        stands = Stands.QUOTED
    return _judged(data, at, found.end(), clearly, stands)


def _begins_line(data: bytes, begin: int) -> bool:
    """Whether nothing stands before the name on its line but blanks, a number, the mark of a diff, `export`."""
    before = data[max(0, begin - 32) : begin]
    newline = max(before.rfind(b"\n"), before.rfind(b"\r"), before.rfind(b"\\"))
    if newline < 0 and begin > len(before):
        return False
    return _LINE_START.match(before, newline + 1) is not None


def _is_code(value: bytes) -> bool:
    """Whether a value without quotes is a name or an expression: `options?.apiKey`, `OAuth2TokenAuth`."""
    if _EXPRESSION.match(value):
        return True
    if len(value) < 9 or not _NAME.match(value):
        return False
    digits, runs = len(_DIGIT.findall(value)), _SMALL_LETTERS.findall(value)
    return digits * 10 < len(value) and sum(map(len, runs)) > 2.5 * len(runs)


def _judged(data: bytes, start: int, end: int, clearly: Says, stands: Stands) -> Assignment | None:
    value = data[start:end]
    if stands is not Stands.QUOTED or value[-1:] in b".:":
        value = value.rstrip(b".:")
    if is_secret(value, clearly, stands):
        return Assignment(start, start + len(value), KIND[clearly])
    return None


@cache
def _quoted(escapes: bytes, quote: bytes) -> re.Pattern[bytes]:
    """What stands between such a quote and the next like it on the same line; deeper escapes belong to the value."""
    depth = len(escapes)
    escaped = rb"\\."
    if depth != 0:
        escaped = rb"\\{%d,}[^\\\r\n]" % (depth + 1)
    inside = rb"(?:[^%s\\\r\n]|%s){1,%d}" % (re.escape(quote), escaped, LONGEST)
    return re.compile(inside + rb"(?=\\{%d}%s)" % (depth, re.escape(quote)))
