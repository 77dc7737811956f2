r"""Secrets that programs say to each other or print: SMTP, IMAP, FTP, Redis, directives of routers, `$ pass show …`.

Owns the forms of these; which directives and commands there are is data (catalog/secret_exchanges.toml). Must not know
options of commands, which are commands.py's. All patterns are bounded, so that no text makes them slow.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import Stands, is_phrase, is_secret
from tallystick.scrubbing.names import Says, says
from tallystick.scrubbing.places import Find, Place, place_of


class _Facts(Entry, frozen=True):
    """Facts of catalog/secret_exchanges.toml."""

    directives: tuple[str, ...]
    prints: tuple[str, ...]


_FACTS = load("secret_exchanges", _Facts)
_END = rb"(?:\\+[nr]|\r?\n)"
_LINE_END = rb"(?=[ \t]{0,4}(?:[\r\n]|\\+[nr]|[\"']|\Z))"

# Protocols -----------------------------------------------------------------------------------------------------------

_PLAIN = pattern_of(rb"AUTH (?:PLAIN|LOGIN)[ \t]{1,4}(?P<secret>[A-Za-z0-9+/]{8,1024}={0,2})", re.IGNORECASE)
_ASKED = pattern_of(rb"UGFzc3dvcmQ6" + _END + rb"{1,2}(?:[A-Z]{1,2}: ?|> ?)?(?P<secret>[A-Za-z0-9+/]{4,256}={0,2})")
_AUTH = pattern_of(
    rb"AUTH[ ]{1,4}(?:[\w.-]{1,64}[ ]{1,4})?[\"']?(?P<secret>[^\s\"']{6,128})[\"']?(?=[ \t]{0,4}(?:[\r\n]|\\+[nr]|\Z))"
)
_ON = pattern_of(rb" on >(?P<secret>[^\s\"'\\]{4,128})")
_ACL_USER = pattern_of(rb"user[ ]{1,4}[\w.-]{1,64}\Z", re.IGNORECASE)
_PASS = pattern_of(rb"PASS[ ](?P<secret>[^\s\"'\\]{4,128})" + _LINE_END)
_USER = pattern_of(rb"USER \S{1,64}|(?:[\"'>]|[CS]:)[ ]?\Z")
_IMAP = pattern_of(rb" LOGIN[ ]\"?[^\s\"]{1,128}\"?[ ]\"?(?P<secret>[^\s\"\\]{4,128})\"?" + _LINE_END)
_TAG = pattern_of(rb"(?:\A|[\n\"'>:]|\\n)[ ]?[A-Za-z]{0,4}[0-9]{1,6}\Z")


def _smtp(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`AUTH PLAIN …` which a mail client sends."""
    found = _PLAIN.match(data, start)
    if found is not None and _is_base64(found["secret"]):
        yield Place(*found.span("secret"), "authorization")


def _asked(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """What a mail client answers when it is asked for a password, in base64."""
    found = _ASKED.match(data, start)
    if found is not None and _is_base64(found["secret"]):
        yield Place(*found.span("secret"), "authorization")


def _is_base64(value: bytes) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


def _auth(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`AUTH password` which a client of Redis sends, alone in its line or after a prompt."""
    before = data[max(0, start - 24) : start]
    if not before or before.endswith((b"\n", b"> ", b'"', b"'", b"\\n")):
        yield from place_of(_AUTH.match(data, start))


def _acl(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`user NAME on >password` of Redis."""
    if _ACL_USER.search(data, max(0, start - 80), start):
        yield from place_of(_ON.match(data, start))


def _pass(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`PASS password` after `USER name`, or after the sign of who speaks: of FTP, POP3 and IRC. Not what a test prints."""
    if _USER.search(data, max(0, start - 200), start):
        yield from place_of(_PASS.match(data, start))


def _imap(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`a1 LOGIN user password`."""
    if _TAG.search(data, max(0, start - 12), start):
        yield from place_of(_IMAP.match(data, start))


# Directives ----------------------------------------------------------------------------------------------------------

_DIRECTED = pattern_of(
    rb"(?:[ \t]{1,8}(?:--?[a-z]{1,16}|[0-9]|ascii|plain|cleartext))?[ \t]{1,16}\\{0,3}[\"']?(?P<secret>[^\s\"'\\;]{4,128})"
)


def _directive(word: bytes) -> Find:
    """The word after a directive."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        yield from place_of(_DIRECTED.match(data, start + len(word)))

    return find


# What commands print -------------------------------------------------------------------------------------------------

_VARIABLE = pattern_of(
    rb"(?:printenv[ ]{1,4}|echo[ ]{1,4}\"?\$\{?)(?P<name>[A-Za-z_][A-Za-z0-9_]{1,60})\}?\"?[ \t]{0,4}"
    + _END
    + rb"(?P<secret>[^\s\\]{6,2000})"
)
_PROMPT = pattern_of(rb"[^$#%>\xaf\n]{0,80}[$#%>\xaf][ ]")
_LONGEST_COMMAND = 300
_LINE_ENDS = (b"\n", b"\\n")
_OUTPUT = pattern_of(rb"[^\n\\]{0,200}" + _END + rb"(?P<secret>[^\s\\\"]{6,2000})(?=[ \t]{0,4}(?:[\r\n\"]|\\+[nr]|\Z))")


def _variable(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The value of a variable that a command prints."""
    found = _VARIABLE.match(data, start)
    if found is None:
        return
    clearly = says(found["name"].decode())
    if clearly is not Says.NOTHING and is_secret(found["secret"], max(clearly, Says.SECRET), Stands.MEMBER):
        yield Place(*found.span("secret"), "secret")


def _printed(word: bytes) -> Find:
    """The line under a command, after a prompt, that prints a secret."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        floor = max(0, start - _LONGEST_COMMAND)
        ends = (data.rfind(end, floor, start) + len(end) for end in _LINE_ENDS if end in data[floor:start])
        begin = max(floor, *ends, 0)
        if _PROMPT.match(data, begin, start):
            yield from place_of(_OUTPUT.match(data, start + len(word)), is_phrase)

    return find


EXCHANGES: tuple[tuple[str, Find], ...] = (
    *((word, _smtp) for word in ("AUTH PLAIN", "AUTH LOGIN")),
    ("UGFzc3dvcmQ6", _asked),
    ("AUTH ", _auth),
    (" on >", _acl),
    ("PASS ", _pass),
    (" LOGIN ", _imap),
    ("printenv ", _variable),
    ("echo $", _variable),
    ('echo "$', _variable),
    *((word, _directive(word.encode())) for word in _FACTS.directives),
    *((word, _printed(word.encode())) for word in _FACTS.prints),
)
"""Each form with a literal that it has in it."""
LINES = frozenset((_variable, _acl, _auth, _asked))
"""Those that look at lines."""
