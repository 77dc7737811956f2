r"""Secrets that a format of files says are one: _netrc, _pgpass, Kubernetes, tables with a column of passwords, SQL.

Owns those formats, one function each, as places.py has places. Escaped line ends (`\n` in JSON) are line ends. All patterns
are bounded, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle

from tallystick.model.pattern import pattern_of
from tallystick.scrubbing.blocks import AREAS as AREAS_OF_BLOCKS
from tallystick.scrubbing.blocks import BLOCKS
from tallystick.scrubbing.blocks import LINES as LINES_OF_BLOCKS
from tallystick.scrubbing.exchanges import EXCHANGES, LINES
from tallystick.scrubbing.judging import Stands, is_basic, is_secret
from tallystick.scrubbing.names import KIND, Says, says
from tallystick.scrubbing.places import AREAS as AREAS_OF_PLACES
from tallystick.scrubbing.places import Find, Place, place_of
from tallystick.scrubbing.sentences import SENTENCES

_END = rb"(?:\\+[nr]|\r?\n)"
_BLANK = rb"(?:[ \t]|\\+t|" + _END + rb")"
_WORD = rb"""[^\s"'\\]{1,128}"""

# Words in lines ------------------------------------------------------------------------------------------------------

_NETRC = pattern_of(
    rb"(?:machine" + _BLANK + rb"{1,16}" + _WORD + rb"|default)"
    rb"(?:" + _BLANK + rb"{1,16}(?:login|account|user)" + _BLANK + rb"{1,16}" + _WORD
    + rb"){0,3}" + _BLANK + rb"{1,16}(?:password|passwd)" + _BLANK + rb"{1,16}(?P<secret>" + _WORD + rb")"
)  # fmt: skip
_LOGIN = pattern_of(
    rb"(?:login|user|username|account|email|from)[ \t]{1,8}\"?" + _WORD + rb"\"?" + _BLANK
    + rb"{1,16}(?:password|passwd|passw|pass|secret)[ \t]{1,16}\"?(?P<secret>" + _WORD + rb")", re.IGNORECASE
)  # fmt: skip


def _netrc(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`machine HOST login USER password SECRET`, over as many lines as it likes."""
    yield from place_of(_NETRC.match(data, start))


def _login(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`user NAME` and `password SECRET` after each other, with nothing between word and value but blanks."""
    yield from place_of(_LOGIN.match(data, start))


_PGPASS = pattern_of(
    rb"(?:\d{2,5}|\*):(?:[^:\s\\]|\\:){1,64}:(?:[^:\s\\]|\\:){1,64}:(?P<secret>[^\s\"':\\]{4,128})(?=[\s\\\"']|\Z)"
)


def _pgpass(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`host:port:database:user:password`."""
    yield from place_of(_PGPASS.match(data, start + 1))


_HASHED = pattern_of(rb"\$(?:[1567y]|2[abxy]|apr1|sha1|argon2(?:id?|d)|scrypt)\$[./A-Za-z0-9$=,+-]{20,250}")
_SHORT_SCHEMES = ("1", "5", "6", "7", "y", "sha1")
_SCHEMES = ("2a", "2b", "2y", "apr1", "argon2id", "argon2i", "argon2d", "scrypt")
_NTLM = pattern_of(rb"[0-9]{1,8}:[a-fA-F0-9]{32}:(?P<secret>[a-fA-F0-9]{32})(?=:::)")


def _hashed(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The hash of a password in a line of `/etc/shadow` or `.htpasswd`: it can be guessed from."""
    found = _HASHED.match(data, data.find(b"$", start))
    if found is not None:
        yield Place(found.start(), found.end(), "password-hash")


def _ntlm(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """Hashes of a Windows account: `name:500:LM:NT:::`."""
    floor = max(0, start - 80)
    found = _NTLM.search(data, floor, start + 3)
    if found is not None:
        yield Place(found.end() - 65, found.end(), "password-hash")


# Kubernetes ----------------------------------------------------------------------------------------------------------

_MANIFEST = 8192
_DOCUMENT = pattern_of(rb"(?:\A|\n)---[ \t]*(?:\n|\Z)|" + rb"\\n---\\n")
_DATA = pattern_of(
    rb"(?P<indent>(?:\A|\n|\\n)[ \t]{0,16})(?:data|stringData):[ \t]*(?=" + _END + rb")(?P<lines>(?:" + _END
    + rb"[ \t]{1,20}[^\s:\\][^:\n\\]{0,200}:[^\n\\]{0,4000}){1,200})"
)  # fmt: skip
_LINE = pattern_of(rb"[ \t]{1,20}[\"']?[\w./-]{1,200}[\"']?:[ \t]{1,8}[\"']?(?P<secret>[^\s\"'\\|>][^\n\"'\\]{2,4000})")
_JSON_DATA = pattern_of(rb"\\{0,3}\"(?:data|stringData)\\{0,3}\"[ ]?:[ ]?\{(?P<members>[^{}]{0,16000})\}")
_MEMBER = pattern_of(rb":\s?\\{0,3}\"(?P<secret>[^\"\\]{3,4000})\\{0,3}\"")


def _kubernetes_secret(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """All values of `data` and `stringData` of a Secret, whatever they are called."""
    low, high = _document(data, start)
    for block in _DATA.finditer(data, low, high):
        for line in _LINE.finditer(data, *block.span("lines")):
            yield from _kept(line)
    for block in _JSON_DATA.finditer(data, low, high):
        for member in _MEMBER.finditer(data, *block.span("members")):
            yield from _kept(member)


def _kept(found: re.Match[bytes]) -> Iterator[Place]:
    value = found["secret"].rstrip()
    if not value.startswith((b"{{", b"$", b"<")):
        yield Place(found.start("secret"), found.start("secret") + len(value), "kubernetes-secret")


def _document(data: bytes, at: int) -> tuple[int, int]:
    low, high = max(0, at - _MANIFEST), min(len(data), at + _MANIFEST)
    for found in _DOCUMENT.finditer(data, low, high):
        if found.end() <= at:
            low = found.end() - 1
        elif found.start() >= at:
            return low, found.start()
    return low, high


# Logins in base64 ----------------------------------------------------------------------------------------------------

_BASIC = pattern_of(
    rb"""_?auth(?:Token)?\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["']?(?P<secret>[A-Za-z0-9+/]{8,1024}={0,2})"""
)


def _basic(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`"auth": "…"` of Docker and `_auth=…` of npm: user and password in base64."""
    found = _BASIC.match(data, start)
    if found is not None and is_basic(found["secret"]):
        yield Place(*found.span("secret"), "authorization")


# Tables --------------------------------------------------------------------------------------------------------------

_ROWS = 100
_HEADER = pattern_of(rb"[^\n]{1,1000}")
_OF_RULES = frozenset(b"-+=|: \r")
_SEPARATORS = (b"|", b",", b";", b"\t")


def _table(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A column whose head says "password", in a CSV file or a table of Markdown; `start` is in the head."""
    begin = data.rfind(b"\n", max(0, start - 500), start) + 1
    head = _HEADER.match(data, begin)
    if head is None or data[head.end() : head.end() + 1] != b"\n" or start - begin > 500:
        return
    separator = next((sign for sign in _SEPARATORS if head[0].count(sign)), b"")
    names = head[0].split(separator or None)
    columns = [index for index, name in enumerate(names) if _is_head(name)]
    if separator and columns:
        yield from _cells(data, head.end() + 1, separator, (len(names), columns))


def _is_head(name: bytes) -> bool:
    text = name.strip(b" \"'*`").decode("utf-8", "replace")
    return len(text) < 40 and "=" not in text and "(" not in text and says(text) >= Says.SECRET


def _cells(data: bytes, at: int, separator: bytes, shape: tuple[int, list[int]]) -> Iterator[Place]:
    width, columns = shape
    for _ in range(_ROWS):
        row = _HEADER.match(data, at)
        if row is None:
            return
        if not set(row[0]) - _OF_RULES:
            at = row.end() + 1
            continue
        cells = row[0].split(separator)
        if len(cells) != width:
            return
        for column in columns:
            begin = at + sum(len(cell) + 1 for cell in cells[:column])
            value = cells[column].strip(b" \"'`\r")
            begin += cells[column].find(value)
            if set(value) - set(b"-: ") and is_secret(value, Says.PASSWORD, Stands.MEMBER):
                yield Place(begin, begin + len(value), "password")
        at = row.end() + 1


# SQL -----------------------------------------------------------------------------------------------------------------

_IDENTIFIED = pattern_of(
        rb"identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,64}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(?:values[ \t]{1,4}|pass"
        rb"word[ \t]{1,4})?"
    rb"(?:N?\\{0,7}(?P<quote>[\"'])(?P<quoted>[^\"'\n]{3,256}?)\\{0,7}(?P=quote)|(?P<bare>[A-Za-z0-9_$#]{4,64}))",
    re.IGNORECASE
)  # fmt: skip
_OF_A_USER = pattern_of(rb"(?:create|alter|grant)[ \t].{0,190}\Z", re.IGNORECASE)
_PRAGMA = pattern_of(
    rb"pragma[ \t]{1,4}(?:hexkey|key|rekey)[ \t]{0,4}=[ \t]{0,4}\\{0,7}[\"'](?P<secret>[^\"'\n\\]{4,256})",
    re.IGNORECASE,
)
_INSERT = pattern_of(
        rb"insert[ \t]{1,4}into[ \t]{1,4}\S{1,80}[ \t]{0,4}\((?P<columns>[^()]{3,1000})\)\s{0,8}values\s{0,8}(?"
        rb"P<rows>\([^\n]{3,2000})", re.IGNORECASE
)  # fmt: skip
_CELL = pattern_of(
    rb"[(,][ \t]{0,4}(?:[A-Za-z_0-9]{1,24}\()?(?:E?N?'(?P<text>(?:[^'\n]|''){0,400})'|(?P<code>[^,()']{1,100}))"
)


def _identified(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`IDENTIFIED BY '…'`."""
    found = _IDENTIFIED.match(data, start)
    if found is None:
        return
    groups = ["quoted"]
    if _OF_A_USER.search(data, max(0, start - 200), start):
        groups.append("bare")
    for group in groups:
        if found[group] is not None and is_secret(found[group], Says.PASSWORD, Stands.MEMBER):
            yield Place(*found.span(group), "password")


def _pragma(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`PRAGMA key = '…'` of an encrypted SQLite file."""
    yield from place_of(_PRAGMA.match(data, start))


def _insert(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`INSERT INTO … (…, password) VALUES (…, '…')`: the first row."""
    found = _INSERT.match(data, start)
    if found is None:
        return
    names = [name.strip(b" \"'`[]").decode("utf-8", "replace") for name in found["columns"].split(b",")]
    cells = _CELL.finditer(data, *found.span("rows"))
    for name, cell in zip(cycle(names), cells, strict=False):
        text = cell["text"]
        if text is not None and is_secret(text, says(name), Stands.MEMBER):
            yield Place(*cell.span("text"), KIND[says(name)])


# Marks of other formats ----------------------------------------------------------------------------------------------

_INPUT = pattern_of(rb"[^<>]{0,200}?\bvalue=\\{0,7}[\"'](?P<secret>[^\"'\\<>]{4,256})")
_THIN = pattern_of(rb":thin:[\w$#]{1,64}/(?P<secret>[^\s@\"']{3,128})@")
_DSN = pattern_of(rb"(?:\A|[\s\"'`=])[\w.-]{1,64}:(?P<secret>[^\s\"'`/]{3,128})\Z")
_RELAY = pattern_of(rb"\]:[0-9]{2,5}[ \t]{1,16}[^\s:]{1,128}:(?P<secret>\S{4,128})")
_PSK = pattern_of(rb":[ \t]{0,8}(?:PSK|XAUTH|EAP|NTLM)[ \t]{1,8}\"(?P<secret>[^\"\n]{4,256})\"")
_PUTS = pattern_of(rb"send(?:_user)?[ \t]{1,4}(?:--[ \t]{1,4})?\\{0,3}\"(?P<secret>[^\"\\\n]{4,128})\\{1,5}[rn]")
_JWK = pattern_of(
    rb"(?P<quote>\\{0,3}\")(?:d|k|p|q|dp|dq|qi)(?P=quote):[ ]?(?P=quote)(?P<secret>[A-Za-z0-9_-]{16,1024})(?P=quote)"
)
_BYTES = pattern_of(rb"(?:0x[0-9a-fA-F]{2}[,; ]{0,2}\s{0,8}){8,512}")


def _password_input(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`<input type="password" value="…">`."""
    yield from place_of(_INPUT.match(data, start))


def _thin(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`jdbc:oracle:thin:user/password@…`."""
    yield from place_of(_THIN.match(data, start))


def _dsn(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`user:password@tcp(host)/name`."""
    floor = max(0, start - 200)
    found = _DSN.search(data[floor:start])
    if found is not None and is_secret(found["secret"], Says.PASSWORD, Stands.MEMBER):
        yield Place(floor + found.start("secret"), floor + found.end("secret"), "password")


def _relay(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`[host]:587 user:password` of a mail relay."""
    yield from place_of(_RELAY.match(data, start))


_SVN = pattern_of(rb"password" + _END + rb"V [0-9]{1,4}" + _END + rb"(?P<secret>[^\s\\]{4,256})")


def _subversion(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """A password in a file of Subversion: its key, its length, its value."""
    yield from place_of(_SVN.match(data, start))


def _preshared(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """`: PSK "…"` of `ipsec.secrets`."""
    yield from place_of(_PSK.match(data, start))


def _typed(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """What `expect` types after it saw a prompt for a password."""
    found = _PUTS.search(data, start, min(len(data), start + 300))
    if found is not None:
        yield from place_of(found)


def _json_web_key(data: bytes, start: int, limit: int) -> Iterator[Place]:
    """The private members of a JSON web key."""
    for found in _JWK.finditer(data, max(0, start - 1500), min(len(data), start + 2500)):
        yield Place(*found.span("secret"), "private-key")


_SECRET_MANIFESTS = ("kind: Secret", '"kind":"Secret"', '"kind": "Secret"', '\\"kind\\":\\"Secret\\"')
_HEADS = (
    "password,", "Password,", "password\n", "Password\n", "password |", "Password |", "access key,", "access key\n",
    "secret\n",
    "passwd,", ",token\n", "password;", "pass,", ",password",
)  # fmt: skip
FORMATS: tuple[tuple[str, Find], ...] = (
    ("machine", _netrc),
    ("default login", _netrc),
    *((word, _login) for word in ("login ", "user ", "username ", "account ", "email ", "USER ")),
    *((f":{port}:", _pgpass) for port in (5432, 5433, 6432, 5434, 3306, "*")),
    *((f"{sign}${scheme}$", _hashed) for scheme in _SHORT_SCHEMES for sign in (":", "'", '"', " ", "=", ">")),
    *((f"${scheme}$", _hashed) for scheme in _SCHEMES),
    (":::", _ntlm),
    *((word, _kubernetes_secret) for word in _SECRET_MANIFESTS),
    ('auth"', _basic),
    ("auth=", _basic),
    ("auth =", _basic),
    *((word, _table) for word in _HEADS),
    *((word, _identified) for word in ("IDENTIFIED", "identified", "Identified")),
    *((word, _pragma) for word in ("PRAGMA", "pragma")),
    *((word, _insert) for word in ("INSERT INTO", "insert into", "Insert into")),
    ('type="password"', _password_input),
    ("type='password'", _password_input),
    (":thin:", _thin),
    ("password\nV ", _subversion),
    ("@tcp(", _dsn),
    ("@unix(", _dsn),
    *((f"]:{port}", _relay) for port in (25, 465, 587, 2525)),
    *((word, _preshared) for word in (": PSK", ":PSK", ": XAUTH", ": EAP")),
    *((word, _typed) for word in ('assword:"', 'assword*"', 'assword"', 'assphrase:"')),
    *((word, _json_web_key) for word in ('"kty":', '"kty" :', '\\"kty\\":')),
    *BLOCKS,
    *EXCHANGES,
    *SENTENCES,
)  # fmt: skip
"""Each format with a literal that it has in it."""

WHOLE = frozenset(
    (
        _netrc,
        _kubernetes_secret,
        _table,
        _insert,
        _json_web_key,
        _typed,
        _dsn,
        _thin,
        _relay,
        _subversion,
        *LINES_OF_BLOCKS,
        *LINES,
    )
)
"""Those that look at more than follows their literal, or at lines."""
AREAS = {_kubernetes_secret: 1024, _json_web_key: 1024, _table: 256, _typed: 64, **AREAS_OF_BLOCKS, **AREAS_OF_PLACES}
"""Those that look at a part of a text, and how far away the next look is."""
