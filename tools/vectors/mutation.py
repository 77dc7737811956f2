"""Tampering at random, from a seed: with bytes, with lines, with what lines say, with whole files."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tallystick.errors import FormatError
from tallystick.seal.canonical import canonical

PIECES = (
    *(
        b'"',
        b",",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"0",
        b"1",
        b"null",
        b"true",
        b" ",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
        b"#",
    ),
    *(b"1.0", b'"v":2', b'"n":0', b'"local.x":1,', b'"meta"', b"9007199254740993", b"\xef\xbb\xbf", b"\\u0041"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2**53, 0.5, "", "x", "a b", [], {}, "0" * 64, "0" * 32, ["0" * 64], {"a": 1}),
)
MEMBERS = (
    *("v", "n", "sid", "prev", "seed", "salts", "withheld", "blobs", "fields", "entry", "meta", "content.text", "type"),
    *("source", "recorded", "ts", "secret.x", "size", "kind"),
)


class Tamperer:
    """Changes the files of a vector, the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def tamper(self, folder: Path) -> None:
        """Change up to three of the files below `folder`, or delete one, or put one in the place of another."""
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "vector.json")
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            path, other, what = self._chance.choice(files), self._chance.choice(files), self._chance.random()
            if not (path.exists() and other.exists()):
                continue
            if what < 0.08 and "store" in path.parts:
                path.unlink()
            elif what < 0.12:
                path.write_bytes(other.read_bytes())
            else:
                change = self._lines if path.suffix == ".jsonl" and what < 0.7 else self._bytes
                path.write_bytes(change(path.read_bytes()))

    def _bytes(self, data: bytes) -> bytes:
        if not data:
            return b"{}\n"
        chance = self._chance
        at, other, length = (
            chance.randrange(len(data)),
            chance.randrange(len(data)),
            chance.choice((1, 1, 2, 5, 64, 1000)),
        )
        piece = chance.choice((*PIECES, data[other : other + length], bytes([data[at] ^ 1 << chance.randrange(8)])))
        return data[:at] + chance.choice((piece, piece, b"")) + data[at + chance.choice((0, 1, length)) :]

    def _lines(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        if len(lines) < 3:
            return self._bytes(data)
        chance = self._chance
        one, other = chance.randrange(len(lines) - 1), chance.randrange(len(lines) - 1)
        match chance.randrange(7):
            case 0:
                del lines[one]
            case 1:
                lines[one], lines[other] = lines[other], lines[one]
            case 2:
                lines.insert(one, lines[other])
            case 3:
                lines[one:] = [b""]
            case 4:
                lines[one:] = [lines[one][: chance.randrange(len(lines[one]) + 1)]]
            case _:
                lines[one] = self._meaning(lines[one])
        return b"\n".join(lines)

    def _meaning(self, line: bytes) -> bytes:
        """The line with one value deleted, replaced, moved or added, in canonical form mostly."""
        try:
            value = json.loads(line)
        except ValueError:
            return self._bytes(line)
        places = [place for place in _places(value) if place]
        if not places:
            return line
        chance = self._chance
        *path, last = chance.choice(places)
        holder = _at(value, path)
        match chance.randrange(5):
            case 0:
                del holder[last]
            case 1:
                holder[last] = copy.deepcopy(chance.choice(VALUES))
            case 2 if isinstance(holder, dict):
                holder[chance.choice(MEMBERS)] = copy.deepcopy(chance.choice(VALUES))
            case 3:
                holder[last] = copy.deepcopy(_at(value, chance.choice(places)))
            case _:
                holder[last] = self._nearby(holder[last])
        try:
            return canonical(value) if chance.random() < 0.9 else json.dumps(value).encode()
        except FormatError:
            return line

    def _nearby(self, value: Any) -> Any:
        if isinstance(value, str) and value:
            at = self._chance.randrange(len(value))
            return value[:at] + self._chance.choice("0aZ ") + value[at + 1 :]
        return value + self._chance.choice((-1, 1)) if isinstance(value, int) else value


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value, as the keys that lead there."""
    yield path
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from _places(value[key], (*path, key))


def _at(value: Any, path: tuple[Any, ...] | list[Any]) -> Any:
    for key in path:
        value = value[key]
    return value
