"""Example questions in SQL, each with a name.

Owns reading examples.sql: a question begins at `-- name:`, then come lines that say what it answers, `-- :value = …` for
what it leaves open, and the SQL itself. Must not know how questions are asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import msgspec

_NAME = re.compile(r"^-- name: ([a-z][a-z-]*)$", re.MULTILINE)
_VALUE = re.compile(r"-- :(\w+) = (.*)")


class Example(msgspec.Struct, frozen=True):
    """A question: its name, what it answers, its SQL, and what stands for each `:value` unless something else is given."""

    name: str
    answers: str
    sql: str
    values: dict[str, str]


@cache
def examples() -> tuple[Example, ...]:
    """All examples, in the order of the file."""
    return tuple(_parse_examples(files(__package__).joinpath("examples.sql").read_text("utf-8")))


def _parse_examples(text: str) -> Iterator[Example]:
    _, *pieces = _NAME.split(text)
    for name, body in zip(pieces[::2], pieces[1::2], strict=True):
        lines = body.strip().splitlines()
        comments = [line for line in lines if line.startswith("--")]
        values = {match[1]: match[2].strip() for line in comments if (match := _VALUE.match(line)) is not None}
        said = " ".join(line.removeprefix("--").strip() for line in comments if not _VALUE.match(line))
        sql = "\n".join(line for line in lines if not line.startswith("--")).strip().removesuffix(";")
        yield Example(name, said, sql, values)
