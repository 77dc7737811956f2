r"""Secrets in blocks and lists: `variable "db_password" { default = "…" }`, `passwords: [a, b]`, lines of accounts.

Owns what is several lines long, or several values under one name. Must not know notations of one name and one value, which
are assignments.py's. All patterns are bounded, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.judging import Stands, is_phrase, is_secret
from tallystick.scrubbing.names import KIND, Says, says, says_of_each
from tallystick.scrubbing.places import Find, Place, place_of

_END = rb"(?:\\+[nr]|\r?\n)"
_QUOTE = rb"\\{0,7}[\"']"

# Blocks --------------------------------------------------------------------------------------------------------------

_VARIABLE = pattern_of(
    rb"variable " + _QUOTE + rb"(?P<name>[\w-]{1,64})" + _QUOTE + rb"[ ]{0,4}\{(?P<body>[^{}]{0,600}?)\bdefault[ \t]{0,16}="
    rb"[ \t]{0,4}" + _QUOTE + rb"(?P<secret>[^\"'\n\\]{4,512})"
)  # fmt: skip
_RESULT = pattern_of(
    rb"random_password" + _QUOTE + rb"[^\0]{0,1200}?" + _QUOTE + rb"result" + _QUOTE + rb"[ ]?:[ ]?" + _QUOTE
    + rb"(?P<secret>(?:[^\"\\]|\\u[0-9a-f]{4}){4,256})"
)  # fmt: skip
_BRACED = pattern_of(rb"(?:PWD|Pwd|pwd|[Pp]assword)=\{(?P<secret>[^{}\n]{4,128})\}(?=[;\"'\s\\]|\Z)")
_KEY_OF_TOKENS = pattern_of(
    rb"[^{}]{0,24}\{[^{}]{0,400}?" + _QUOTE + rb"(?:[Kk]ey|KEY)" + _QUOTE + rb"\s?:\s?" + _QUOTE
    + rb"(?P<secret>[^\"\\]{8,512})"
)  # fmt: skip
_FORM_PART = b'form-data; name="'
_PART = pattern_of(rb"(?P<name>[\w.-]{1,64})" + _QUOTE + _END + _END + rb"(?P<secret>[^\r\n\\]{4,256})")


def _variable(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`variable "db_password" { default = "…" }` of Terraform."""
    found = _VARIABLE.match(data, start)
    if found is not None and is_secret(found["secret"], says(found["name"].decode("utf-8", "replace")), Stands.MEMBER):
        yield Place(*found.span("secret"), "secret")


def _password_made(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The result of a `random_password` in Terraform's state."""
    yield from place_of(_RESULT.match(data, start))


def _braced(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`;PWD={…}` of ODBC."""
    if data[start - 1 : start] == b";":
        yield from place_of(_BRACED.match(data, start))


def _key_of_tokens(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`"Jwt": {"Key": "…"}`."""
    found = _KEY_OF_TOKENS.match(data, start)
    if found is not None and is_secret(found["secret"], Says.SECRET, Stands.MEMBER):
        yield Place(*found.span("secret"), "secret")


def _part(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A part of a form that is sent: its name, an empty line, its value."""
    found = _PART.match(data, start + len(_FORM_PART))
    if found is not None and is_secret(found["secret"], says(found["name"].decode("utf-8", "replace")), Stands.MEMBER):
        yield Place(*found.span("secret"), "secret")


# Lines of accounts ---------------------------------------------------------------------------------------------------

_LINE = rb"(?:^|\\n)"
_ACCOUNT = pattern_of(
    _LINE + rb"[ \t]{0,16}[a-z_][a-z0-9_.-]{0,31}:(?P<secret>[^\s:\\]{4,128})(?=[ \t]{0,16}(?:$|\\+[nr]))", re.MULTILINE
)
_CHAP = pattern_of(
    _LINE + rb"[^\s#\\]{1,64}[ \t]{1,16}[^\s\\]{1,64}[ \t]{1,16}\"?(?P<secret>[^\s\"\\]{4,128})\"?[ \t]{1,16}"
    rb"(?:\*|[0-9.]{7,15})", re.MULTILINE
)  # fmt: skip
_USERS = pattern_of(
    _LINE + rb"\\?\"[^\"\s\\]{1,64}\\?\"[ ]{1,4}\\?\"(?P<secret>[^\"\\]{4,128})\\?\"[ \t]{0,4}(?=$|\\+[nr])",
    re.MULTILINE,
)
_NEAR = 800


def _near(pattern: re.Pattern[bytes]) -> Find:
    """All lines of a form, below a word that says what they are."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        for found in pattern.finditer(data, start, min(len(data), start + _NEAR)):
            yield from place_of(found, is_phrase)

    return find


_accounts, _chap, _users = map(_near, (_ACCOUNT, _CHAP, _USERS))

# Lists ---------------------------------------------------------------------------------------------------------------

_LONGEST_NAME = 48
_IN_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_OPENS = rb"(?:\[|\(|(?<==)[ ]?\{|\[\]string\{|new\[\] ?\{|(?=" + _END + rb"[ \t]{0,16}- ))"
_LIST = pattern_of(
    rb"(?P<close>" + _QUOTE + rb")?\]?[ \t]{0,4}(?P<sign>:=|=>|[:=])[ \t]{0,4}" + _OPENS
    + rb"(?P<items>(?:(?:[ \t,]|-[ ]|" + _END + rb"){0,24}+(?:" + _QUOTE + rb"[^\"'\n\\]{1,512}+" + _QUOTE
    + rb"|[^\s,\"'\[\](){}\\:]{1,512}+)){1,40})"
)  # fmt: skip
_ITEM = pattern_of(
    _QUOTE + rb"(?P<quoted>[^\"'\n\\]{1,512})" + _QUOTE + rb"(?![ ]?[:=])"
    + rb"|(?<![^\s,\[({n])(?P<bare>[^\s,\"'\[\](){}\\:-][^\s,\"'\[\](){}\\:]{0,512})"
)  # fmt: skip


def _listed(word: bytes) -> Find:
    """The values of a list under a name in the plural: `passwords: [a, b]`."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        after = start + len(word)
        found = _LIST.match(data, after)
        if found is None:
            return
        before = data[max(0, start - _LONGEST_NAME) : start]
        name = before[len(before.rstrip(_IN_NAME)) :] + word
        clearly = says_of_each(name.decode())
        is_text = found["close"] is not None or found["sign"] == b":"
        for item in _ITEM.finditer(data, *found.span("items")):
            if item["quoted"] is not None and is_secret(item["quoted"], clearly, Stands.QUOTED):
                yield Place(*item.span("quoted"), KIND[clearly])
            elif is_text and item["bare"] is not None and is_secret(item["bare"], clearly, Stands.LINE):
                yield Place(*item.span("bare"), KIND[clearly])

    return find


_VALUES = pattern_of(rb"=[\"']?(?P<items>[^\s\"',]{8,256}(?:,[^\s\"',]{8,256}){1,9})")


def _set(word: bytes) -> Find:
    """`COOKIE_KEYS=a,b` of an environment file."""

    def find(data: bytes, start: int, limit: int) -> Iterator[Place]:
        found = _VALUES.match(data, start + len(word))
        if found is None:
            return
        at = found.start("items")
        for item in found["items"].split(b","):
            if is_secret(item, Says.SECRET, Stands.LINE):
                yield Place(at, at + len(item), KIND[Says.SECRET])
            at += len(item) + 1

    return find


_IN_PLURAL = (
    "passwords", "Passwords", "PASSWORDS", "tokens", "Tokens", "TOKENS", "secrets", "Secrets", "SECRETS", "_keys", "_KEYS",
    "apiKeys", "ApiKeys", "api-keys", "accessKeys",
)  # fmt: skip
_LIST_SIGNS = ('": [', '":[', '\\": [', '\\":[', ": [", " = [", "=[", ":\n", " = {")
_OF_TOKENS = ("Jwt", "JWT", "jwt", "JwtSettings", "JwtConfig", "JwtOptions", "JwtBearer", "TokenSettings")
_SETS = ("_KEYS", "TOKENS", "SECRETS", "PASSWORDS")
_LISTED = {word: _listed(word.encode()) for word in _IN_PLURAL}
BLOCKS: tuple[tuple[str, Find], ...] = (
    ('variable "', _variable),
    ("random_password", _password_made),
    *((f"{word}={{", _braced) for word in ("PWD", "Pwd", "pwd", "Password", "password")),
    *((f'"{word}"', _key_of_tokens) for word in _OF_TOKENS),
    (_FORM_PART.decode(), _part),
    ("chpasswd", _accounts),
    ("# client", _chap),
    ("CHAP", _chap),
    ("userlist", _users),
    *((f"{word}=", _set(word.encode())) for word in _SETS),
    *((word + sign, find) for word, find in _LISTED.items() for sign in _LIST_SIGNS),
)
"""Each form with a literal that it has in it."""
LINES = frozenset((_accounts, _chap, _users, *_LISTED.values()))
"""Those that look at lines."""
AREAS = {_accounts: 256, _chap: 256, _users: 256, _password_made: 256}
"""Those that look at a part of a text, and how far away the next look is."""
