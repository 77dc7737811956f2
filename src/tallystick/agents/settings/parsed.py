"""A settings file as a value, and the line on which each part of it stands.

Owns reading JSON, JSON with comments, and TOML, whatever an agent or someone else put there. Must not know any key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator

import msgspec

from tallystick.agents.kit import json_text
from tallystick.agents.settings import Where
from tallystick.catalog.agents import Base
from tallystick.errors import FormatError
from tallystick.model.step import Json

_MOST_VALUES = 20_000
_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)')
_NUMBER_LINE = re.compile(r"line (\d+)")


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A settings file that could be read."""

    value: Json
    name: str
    """The file's path below its base, with `/`."""
    base: Base
    line: Callable[[Where], int | None]
    """The line of a value, from 1; of the nearest one around it that can be found, or None."""

    def at(self, *where: str) -> Json:
        """The value that the names lead to, or None."""
        value = self.value
        for name in where:
            if isinstance(value, dict):
                value = value.get(name)
            else:
                value = None
        return value

    def is_on(self, *where: str) -> bool:
        """Whether it is true, and not merely something."""
        return self.at(*where) is True

    def is_off(self, *where: str) -> bool:
        """Whether it is false, and not merely absent."""
        return self.at(*where) is False

    def texts(self, *where: str) -> Iterator[tuple[Where, str]]:
        """The strings of a list."""
        value = self.at(*where)
        for number, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, str):
                yield (*where, number), item

    def members(self, *where: str) -> Iterator[tuple[str, Json]]:
        """The members of an object."""
        value = self.at(*where)
        if isinstance(value, dict):
            yield from value.items()


def parse(data: bytes, name: str, base: Base) -> Document:
    """The settings in the bytes of a file.

    Raises:
        FormatError: they are not what the agent would read; the message has the line.
    """
    if not data.strip():
        return Document(value={}, name=name, base=base, line=lambda where: None)
    if name.endswith(".toml"):
        return _toml(data, name, base)
    document = json_text.read(data, json_text.RELAXED)

    def line(where: Where) -> int | None:
        return document.line(_position(document.root, where))

    return Document(value=document.root.value, name=name, base=base, line=line)


def parse_value(data: bytes, name: str) -> Json:
    """The settings alone, without the lines: many times quicker where the file is plain JSON.

    Raises:
        FormatError: they are not what the agent would read.
    """
    if not data.strip():
        return {}
    if not name.endswith(".toml"):
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError, ValueError):
            pass  # comments, perhaps
    return parse(data, name, Base.USER).value


def bad_line(error: FormatError) -> int | None:
    """The line that an error of `parse` names."""
    found = _NUMBER_LINE.search(str(error))
    if found:
        return int(found[1])
    return None


def walk(value: Json, where: Where = ()) -> Iterator[tuple[Where, Json]]:
    """Every value within a value, itself first, up to a bound."""
    waiting = [(where, value)]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        at, found = waiting.pop()
        yield at, found
        if isinstance(found, dict):
            waiting += [((*at, key), item) for key, item in reversed(found.items())]
        elif isinstance(found, list):
            waiting += [((*at, number), item) for number, item in reversed(list(enumerate(found)))]


def _position(node: json_text.Node, where: Where) -> int:
    start = node.start
    for name in where:
        entries = node.entries or []
        named = [entry for entry in entries if entry.key == name]
        if isinstance(name, int):
            found = entries[name : name + 1]
        else:
            found = named[-1:]
        if not found:
            break
        start, node = found[0].start, found[0].node
    return start


# TOML -----------------------------------------------------------------------------------------------------------------


def _toml(data: bytes, name: str, base: Base) -> Document:
    try:
        text = data.decode()
        value = tomllib.loads(text)
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"line {number}: not UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise FormatError(f"no TOML: {error}") from error
    lines = _toml_lines(text)

    def line(where: Where) -> int | None:
        names = tuple(part for part in where if isinstance(part, str))
        return next((lines[names[:end]] for end in range(len(names), 0, -1) if names[:end] in lines), None)

    return Document(value=value, name=name, base=base, line=line)


def _toml_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each table and key first stands, as far as lines tell: text in several lines may mislead it."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.fullmatch(line.rstrip("\r"))
        key, equals, _ = line.partition("=")
        if header:
            table = _parts(header["name"])
            found.setdefault(table, number)
        elif equals and len(key) < 1000 and not key.lstrip().startswith("#"):
            found.setdefault((*table, *_parts(key)), number)
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(match[1] or match[2] or match[3] or "" for match in _PART.finditer(dotted))
