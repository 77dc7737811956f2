"""What a command reads and prints, where the text tells it.

Owns Feed, the output of `echo`, `printf`, `pwd` and `cat` when every word of it is known, decoders (`base64 -d`, `xxd
-r`, `rev`, `tr` with two sets of letters), and which programs pass a text on unchanged, or in pieces that are still
what was there. Must not know the grammar, nor pipes and files. Sources: base64(1), basenc(1), xxd(1), openssl-enc(1),
tr(1).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import split_lines
from tallystick.intent.shell.files import Text, read
from tallystick.intent.shell.quotes import ansi
from tallystick.model.intent import Chance
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Redirect, Role, Word

_MOST_DECODED = 256 << 10
_EXACT = programs_with("puts-out-input")
_IN_PIECES = programs_with("puts-out-pieces")
WRITTEN_OUT = programs_with("prints-its-words")
"""Programs whose words are in what they print, or in the files that they edit: a text, an expression, code."""
_DECODE_FLAGS = frozenset({"-d", "-D", "--decode", "-di", "-id"})
_RANGE = pattern_of(r"(.)-(.)", re.DOTALL)


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
    if text is None or len(text) > _MOST_DECODED:
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
        if decodes:
            return _from_base32
        return None
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
    lines = [re.sub(r"^[0-9A-Fa-f]+: ", "", line).partition("  ")[0] for line in split_lines(text)]
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


_MOST_CHARACTERS = 64 << 10
_MOST_PRINTING = 8
_DIRECTIVE = pattern_of(r"%(?:%|(-?\d*)([sdibq]))")
_NUL = pattern_of(r"(?<!\\)\\(?:0(?![0-7])|x00)")
"""It ends a piece as a line end does: `printf '%s\\0' A | xargs -0`."""
_ECHO_FLAG = pattern_of(r"-[neE]+")
_SILENT = programs_with("no-output")
_PASSING = programs_with("passes-exactly")
_NAMES = programs_with("prints-path")


class Feed(msgspec.Struct):
    """What reaches a command's standard input."""

    text: str = ""
    """The input, or the words of the commands that write it."""
    word: Word | None = None
    """The input itself."""
    inputs: tuple[int, ...] = ()
    """The commands that write it, by their place in the script."""

    @property
    def is_exact(self) -> bool:
        """Whether the text is the input itself."""
        return self.word is not None


def printed(command: Command) -> Word | None:
    """All that a command writes to its standard output; None where the text does not tell."""
    if command.is_diverted or any(redirect.writes and redirect.descriptor != "2" for redirect in command.redirects):
        return None
    name, arguments = command.program, command.arguments
    if name == "pwd" and command.folder is not None:
        return Word(f"{command.folder}\n")
    if name in _PASSING and (name != "cat" or all(word.text == "-" for word in arguments)):
        return command.input
    if not all(word.is_known for word in arguments):
        return None
    if name in ("echo", "printf"):
        return echoed(name, arguments)
    if command.input is not None and command.input.is_known:
        made = decoded(name, [word.text for word in arguments], command.input.text)
        if made is not None and "\ufffd" not in made:
            return Word(made)
    if name in _NAMES and len(arguments) == 1:
        return _named(name, arguments[0].plain)
    return None


def printed_by(commands: Sequence[Command]) -> Word | None:
    """All that several commands print, where the text tells what each of those does that print."""
    loud = [command for command in commands if not _is_silent(command)]
    if not 1 <= len(loud) <= _MOST_PRINTING or not all(command.words for command in loud):
        return None
    if len(loud) == 1:
        return printed(loud[0])
    if any(command.chance is not Chance.ALWAYS or command.inputs for command in loud):
        return None
    said = [printed(command) for command in loud]
    texts = [word.text for word in said if word is not None]
    if len(texts) == len(said):
        return Word("".join(texts))
    return None


def _is_silent(command: Command) -> bool:
    if command.redirects:
        return False
    if command.role is Role.PROGRAM:
        return command.program in _SILENT
    return command.role is not Role.UNTOLD


def echoed(name: str, arguments: Sequence[Word]) -> Word | None:
    """What `echo` or `printf` writes; holes and wildcards of its words are in it."""
    if name == "echo":
        flags = 0
        while flags < len(arguments) and _ECHO_FLAG.fullmatch(arguments[flags].text):
            flags += 1
        letters = "".join(word.text for word in arguments[:flags])
        said = " ".join(word.text for word in arguments[flags:])
        return Word((ansi(said) if "e" in letters else said) + ("" if "n" in letters else "\n"))
    rest = arguments
    if arguments and arguments[0].text == "--":
        rest = arguments[1:]
    if not rest or rest[0].text.startswith("-v"):
        return None
    return _formatted(ansi(_NUL.sub("\\\\n", rest[0].text)), [word.text for word in rest[1:]])


def _formatted(template: str, values: list[str]) -> Word | None:
    """`printf`'s output, the format being used again until no value is left; None for directives that format numbers."""
    directives = _DIRECTIVE.findall(template)
    if template.count("%") != len(directives) + template.count("%%"):
        return None
    takes = sum(1 for _, letter in directives if letter)
    rounds = 1
    if takes:
        rounds = max(1, -(-len(values) // takes))
    left = iter(values)

    def filled(found: re.Match[str]) -> str:
        if not found[2]:
            return "%"
        value = next(left, "")
        if found[2] == "b":
            value = ansi(value)
        width = int(found[1] or 0)
        if abs(width) > 256:
            return value
        if width < 0:
            return value.ljust(-width)
        return value.rjust(width)

    if rounds * len(template) > _MOST_CHARACTERS:
        return None
    return Word("".join(_DIRECTIVE.sub(filled, template) for _ in range(rounds)))


def _named(name: str, path: str) -> Word | None:
    """What is left of a path; links are not followed, so `realpath` tells nothing of relative ones."""
    bare = path.rstrip("/") or "/"
    if name == "basename":
        return Word(f"{bare.rpartition('/')[2] or '/'}\n")
    if name == "dirname":
        head = bare.rpartition("/")[0]
        return Word(f"{head or ('/' if bare.startswith('/') else '.')}\n")
    return None


def worded(command: Command) -> str:
    """All words of a command, and what their holes were made from."""
    if command.role is not Role.GROUP:
        words = command.words or command.spelled
    else:
        words = ()
    return " ".join(f"{word.text} {word.hidden}" if word.hidden else word.text for word in words)


def said(command: Command) -> str:
    """All words of a command and what it is fed, as one text."""
    if command.fed:
        return f"{worded(command)} {command.fed}"
    return worded(command)


def carried(commands: Sequence[Command], feed: Feed, inputs: tuple[int, ...]) -> Feed:
    """What a pipe carries on: what the commands before it print, and the text that they name."""
    parts = [
        part for command in commands for part in (worded(command), command.fed if command.fed != feed.text else "")
    ]
    word = None
    if len(inputs) == 1:
        word = printed_by(commands)
    if word is None:
        text = " ".join(part for part in (*parts, feed.text) if part)[:_MOST_CHARACTERS]
    elif word.hidden:
        text = f"{word.plain} {word.hidden}"
    else:
        text = word.plain
    return Feed(text, word, inputs)


def read_from(redirects: Sequence[Redirect], feed: Feed) -> Feed:
    """What `< FILE` feeds, as far as the text tells: which file it is."""
    last = None
    if redirects:
        last = redirects[-1]
    if last is None or last.operator not in ("<", "<>") or last.descriptor not in ("", "0") or feed.text:
        return feed
    return Feed(f"{last.target.text} {last.target.hidden}".strip())
