"""What a command prints and reads, where the text tells it.

Owns Feed, and the output of `echo`, `printf`, `pwd`, `cat` and decoders when every word of it is known. Must not know the
grammar, nor files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.carrying import decoded
from tallystick.intent.shell.quotes import ansi
from tallystick.model.intent import Chance
from tallystick.model.script import Command, Redirect, Role, Word

_MOST_CHARACTERS = 64 << 10
_MOST_PRINTING = 8
_DIRECTIVE = re.compile(r"%(?:%|(-?\d*)([sdibq]))")
_NUL = re.compile(r"(?<!\\)\\(?:0(?![0-7])|x00)")
"""It ends a piece as a line end does: `printf '%s\\0' A | xargs -0`."""
_ECHO_FLAG = re.compile(r"-[neE]+")
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
    text = " ".join(part for part in (*parts, feed.text) if part)[:_MOST_CHARACTERS]
    word = None
    if len(inputs) == 1:
        word = printed_by(commands)
    return Feed(text if word is None else f"{word.plain} {word.hidden}" if word.hidden else word.plain, word, inputs)


def read_from(redirects: Sequence[Redirect], feed: Feed) -> Feed:
    """What `< FILE` feeds, as far as the text tells: which file it is."""
    last = None
    if redirects:
        last = redirects[-1]
    if last is None or last.operator not in ("<", "<>") or last.descriptor not in ("", "0") or feed.text:
        return feed
    return Feed(f"{last.target.text} {last.target.hidden}".strip())
