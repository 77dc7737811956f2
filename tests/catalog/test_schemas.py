"""Every member of a schema of the catalogue is read: a fact that no one asks for is not kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.loading import Entry
from tallystick.model.intent import Operation

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tallystick"
LOADERS = ("catalog/compiling.py", "catalog/loading.py")
SCHEMA = re.compile(r"^class (\w+)\(Entry\b", re.MULTILINE)
IMPORT = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)
ATTRIBUTE = re.compile(r"\.([a-z_]\w*)")


class Source(NamedTuple):
    """What this test needs of a module. Its text is searched, which takes a tenth of parsing it."""

    schemas: list[str]
    imports: set[str]
    attributes: set[str]


def modules() -> Iterator[tuple[str, str]]:
    """The modules that may read a fact, by their dotted names: the program's, and what writes the pages."""
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name not in LOADERS and not name.startswith("samples/"):
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            yield f"tallystick.{dotted}", path.read_text("utf-8")
    for path in (ROOT / "docs").glob("_*.py"):
        yield path.stem, path.read_text("utf-8")


def read(text: str) -> Source:
    imports = {
        name
        for module, names in IMPORT.findall(text)
        for name in (module, *(f"{module}.{each}" for each in re.findall(r"\w+", names)))
    }
    return Source(SCHEMA.findall(text), imports, set(ATTRIBUTE.findall(text)))


def read_in(module: str, sources: dict[str, Source]) -> set[str]:
    """The attributes that are read in a module, in those that import it, and in those that import these."""
    near = {module}
    for _ in range(2):
        near |= {name for name, source in sources.items() if source.imports & near}
    return {attribute for name in near for attribute in sources[name].attributes}


def test_every_member_of_a_schema_is_read() -> None:
    sources = {name: read(text) for name, text in modules()}
    by_name = {operation.value for operation in Operation}  # `getattr(entry, operation)`: one member an operation
    unread = {}
    for module, source in sources.items():
        for name in source.schemas:
            struct = getattr(import_module(module), name)
            assert issubclass(struct, Entry)
            unread[f"{module}.{name}"] = set(struct.__struct_fields__) - read_in(module, sources) - by_name
    assert len(unread) > 20
    assert {name: fields for name, fields in unread.items() if fields} == {}


def test_what_is_spelled_for_an_agent_is_asked_for_by_a_reader() -> None:
    asked = "\n".join(path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py")))
    unasked = [
        f"{facts.name}: {key}"
        for facts in AGENTS.values()
        for key in (*facts.spelling.words, *facts.spelling.names)
        if f'"{key}"' not in asked
    ]
    assert unasked == []
