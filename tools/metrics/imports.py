"""How the modules of a package import each other, by grimp, import-linter's engine.

Owns what a chain, a circle and a single importer are. Imports for type checkers count: who reads a module reads them too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

Graph = Mapping[str, set[str]]
"""Module → the modules that it imports."""


@dataclass(frozen=True)
class Imports:
    """What was found in the graph of imports."""

    longest_chain: int
    """Modules in the longest chain of imports; those of a circle count as one step."""
    circles: int
    """Groups of modules that import each other; a package and its own modules are no circle."""
    single_importer: int
    """Modules that one other module imports."""
    modules: int


def read_imports(source: Path, package: str) -> dict[str, set[str]]:
    """The imports between all modules of a package below `source`."""
    before = list(sys.path)
    known = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == package}
    for name in known:
        del sys.modules[name]
    sys.path.insert(0, os.fspath(source))
    try:
        graph = grimp.build_graph(package, cache_dir=None)
    finally:
        sys.path[:] = before
        sys.modules.update(known)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def measured(imports: Graph) -> Imports:
    """Measure a graph of imports."""
    importers: dict[str, int] = dict.fromkeys(imports, 0)
    for imported in imports.values():
        for module in imported:
            importers[module] += 1
    groups = _groups(imports)
    return Imports(
        longest_chain=_longest(imports, groups),
        circles=sum(_is_circle(group) for group in set(map(frozenset, groups.values()))),
        single_importer=sum(count == 1 for count in importers.values()),
        modules=len(imports),
    )


def internal(imports: Graph, package: str) -> int:
    """How many imports there are between modules that lie directly in a package."""
    flat = {module for module in imports if module.rpartition(".")[0] == package}
    return sum(len(imports[module] & flat) for module in flat)


def _is_circle(group: frozenset[str]) -> bool:
    packages = [module for module in group if all(other == module or other.startswith(f"{module}.") for other in group)]
    return len(group) > 1 and not packages


def _groups(imports: Graph) -> dict[str, set[str]]:
    """Each module's group: itself, and those that it imports and that import it, by whatever way."""
    groups = {module: {module} for module in imports}
    while True:
        between = _between(imports, groups)
        try:
            TopologicalSorter(between).prepare()
        except CycleError as error:
            names: list[str] = error.args[1]
            joined = set().union(*(groups[name] for name in names))
            for module in joined:
                groups[module] = joined
        else:
            return groups


def _between(imports: Graph, groups: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The imports between groups, each named after its first module."""
    heads = {module: min(group) for module, group in groups.items()}
    found: dict[str, set[str]] = {head: set() for head in heads.values()}
    for module, imported in imports.items():
        found[heads[module]] |= {heads[other] for other in imported} - {heads[module]}
    return found


def _longest(imports: Graph, groups: Mapping[str, set[str]]) -> int:
    between = _between(imports, groups)
    length: dict[str, int] = {}
    for module in TopologicalSorter(between).static_order():
        length[module] = 1 + max((length[other] for other in between[module]), default=0)
    return max(length.values(), default=0)
