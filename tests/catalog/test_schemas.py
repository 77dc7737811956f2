"""Every member of a schema of the catalogue is read: a fact that no one asks for is not kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.loading import Entry
from tallystick.model.intent import Operation

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tallystick"
LOADERS = ("catalog/compiling.py", "catalog/loading.py")


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The modules that may read a fact: the program's, and what writes the pages."""
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name not in LOADERS and not name.startswith("samples/"):
            yield name, ast.parse(path.read_text("utf-8"))
    for path in (ROOT / "docs").glob("_*.py"):
        yield path.name, ast.parse(path.read_text("utf-8"))


def dotted(name: str) -> str:
    return f"tallystick.{name.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"


TREES = dict(modules())
IMPORTED = {
    name: {
        f"{node.module}.{each.name}" if node.module else each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    for name, tree in TREES.items()
}


def schemas() -> Iterator[tuple[str, str]]:
    """The module and the name of every schema."""
    for name, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Entry" for base in node.bases):
                yield dotted(name), node.name


def read_in(module: str) -> set[str]:
    """The attributes that are read in a module, in those that import it, and in those that import these."""
    near = {name for name in TREES if dotted(name) == module}
    for _ in range(2):
        known = {dotted(name) for name in near}
        near |= {name for name, imported in IMPORTED.items() if imported & known}
    return {
        node.attr
        for name in near
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


@pytest.mark.parametrize(("module", "schema"), sorted(schemas()))
def test_every_member_of_a_schema_is_read(module: str, schema: str) -> None:
    struct = getattr(import_module(module), schema)
    assert issubclass(struct, Entry)
    by_name = {operation.value for operation in Operation}  # `getattr(entry, operation)`: one member an operation
    assert set(struct.__struct_fields__) - read_in(module) - by_name == set()


def test_what_is_spelled_for_an_agent_is_asked_for_by_a_reader() -> None:
    asked = "\n".join(path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py")))
    unasked = [
        f"{facts.name}: {key}"
        for facts in AGENTS.values()
        for key in (*facts.spelling.words, *facts.spelling.names)
        if f'"{key}"' not in asked
    ]
    assert unasked == []
