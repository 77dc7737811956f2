"""What programs are is in the catalogue: code has few lists of their names, and no more of them than it has today."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tallystick.catalog.programs import programs

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"
READERS = ("graph", "guard", "intent", "lineage", "policy", "scrubbing")
ALLOWED = Path(__file__).with_name("literals.toml")
FEWEST = 4
"""So many names of programs, and more names of programs than other words, make a list of programs."""


def members(node: ast.AST) -> list[str]:
    """The words of a literal: of a collection, of the keys of a table of texts, of a text."""
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(node, ast.Dict) and not all(isinstance(value, ast.Name | ast.Attribute) for value in node.values):
        return [one.value for one in node.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    return []


def lists_of_programs(text: str) -> Iterator[int]:
    """The lines on which such lists begin; docstrings do not count, nor what gives a rule its function."""
    tree = ast.parse(text)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    known = programs()
    for node in ast.walk(tree):
        words = members(node) if id(node) not in told else []
        count = sum(word in known for word in words)
        if count >= FEWEST and count * 2 > len(words):
            yield node.lineno  # type: ignore[attr-defined]


def test_such_lists_are_found() -> None:
    code = (
        '"""cat ls cp mv rm"""\n'
        'A = frozenset(("cat", "ls", "cp", "mv"))\n'
        'B = names("cat ls cp mv x y z")\n'
        'C = {"cat": cat, "ls": ls, "cp": cp, "mv": mv}\n'
        'D = {"cat": 1, "ls": 2, "cp": 3, "mv": 4}\n'
        'E = ("cat", "ls", "cp", "x")\n'
        'F = ("cat", "ls", "cp", "mv", "s", "t", "u", "v")\n'
    )
    assert sorted(lists_of_programs(code)) == [2, 3, 5]


def test_lists_of_programs_outside_the_catalogue_only_become_fewer() -> None:
    found = Counter(
        path.relative_to(SOURCE).as_posix()
        for folder in READERS
        for path in (SOURCE / folder).rglob("*.py")
        for _ in lists_of_programs(path.read_text("utf-8"))
    )
    allowed = {path: entry["lists"] for path, entry in tomllib.loads(ALLOWED.read_text("utf-8")).items()}
    assert dict(found) == allowed, "put new lists into catalog/programs; of fewer lists, write the new number"
