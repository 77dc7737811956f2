"""Text in base64 inside of text: a Kubernetes secret, a data URL, an attachment.

Owns which fragments of base64 betray that the decoded text is worth a look, and taking a run of it apart and putting it
together again as it was: same width of lines, same padding. Must not know what a secret is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

_TELLTALES = (
    "ghp_", "github_pat_", "glpat-", "sk-ant-", "sk-proj-", "sk_live_", "AKIA", "AIza", "xoxb-", "xoxp-", "npm_", "pypi-",
    "-----BEGIN ", "password", "PASSWORD", "Password", "passwd", "secret", "SECRET", "Secret", "api_key", "API_KEY", "apiKey",
    "token=", "TOKEN", "_token", "authorization", "Authorization", "_KEY=",
)  # fmt: skip
_LEAST_FRAGMENT = 5
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
_RUN = re.compile(rb"[A-Za-z0-9+/]{4}[A-Za-z0-9+/=\r\n]*")
_LONGEST = 16_000_000


def fragments() -> list[str]:
    """Pieces of base64, one of which is in the base64 of every text with a telltale word."""
    found = set()
    for word in _TELLTALES:
        for shift in range(3):
            found.add(_fragment(word.encode(), shift))
    return sorted(fragment for fragment in found if len(fragment) >= _LEAST_FRAGMENT)


def _fragment(word: bytes, shift: int) -> str:
    """The characters that depend on the word alone, when it stands `shift` bytes after a multiple of three."""
    encoded = base64.b64encode(b"\0" * shift + word).decode().rstrip("=")
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + len(word)) * 8 // 6]


def run_around(data: bytes, at: int, floor: int) -> tuple[int, int]:
    """From where to where the run of base64 around `at` goes; not before `floor`."""
    start, step = at, 256
    while start > floor:
        piece = data[max(floor, start - step) : start]
        kept = len(piece.rstrip(_ALPHABET))
        start -= len(piece) - kept
        if kept:
            break
        step *= 4
    found = _RUN.match(data, start)
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


def _as_wide(encoded: bytes, lines: list[bytes]) -> bytes:
    if len(lines) == 1:
        return encoded
    ending = b"\n"
    if lines[0].endswith(b"\r"):
        ending = b"\r\n"
    width = max(4, len(lines[0].rstrip(b"\r")))
    return ending.join(encoded[at : at + width] for at in range(0, len(encoded), width))
