"""The import-linter contract that a package is used by its api alone.

Owns the rule: a package names in `__all__` of its `__init__.py` the modules that other packages may import; any other module
belongs to the package alone. The rule holds at each level: to import `intent.shell.effects`, `intent` must name `shell`, and
`shell` must name `effects`. Must not know which packages exist, nor the order of their imports: the contract on layers does.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output

ROOT = "tallystick"


class ApiContract(Contract):
    """Modules of one package are imported by others only where `__all__` of the package names them."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that go past an api."""
        past = [
            (importer, imported, hidden)
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if (hidden := hidden_part(importer, imported)) is not None
        ]
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each of them."""
        metadata: dict[str, Any] = check.metadata
        for importer, imported, hidden in metadata["past"]:
            package, _, name = hidden.rpartition(".")
            output.print_error(
                f"{importer} imports {imported}, but __all__ of {package} does not name {name}.", bold=False
            )


def hidden_part(importer: str, imported: str) -> str | None:
    """The first part of an imported module that its package keeps to itself; None if there is none."""
    parts = imported.split(".")
    if parts[0] != ROOT or importer.split(".")[:2] == parts[:2]:
        return None
    for length in range(2, len(parts)):
        if parts[length] not in named_by(".".join(parts[:length])):
            return ".".join(parts[: length + 1])
    return None


@cache
def named_by(package: str) -> frozenset[str]:
    """What `__all__` of a package names; nothing if it has none."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return frozenset()
    assignments = [
        node for node in ast.parse(Path(spec.origin).read_text("utf-8")).body if isinstance(node, ast.Assign)
    ]
    lists = [node.value for node in assignments if [ast.unparse(target) for target in node.targets] == ["__all__"]]
    return frozenset(name for found in lists for name in ast.literal_eval(found))
