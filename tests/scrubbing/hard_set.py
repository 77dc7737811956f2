"""The hard set: secrets in the many forms in which they occur, and strings without one, made from a seed.

Owns what a slot of a text is filled with and which parts of the made text are secret. The texts are data (`hard/*.toml`):
`«class»` is a secret, `‹class›` is not; `#1` behind a class is one value that is used twice, `base64of CLASS` a value in
another form. Must not know how secrets are found.
"""

import base64
import hashlib
import random
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).parent / "hard"
HELD_OUT = 3
"""One kind of so many is held out: rules are built without a look at it."""
MET = "met."
"""How the names begin of kinds that were missed once; rules were built on all of them."""

_SLOT = re.compile("([«‹])([^»›]+)[»›]")
_PARTS = re.compile(r"(?:([a-z0-9]+of) )?(.+)")
_PIECES = "\x00"
_SHORTEST = 3
_ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "alnum": _ALNUM,
    "letters": string.ascii_letters,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "hexupper": "0123456789ABCDEF",
    "digits": string.digits,
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base64chars": _ALNUM + "+/",
    "url": _ALNUM + "-_",
}
_SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
    "we",
    "xi",
    "yo",
    "zu",
    "bran",
    "drel",
    "fing",
    "gast",
    "holm",
    "jurn",
    "kelp",
    "lund",
    "morv",
    "nest",
]
_HOSTS = ("db", "build", "files", "mail", "git", "cache")
_WORDS = [
    "harbor",
    "lantern",
    "meadow",
    "orbit",
    "pebble",
    "quarry",
    "ribbon",
    "saddle",
    "timber",
    "velvet",
    "walnut",
    "anchor",
    "basket",
    "candle",
]
_USERS = ["alice", "bob", "carol", "deploy", "maria", "reporter", "svc_app", "backup", "jonas", "operator"]
_REGIONS = ("eu-west-1", "us-east-2", "ap-south-1")


@dataclass(frozen=True)
class Sample:
    """One made text with the secrets in it; a secret that is wrapped is in pieces."""

    kind: str
    text: str
    secrets: tuple[str, ...]

    @property
    def is_held_out(self) -> bool:
        """Whether the kind belongs to the part that rules are not built on."""
        return not self.was_missed and hashlib.sha256(self.kind.encode()).digest()[0] % HELD_OUT == 0

    @property
    def was_missed(self) -> bool:
        """Whether the kind was missed when it was first met, in a set that was written without a look at the rules."""
        return self.kind.startswith(MET)


def samples(seed: int) -> Iterator[Sample]:
    """One text of each kind; another seed gives other values in the same places."""
    for name, text, whole in _kinds():
        filled, secrets = _Filling(random.Random(f"{seed} {name}")).text(text)
        yield Sample(name, whole(filled), tuple(whole(secret) for secret in secrets))


def harmless(seed: int) -> Iterator[str]:
    """One text of each line without a secret."""
    for number, line in enumerate(_lines()):
        yield _Filling(random.Random(f"{seed} {number}")).text(line)[0]


def remains(sample: Sample, clean: str) -> bool:
    """Whether half of a secret, or four characters if it is short, can still be read."""
    return any(piece in clean for secret in sample.secrets for piece in _halves(secret))


def _halves(secret: str) -> Iterator[str]:
    size = max(min(4, len(secret)), min(len(secret), max(5, len(secret) // 2)))
    for at in range(len(secret) - size + 1):
        yield secret[at : at + size]


@cache
def _kinds() -> tuple[tuple[str, str, Callable[[str], str]], ...]:
    found = []
    for path in sorted(HERE.glob("*.toml")):
        for whole, texts in tomllib.loads(path.read_text()).items():
            if path.stem != "harmless":
                found += [(f"{path.stem}.{whole}.{name}", text, _WHOLE[whole]) for name, text in texts.items()]
    return tuple(found)


@cache
def _lines() -> tuple[str, ...]:
    return tuple(tomllib.loads((HERE / "harmless.toml").read_text())["lines"])


def _as_utf16(text: str) -> str:
    return text.encode("utf-16-le").decode("latin-1")


def _as_utf16_big(text: str) -> str:
    return text.encode("utf-16-be").decode("latin-1")


_WHOLE: dict[str, Callable[[str], str]] = {"kinds": str, "utf16": _as_utf16, "utf16big": _as_utf16_big}


class _Filling:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._kept: dict[str, str] = {}

    def text(self, template: str) -> tuple[str, list[str]]:
        secrets: list[str] = []

        def fill(slot: re.Match[str]) -> str:
            value = self._slot(slot[2])
            if slot[1] == "«":
                pieces = (piece.strip(' "\\\r\n') for piece in value.split(_PIECES))
                secrets.extend(piece for piece in pieces if len(piece) > _SHORTEST)
            return value.replace(_PIECES, "")

        return _SLOT.sub(fill, template), secrets

    def _slot(self, slot: str) -> str:
        if ":" in slot and not slot.startswith("base64of"):
            form, of = slot.split(":", 1)
            return _FORMS[form](self._slot(of)) if form in _FORMS else ""
        form, of = _PARTS.fullmatch(slot).groups()  # type: ignore[union-attr]
        if form:
            return _FORMS[form](":".join(self._value(one) for one in of.split(":")))
        first, _, argument = of.partition(" ")
        if first in _FORMS:
            return _FORMS[first](self._value(argument))
        return self._value(of)

    def _value(self, name: str) -> str:
        if "#" not in name:
            return self._fresh(name)
        if name not in self._kept:
            self._kept[name] = self._fresh(re.sub(r"#\d", "", name))
        return self._kept[name]

    def _fresh(self, name: str) -> str:
        first, _, argument = name.partition(" ")
        length = int(argument or 0)
        if first in _ALPHABETS and length:
            return "".join(self._rng.choices(_ALPHABETS[first], k=length))
        return _MAKERS[first](self._rng, length)


def _password(rng: random.Random, _: int) -> str:
    value = rng.choice(string.ascii_letters) + "".join(rng.choices(_ALNUM + "-_.", k=rng.randint(8, 14)))
    return value + rng.choice(string.digits) + rng.choice(string.ascii_letters)


def _strong(rng: random.Random, _: int) -> str:
    value = "".join(rng.choices(_ALNUM + "!#@$%^&*+=.?", k=rng.randint(10, 16)))
    return rng.choice(string.ascii_letters) + value + rng.choice(string.digits) + "#" + rng.choice(string.ascii_letters)


def _letters(rng: random.Random, _: int) -> str:
    value = "".join(rng.choices(_SYLLABLES, k=rng.randint(4, 6)))
    return value.capitalize() if rng.random() < 0.5 else value


def _words(rng: random.Random, count: int) -> str:
    return " ".join("".join(rng.choices(_SYLLABLES, k=2)) for _ in range(count))


def _uuid(rng: random.Random, _: int) -> str:
    digits = "".join(rng.choices("0123456789abcdef", k=32))
    return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))


def _base64(rng: random.Random, count: int) -> str:
    return base64.b64encode(rng.randbytes(count)).decode()


def _basic(rng: random.Random, _: int) -> str:
    return base64.b64encode(f"{rng.choice(_USERS)}:{_password(rng, 0)}".encode()).decode()


def _jwt(rng: random.Random, _: int) -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    claims = f'{{"sub":"{_uuid(rng, 0)}","iat":{rng.randint(10**9, 2 * 10**9)}}}'
    signature = "".join(rng.choices(_ALPHABETS["url"], k=43))
    return ".".join((part('{"alg":"HS256","typ":"JWT"}'), part(claims), signature))


def _halved(value: str) -> str:
    middle = len(value) // 2
    return f"{value[:middle]}{_PIECES}\n{_PIECES}{value[middle:]}"


def _lines_of(rng: random.Random, count: int, between: str) -> str:
    rows = ["".join(rng.choices(_ALPHABETS["base64chars"], k=64)) for _ in range(count)]
    return (_PIECES + between + _PIECES).join(rows)


def _pem_block(rng: random.Random, _: int) -> str:
    body = _lines_of(rng, 6, "\n").replace(_PIECES, "")
    return f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"


def _quoted_rows(rng: random.Random, count: int) -> str:
    return '"' + _lines_of(rng, count, '\\n"\n"') + '\\n"'


def _c_bytes(rng: random.Random, _: int) -> str:
    return ", ".join(f"0x{byte:02x}" for byte in rng.randbytes(24))


def _json_slash(rng: random.Random, _: int) -> str:
    pieces = ["".join(rng.choices(_ALNUM, k=13)) for _ in range(3)]
    return (_PIECES + "\\/" + _PIECES).join(pieces)


def _json_quoted(rng: random.Random, _: int) -> str:
    return f'{_password(rng, 0)}{_PIECES}\\"{_PIECES}{_password(rng, 0)}'


def _github(rng: random.Random, _: int) -> str:
    return "ghp_" + "".join(rng.choices(_ALNUM, k=36))


_MAKERS: dict[str, Callable[[random.Random, int], str]] = {
    "password": _password,
    "strong": _strong,
    "letters": _letters,
    "words": _words,
    "uuid": _uuid,
    "base64": _base64,
    "basic": _basic,
    "jwt": _jwt,
    "jwtwrapped": lambda rng, _: _halved(_jwt(rng, 0)),
    "django": lambda rng, _: "".join(rng.choices(string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)", k=50)),
    "digit": lambda rng, _: rng.choice(string.digits),
    "pem": lambda rng, count: _lines_of(rng, count, "\n"),
    "pemjson": lambda rng, _: _lines_of(rng, 6, "\\n"),
    "pemcrlf": lambda rng, _: _lines_of(rng, 6, "\r\n"),
    "pemindented": lambda rng, count: _lines_of(rng, count, "\n      "),
    "pemquoted": _quoted_rows,
    "pemblock": _pem_block,
    "cbytes": _c_bytes,
    "jsonslash": _json_slash,
    "jsonquoted": _json_quoted,
    "githubtoken": _github,
    "dotenv": lambda rng, _: f"DB_PASSWORD={_password(rng, 0)}\n",
    "dburl": lambda rng, _: (
        f"postgres://{rng.choice(_USERS)}:{_password(rng, 0)}@{rng.choice(_HOSTS)}.internal:5432/app"
    ),
    "base64ofnul": lambda rng, _: base64.b64encode(f"\0{rng.choice(_USERS)}\0{_password(rng, 0)}".encode()).decode(),
    "word": lambda rng, _: rng.choice(_WORDS),
    "user": lambda rng, _: rng.choice(_USERS),
    "host": lambda rng, _: f"{rng.choice(_HOSTS)}.{rng.choice(_WORDS)}.internal",
    "email": lambda rng, _: f"{rng.choice(_USERS)}@{rng.choice(_WORDS)}.org",
    "ip": lambda rng, _: f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}",
    "region": lambda rng, _: rng.choice(_REGIONS),
    "date": lambda rng, _: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
}

_FORMS: dict[str, Callable[[str], str]] = {
    "base64of": lambda value: base64.b64encode(value.encode()).decode(),
    "base64urlof": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64utf16": lambda value: base64.b64encode(value.encode("utf-16-le")).decode(),
    "hexof": lambda value: value.encode().hex(),
    "percent": lambda value: quote(value, safe=""),
    "percentall": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "unicodeescaped": lambda value: "".join(f"\\u{ord(char):04x}" for char in value),
    "hexescaped": lambda value: "".join(f"\\x{ord(char):02x}" for char in value),
}
