"""A word of a command → what it names: an absolute path, a URL, a program.

Owns how far a word is known, and paths as text. Must not know commands or the file system: links are not followed.
"""

from __future__ import annotations

from msgspec import Struct

from tallystick.model.intent import Domain
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Word

_MOST_CHARACTERS = 4096
_MOST_IN_WORD = 1024
_WILD = pattern_of("[\ue000\ue001\ue002]")
_NO_FILES = pattern_of(r"/dev/(?:null|stdin|stdout|stderr|tty|fd/\d{1,3})|/proc/self/fd/\d{1,3}")
_SOCKET = pattern_of(r"/dev/(?:tcp|udp)/([^/]+)/([^/]+)")


class Target(Struct, frozen=True):
    """What a word names."""

    text: str
    is_known: bool = True
    is_pattern: bool = False


def path_of(word: Word, folder: str | None) -> Target:
    """The path that a word names in a folder, without `.` and `..`; relative where the folder is not known."""
    text = word.text
    is_known = HOLE not in text
    is_pattern = _WILD.search(text) is not None
    if not is_known and text.startswith(HOLE):
        known = clean(word.plain).lstrip("/")
        return Target(_cut(placed(known, None) if known else ""), False, is_pattern)
    if is_pattern or not is_known:
        plain = clean(word.plain)
    else:
        plain = clean(text)
    if not plain or len(plain) > _MOST_CHARACTERS:
        return Target(_cut(plain), False, is_pattern)
    return Target(placed(plain, folder), is_known, is_pattern)


def name_of(word: Word) -> Target:
    """What a word names that is not a file: a URL, a host, a process."""
    plain = clean(word.plain)
    return Target(_cut(plain), word.is_known and len(plain) <= _MOST_CHARACTERS, _WILD.search(word.text) is not None)


def target_of(domain: Domain, word: Word, folder: str | None) -> Target:
    """What a word names in a domain."""
    if domain is Domain.FILE:
        return path_of(word, folder)
    return name_of(word)


def is_no_file(path: str) -> bool:
    """Whether a path stands for a descriptor or for nothing."""
    return path.startswith(("/dev/", "/proc/")) and _NO_FILES.fullmatch(path) is not None


def socket_of(path: str) -> str | None:
    """The `host:port` that the shell connects to for a path below `/dev/tcp` or `/dev/udp`."""
    found = _SOCKET.fullmatch(path)
    if found is None:
        return None
    return f"{found[1]}:{found[2]}"


def spelled(words: tuple[Word, ...]) -> tuple[str, ...]:
    """Words as they are shown beside an intent; long ones are cut."""
    return tuple([clean(word.plain[:_MOST_IN_WORD]) for word in words[:64]])


def clean(text: str) -> str:
    """Text that can be stored: half of a character becomes a question mark."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _cut(text: str) -> str:
    return text[:_MOST_CHARACTERS]
