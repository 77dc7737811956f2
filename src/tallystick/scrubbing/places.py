r"""Secrets that are known by where they stand: key blocks, addresses with a password, headers, webhooks, command options.

Owns those places, one function each: given where its literal is and how far to read, it gives the secrets there. All patterns
are bounded, so that no text makes them slow. Must not know of names and values in general: those are assignments.py's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import Stands, is_ordinary, is_secret, looks_random
from tallystick.scrubbing.markers import OPEN_BYTES
from tallystick.scrubbing.names import Says
from tallystick.scrubbing.shapes import begins_word

_FEWEST_CHARACTERS = 6


class Place(NamedTuple):
    """A secret where one is expected: from where to where it goes, and its kind."""

    start: int
    end: int
    kind: str


def place_of(found: re.Match[bytes] | None, is_too: Callable[[bytes], bool] = lambda _: False) -> Iterator[Place]:
    """What such a match has as its `secret`, if that is a value which stands where nothing but a password does."""
    if found is not None and (is_too(found["secret"]) or is_secret(found["secret"], Says.PASSWORD, Stands.MEMBER)):
        yield Place(*found.span("secret"), "password")


# Key blocks ----------------------------------------------------------------------------------------------------------

_SSH2 = pattern_of(rb"---- BEGIN SSH2 [A-Z ]{0,12}PRIVATE KEY ----(?P<secret>[^\0]{24,20000}?)---- END SSH2")
_BLOCK = pattern_of(
    rb"-----BEGIN (?:(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
    rb"(?P<body>(?:[^-(){};<]|-(?!----)){0,20000})"
    rb"(?P<end>-----END (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----)?"
)
_KEY_TEXT = pattern_of(rb"[A-Za-z0-9+/=]{24}")
_KEY_LINES = pattern_of(
    rb"(?:[A-Za-z0-9+/=]{16,}|[ \t\r\n>|+]|\\+[nr]|[A-Z][A-Za-z-]{2,16}: [^\n\\]{0,80}|[0-9]{1,6}(?:\t|\xe2\x86\x92|:)"
    rb"|[A-Za-z0-9+/=]{1,15}(?=[\s\\\"']|\Z)){0,4000}"
)


def key_block(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A PEM block of a private key, whole; without its end, as far as it has lines of a key."""
    found = _BLOCK.match(data, start, limit)
    if found is None or _KEY_TEXT.search(data, found.start("body"), found.end("body")) is None:
        return
    stop = found.end()
    if found["end"] is None:
        lines = _KEY_LINES.match(data, found.start("body"))
        if lines is not None and lines.end() > lines.start():
            stop = lines.end()
    yield Place(start, stop, "private-key")


def ssh2_key(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A private key as the programs of SSH.com write it."""
    found = _SSH2.match(data, start)
    if found is not None:
        yield Place(*found.span("secret"), "private-key")


_PUTTY = pattern_of(
    rb"Private-Lines:[ ]{0,4}[0-9]{1,4}(?P<body>(?:(?:[\s>|+]|\\+[nr]){1,24}[A-Za-z0-9+/=]{4,76}){1,400})"
)


_KEY_END = pattern_of(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = pattern_of(rb"(?:[ \t>|+]{0,16}[A-Za-z0-9+/=]{4,80}[ \t]{0,4})?\Z")
_LINE_END = pattern_of(rb"\\{1,4}[nr]|[\r\n]")
_SHORTEST_KEY, _LONGEST_KEY = 24, 8192


def key_tail(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The lines of a private key of which only the end is there."""
    if _KEY_END.match(data, start) is None:
        return
    begin = start
    floor = max(0, start - _LONGEST_KEY)
    floor = max(floor, data.rfind(b"-----", floor, start) + 1)
    for line in reversed(_LINE_END.split(data[floor:start])):
        if _KEY_LINE.match(line) is None:
            break
        begin = data.rfind(line, 0, begin + 1) if line else begin
    if start - begin > _SHORTEST_KEY:
        yield Place(begin, start, "private-key")


def putty_key(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The private lines of a PuTTY key."""
    found = _PUTTY.match(data, start, limit)
    if found is not None:
        yield Place(found.start("body"), found.end("body"), "private-key")


# Addresses -----------------------------------------------------------------------------------------------------------

_ADDRESS = pattern_of(rb"""://[^\s/?#@:"'`<>\\|]{0,128}:(?P<password>[^\s"'`<>\\|]{1,512})@(?=[\w\[$<{.-])""")
_BEARER_ADDRESS = pattern_of(rb"""://(?P<secret>[A-Za-z0-9_-]{20,256})@(?=[\w\[])""")
_NO_PASSWORD = pattern_of(
    rb"(?:[$<{%*\[]|\xe2\x80\xb9|pass(?:w(?:or)?d|code)?\Z|pw\Z|pwd\Z|secret\Z|token\Z|key\Z|api_?key\Z|x+\Z|\.+\Z|your|user|example|redacted|port\Z|[0-9]{1,5}(?:[/?#]|\Z))",
    re.IGNORECASE,
)


def address_password(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The password in `scheme://user:password@host`."""
    found = _ADDRESS.match(data, start, limit)
    if found is not None and _NO_PASSWORD.match(found["password"]) is None and not is_ordinary(found["password"]):
        yield Place(*found.span("password"), "url-password")
    alone = _BEARER_ADDRESS.match(data, start, limit)
    if alone is not None and looks_random(alone["secret"]):
        yield Place(*alone.span("secret"), "url-password")


class _Address(Entry, frozen=True):
    """A text around a secret that is known by what is before it; `random`: the secret must look made by chance."""

    kind: str
    literals: tuple[str, ...]
    pattern: str
    random: bool = False


class _Middle(Entry, frozen=True):
    """A form whose literal is in its middle: what is before the literal, and from it on."""

    kind: str
    literals: tuple[str, ...]
    before: str
    body: str


class _Beside(Entry, frozen=True):
    """A form that is looked for around the name of its service."""

    kind: str
    names: tuple[str, ...]
    pattern: str


class _Facts(Entry, frozen=True):
    """Facts of catalog/secret_places.toml."""

    addresses: tuple[_Address, ...]
    middles: tuple[_Middle, ...]
    beside: tuple[_Beside, ...]


_FACTS = load("secret_places", _Facts)
_LONGEST_BEFORE = 48
_NEAR = 400


def _address(address: _Address) -> Find:
    pattern = pattern_of(address.pattern.encode())

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        found = pattern.match(data, start)
        if found is None or len(set(found["secret"])) < _FEWEST_CHARACTERS or OPEN_BYTES in found["secret"]:
            return
        if not address.random or is_secret(found["secret"], Says.MAYBE, Stands.MEMBER):
            yield Place(*found.span("secret"), address.kind)

    return find


def _middle(form: _Middle) -> Find:
    before, body = pattern_of(rb"(?:" + form.before.encode() + rb")\Z"), pattern_of(form.body.encode())

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        floor = max(0, start - _LONGEST_BEFORE)
        first, rest = before.search(data[floor:start]), body.match(data, start)
        if first is not None and rest is not None and begins_word(data, floor + first.start()):
            yield Place(floor + first.start(), rest.end(), form.kind)

    return find


def _beside(form: _Beside) -> Find:
    pattern = pattern_of(form.pattern.encode())

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        for found in pattern.finditer(data, max(0, start - _NEAR), min(len(data), start + _NEAR)):
            if len(set(found[0])) > _FEWEST_CHARACTERS:
                yield Place(found.start(), found.end(), form.kind)

    return find


# Headers -------------------------------------------------------------------------------------------------------------

_QUOTES = rb"""(?:\\{0,7}["'`])?"""
_AUTHORIZATION = pattern_of(
    rb"authorization" + _QUOTES + rb"\]?[ \t]{0,8}(?:[:=,]|=>|(?=[ \t\\]{0,4}[\"']))[ \t]{0,8}" + _QUOTES
    + rb"(?P<scheme>(?:basic|bearer|token|digest|apikey|api-key|key|bot|jwt|negotiate|ntlm|sharedkey|sharedkeylite"
    rb"|splunk|sso-key|geniekey)"
    rb"[ =:]{1,4})?"
    rb"(?P<secret>[A-Za-z0-9._~+/%@:-]{6,8192}={0,2})",
    re.IGNORECASE,
)  # fmt: skip
_SCHEME_SAYS = {b"": Says.TOKEN, b"basic": Says.PASSWORD}
_BEARER = pattern_of(rb"bearer,?[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/-]{16,8192}={0,2})", re.IGNORECASE)


def authorization(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """What an `Authorization` header says after its scheme."""
    found = _AUTHORIZATION.match(data, start, limit)
    if found is None:
        return
    clearly = _SCHEME_SAYS.get((found["scheme"] or b"").strip(b" =:").lower(), Says.SECRET)
    if is_secret(found["secret"], clearly, Stands.MEMBER):
        yield Place(*found.span("secret"), "authorization")


def bearer(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A token after the word `Bearer`, wherever that stands."""
    found = _BEARER.match(data, start, limit)
    if found is not None and is_secret(found["secret"], Says.SECRET, Stands.BARE):
        yield Place(*found.span("secret"), "authorization")


_COOKIES = pattern_of(
    rb"cookie" + _QUOTES + rb"[ \t]{0,8}[:=,][ \t]{0,8}" + _QUOTES + rb"(?P<pairs>[^\r\n\"'`\\]{8,8192})", re.IGNORECASE
)
_COOKIE = pattern_of(rb"=(?P<value>[^;\s(){}<>,]{16,4096})")


def cookies(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The values of a `Cookie` or `Set-Cookie` header that look made by chance."""
    found = _COOKIES.match(data, start, limit)
    if found is None:
        return
    for pair in _COOKIE.finditer(data, *found.span("pairs")):
        if looks_random(pair["value"]) and not pair["value"].startswith(b"GA1.") and OPEN_BYTES not in pair["value"]:
            yield Place(*pair.span("value"), "cookie")


# Keys beside their ids, and keys in base64 ----------------------------------------------------------------------------

_AWS_PAIR = pattern_of(
    rb"""(?:AKIA|ASIA)[A-Z0-9]{16}[\s"'\\:,;|/]{1,12}(?:[A-Za-z_]{0,32}["'\\ =:]{1,8})?"""
    rb"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)


def aws_pair(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The secret key that stands right after its key id, as in a credentials file or a table."""
    found = _AWS_PAIR.match(data, start, limit)
    if found is not None and looks_random(found["secret"]) and b"EXAMPLE" not in found["secret"]:
        yield Place(*found.span("secret"), "aws-secret-key")


_ENCODED_KEY = pattern_of(
    rb"LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,48}(?:UFJJVkFURS|BSSVZBVE|QUklWQVRF)[A-Za-z0-9+/=]{16,40000}"
)


def encoded_key(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A PEM block of a private key in base64, as Kubernetes keeps it."""
    found = _ENCODED_KEY.match(data, start, limit)
    if found is not None:
        yield Place(found.start(), found.end(), "private-key")


Find = Callable[[bytes, int, int], Iterator[Place]]

_BESIDE = [(name, find) for form in _FACTS.beside for find in (_beside(form),) for name in form.names]
AREAS = {find: _NEAR // 2 for _, find in _BESIDE}
"""Those that look at a part of a text, and how far away the next look is."""
PLACES: tuple[tuple[str, Find], ...] = (
    ("-----BEGIN ", key_block),
    ("-----END ", key_tail),
    ("Private-Lines:", putty_key),
    ("---- BEGIN SSH2 ", ssh2_key),
    ("://", address_password),
    *((spelling, authorization) for spelling in ("authorization", "Authorization", "AUTHORIZATION")),
    *((spelling, bearer) for spelling in ("bearer ", "Bearer ", "BEARER ", "bearer, ")),
    *((spelling, cookies) for spelling in ("cookie", "Cookie", "COOKIE")),
    ("AKIA", aws_pair),
    ("ASIA", aws_pair),
    ("LS0tLS1CRUdJTi", encoded_key),
    *((literal, find) for address in _FACTS.addresses for find in (_address(address),) for literal in address.literals),
    *_BESIDE,
    *((literal, _middle(form)) for form in _FACTS.middles for literal in form.literals),
)
"""Each place with a literal that it has in it."""
