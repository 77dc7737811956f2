"""What a program makes of the texts that it passes on, for texts that are run in the end.

Owns decoders (`base64 -d`, `xxd -r`, `rev`, `tr` with two sets of letters) and which programs pass a text on unchanged, or
in pieces that are still what was there. Must not know pipes, files or the shell. Sources: base64(1), basenc(1), xxd(1),
openssl-enc(1), tr(1).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.files import Text, read
from tallystick.model.script import Command

_MOST_CHARACTERS = 256 << 10
_EXACT = programs_with("puts-out-input")
_IN_PIECES = programs_with("puts-out-pieces")
WRITTEN_OUT = programs_with("prints-its-words")
"""Programs whose words are in what they print, or in the files that they edit: a text, an expression, code."""
_DECODE_FLAGS = frozenset({"-d", "-D", "--decode", "-di", "-id"})
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def passed_on(name: str, command: Command, text: Text) -> tuple[Text, bool]:
    """What a program prints that is given a text, as far as it is known, and whether that is exactly what it prints."""
    if text is None:
        return None, False
    if name in _EXACT:
        return text, True
    decoder = _decoder(name, [word.text for word in command.arguments])
    if decoder is not None:
        return lambda: _decoded(decoder, read(text)), True
    if name in _IN_PIECES:
        return text, False
    return None, False


def decoded(name: str, arguments: list[str], text: str) -> str | None:
    """What a program makes of a text that it decodes; None if it does not."""
    decoder = _decoder(name, arguments)
    if decoder is None:
        return None
    return _decoded(decoder, text)


def _decoded(decoder: Callable[[str], str], text: str | None) -> str | None:
    if text is None or len(text) > _MOST_CHARACTERS:
        return None
    try:
        return decoder(text)
    except (binascii.Error, ValueError):
        return None


def _decoder(name: str, arguments: list[str]) -> Callable[[str], str] | None:
    """What undoes an encoding, as the program with these arguments does."""
    decodes = not _DECODE_FLAGS.isdisjoint(arguments)
    if name in ("base64", "gbase64") or (name == "basenc" and ("--base64" in arguments or "--base64url" in arguments)):
        if decodes:
            return _from_base64
        return None
    if name == "base32" or (name == "basenc" and "--base32" in arguments):
        return _from_base32 if decodes else None
    if name == "openssl" and not {"-base64", "base64", "-a"}.isdisjoint(arguments) and "-d" in arguments:
        return (
            _from_base64 if "-k" not in arguments and not any(word.startswith("-aes") for word in arguments) else None
        )
    if name == "xxd" and any(word.startswith("-") and "r" in word for word in arguments):
        return _from_hex
    if name == "rev":
        return _reversed
    if name == "tr" and len(arguments) == 2 and not arguments[0].startswith("-"):
        return _translation(arguments[0], arguments[1])
    return None


def _from_base64(text: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9+/]", "", text.replace("-", "+").replace("_", "/"))
    return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "replace")


def _from_base32(text: str) -> str:
    plain = re.sub(r"[^A-Z2-7]", "", text.upper())
    return base64.b32decode(plain + "=" * (-len(plain) % 8)).decode("utf-8", "replace")


def _from_hex(text: str) -> str:
    """Plain hexadecimal, or the lines of a dump: an offset, the bytes, and what they look like."""
    lines = [re.sub(r"^[0-9A-Fa-f]+: ", "", line).partition("  ")[0] for line in text.splitlines()]
    digits = re.sub(r"[^0-9A-Fa-f]", "", "".join(lines))
    return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")


def _reversed(text: str) -> str:
    return "\n".join(line[::-1] for line in text.split("\n"))


def _translation(old: str, new: str) -> Callable[[str], str] | None:
    """`tr SET SET`: rot13 and its like."""
    before, after = _letters(old), _letters(new)
    if before is None or not after:
        return None
    table = str.maketrans(dict(zip(before, after.ljust(len(before), after[-1]), strict=False)))
    return lambda text: text.translate(table)


def _letters(spelled: str) -> str | None:
    if "[:" in spelled or "\\" in spelled or len(spelled) > 200:
        return None

    def filled(found: re.Match[str]) -> str:
        first, last = ord(found[1]), ord(found[2])
        return "".join(map(chr, range(first, min(last, first + 256) + 1)))

    return _RANGE.sub(filled, spelled)
