"""Text in base64 or in hexadecimal digits inside of other text: a Kubernetes secret, a data URL, an encoded command.

Owns how such a run is noticed, how far it goes, and how it is put together again as it was: same width of lines, same
padding. Must not know the forms of secrets.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from tallystick.model.pattern import pattern_of

_TELLTALES = (
    "ghp_", "github_pat_", "glpat-", "sk-ant-", "sk-proj-", "sk_live_", "AKIA", "AIza", "xoxb-", "xoxp-", "npm_", "pypi-",
    "-----BEGIN ", "password", "PASSWORD", "Password", "passwd", "secret", "SECRET", "Secret", "api_key", "API_KEY", "apiKey",
    "token=", "TOKEN", "_token", "authorization", "Authorization", "_KEY=", "postgres", "mysql://", "mongodb", "redis://", "amqp://",
    "https://",    "Bearer ", "PASS=", "passwort",
)  # fmt: skip
_LEAST_FRAGMENT = 5
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
_RUN = pattern_of(rb"[A-Za-z0-9+/]{4}[A-Za-z0-9+/=\r\n]*")
_HEX_ALPHABET = b"0123456789abcdefABCDEF"
_HEX_RUN = pattern_of(rb"[0-9a-fA-F]+")
_LONGEST = 16_000_000


def fragments() -> list[str]:
    """Pieces of base64 and of hexadecimal text, one of which is in that of every text with a telltale word."""
    found = set()
    for word in _TELLTALES:
        for encoded in (word.encode(), word.encode("utf-16-le")):
            found |= {_fragment(encoded, shift) for shift in range(3)}
    return sorted(fragment for fragment in found if len(fragment) >= _LEAST_FRAGMENT)


def hex_fragments() -> list[str]:
    """The same for hexadecimal digits."""
    digits = [word.encode().hex() for word in (*_TELLTALES, "://")]
    return sorted({*digits, *(text.upper() for text in digits)})


def _fragment(word: bytes, shift: int) -> str:
    """The characters that depend on the word alone, when it stands `shift` bytes after a multiple of three."""
    encoded = base64.b64encode(b"\0" * shift + word).decode().rstrip("=")
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(word)) * 8 // 6]


def run_around(data: bytes, at: int, floor: int) -> tuple[int, int]:
    """From where to where the run of base64 around `at` goes; not before `floor`."""
    return _around(data, at, floor, _RUN, _ALPHABET)


def hex_run_around(data: bytes, at: int, floor: int) -> tuple[int, int]:
    """The same for hexadecimal digits."""
    return _around(data, at, floor, _HEX_RUN, _HEX_ALPHABET)


def _around(data: bytes, at: int, floor: int, run: re.Pattern[bytes], alphabet: bytes) -> tuple[int, int]:
    start, step = at, 256
    while start > floor:
        piece = data[max(floor, start - step) : start]
        kept = len(piece.rstrip(alphabet))
        start -= len(piece) - kept
        if kept:
            break
        step *= 4
    found = run.match(data, start)
    if found is not None:
        return start, found.end()
    return start, at


def rewritten(run: bytes, scrub: Callable[[bytes], bytes]) -> bytes | None:
    """The base64 of the scrubbed text in a run of base64; None if it is not text, or nothing in it is a secret."""
    if len(run) > _LONGEST:
        return None
    body = run.rstrip(b"\r\n")
    lines = body.split(b"\n")
    joined = b"".join(line.rstrip(b"\r") for line in lines)
    whole = joined.rstrip(b"=")
    try:
        text = base64.b64decode(whole + b"=" * (-len(whole) % 4), validate=True)
        text.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    clean = scrub(text)
    if clean == text:
        return None
    encoded = base64.b64encode(clean)
    if not joined.endswith(b"=") and len(joined) % 4:
        encoded = encoded.rstrip(b"=")
    return _as_wide(encoded, lines) + run[len(body) :]


def hex_rewritten(run: bytes, scrub: Callable[[bytes], bytes]) -> bytes | None:
    """The same for a run of hexadecimal digits."""
    if len(run) > _LONGEST or len(run) % 2:
        return None
    try:
        text = bytes.fromhex(run.decode())
        text.decode("utf-8")
    except ValueError:
        return None
    clean = scrub(text)
    if clean == text:
        return None
    return clean.hex().encode()


def _as_wide(encoded: bytes, lines: list[bytes]) -> bytes:
    if len(lines) == 1:
        return encoded
    ending = b"\n"
    if lines[0].endswith(b"\r"):
        ending = b"\r\n"
    width = max(4, len(lines[0].rstrip(b"\r")))
    return ending.join(encoded[at : at + width] for at in range(0, len(encoded), width))
