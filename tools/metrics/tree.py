"""All measures of one tree, and the table that shows two of them.

Owns which files count, and how figures are kept in TOML and shown.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.metrics.imports import internal, measured, read_imports
from tools.metrics.source import Counts, count

Value = int | float | str
Figures = dict[str, Value]
PACKAGE = "tallystick"
FOLDER = Path(__file__).parent
_ROWS: tuple[tuple[str, str, str], ...] = (
    ("modules", "modules", ""),
    ("flat_package", "largest flat package", ""),
    ("flat_modules", "modules in it", "≤ 40"),
    ("flat_lines", "lines in it", ""),
    ("flat_imports", "imports inside it", ""),
    ("longest_chain", "longest import chain", "≤ 20"),
    ("circles", "import circles", "0"),
    ("single_importer", "modules with a single importer", ""),
    ("single_importer_share", "… in % of all modules", "≤ 20"),
    ("decisions", "decisions in 100 lines", "≤ 25"),
    ("densest_package", "densest package", ""),
    ("densest_decisions", "decisions in 100 lines of it", "≤ 30"),
    ("conditional_expressions", "conditional expressions in 1,000 lines", "≤ 15"),
    ("nested_conditional_expressions", "nested conditional expressions", "0"),
    ("assignment_lines", "lines of assignments in modules: tables of facts, other constants", ""),
    ("assignment_share", "… in % of all lines", "≤ 4"),
    ("table_lines", "… of these in tables of five lines and more", ""),
    ("wide_functions", "functions with more than five arguments", "0"),
    ("source_lines", "lines of Python in src", "108,000"),
    ("test_lines", "lines of Python in tests", "80,000"),
    ("tool_lines", "lines of Python in tools and bench", ""),
    ("data_lines", "lines of TOML in src", ""),
)


def measure(tree: Path) -> Figures:
    """Measure a tree."""
    source = tree / "src" / PACKAGE
    packages = _packages(source)
    whole = Counts()
    for counts in packages.values():
        whole.add(counts)
    large = {name: counts for name, counts in packages.items() if counts.text_lines >= 200}
    densest = max(large, key=lambda name: large[name].decisions_in_100)
    graph = read_imports(tree / "src", PACKAGE)
    imports = measured(graph)
    flat = _largest_flat(source)
    flat_files = sorted(flat.glob("*.py"))
    dotted = ".".join((PACKAGE, *flat.relative_to(source).parts))
    return {
        "modules": whole.modules,
        "flat_package": ".".join(flat.relative_to(source).parts),
        "flat_modules": len(flat_files),
        "flat_lines": sum(_lines(path) for path in flat_files),
        "flat_imports": internal(graph, dotted),
        "longest_chain": imports.longest_chain,
        "circles": imports.circles,
        "single_importer": imports.single_importer,
        "single_importer_share": round(100 * imports.single_importer / imports.modules, 1),
        "decisions": round(whole.decisions_in_100, 1),
        "densest_package": densest,
        "densest_decisions": round(large[densest].decisions_in_100, 1),
        "conditional_expressions": round(whole.conditional_in_1000, 1),
        "nested_conditional_expressions": whole.nested_conditional_expressions,
        "assignment_lines": whole.assignment_lines,
        "assignment_share": round(whole.assigned_share, 1),
        "table_lines": whole.table_lines,
        "wide_functions": whole.wide_functions,
        "source_lines": whole.lines,
        "test_lines": _lines_below(tree / "tests"),
        "tool_lines": _lines_below(tree / "tools") + _lines_below(tree / "bench"),
        "data_lines": sum(_lines(path) for path in source.rglob("*.toml")),
    }


def packages_table(tree: Path) -> Iterator[str]:
    """Each package's size and density, the densest first."""
    packages = _packages(tree / "src" / PACKAGE)
    heads = ("modules", "lines", "decisions/100", "if-else/1,000", "assigned %", ">5 args")
    yield f"{'package':<14} {' '.join(f'{head:>{max(len(head), 8)}}' for head in heads)}"
    for name, one in sorted(packages.items(), key=lambda item: -item[1].decisions_in_100):
        yield (
            f"{name:<14} {one.modules:>8,} {one.lines:>8,} {one.decisions_in_100:>13.1f} {one.conditional_in_1000:>13.1f}"
            f" {one.assigned_share:>10.1f} {one.wide_functions:>8,}"
        )


def _packages(source: Path) -> dict[str, Counts]:
    found: dict[str, Counts] = {}
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source).parts
        if inside[0] != "samples":
            found.setdefault(inside[0] if len(inside) > 1 else "(top)", Counts()).add(count(path.read_text("utf-8")))
    return found


def _largest_flat(source: Path) -> Path:
    folders = {path.parent for path in source.rglob("*.py")}
    return max(sorted(folders), key=lambda folder: len(list(folder.glob("*.py"))))


def _lines_below(folder: Path) -> int:
    """Lines of Python; what agents wrote in recordings is not ours."""
    recorded = folder / "recordings"
    files = (path for path in folder.rglob("*.py") if recorded not in path.parents or path.parent == recorded)
    return sum(_lines(path) for path in files)


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


# Kept and shown ------------------------------------------------------------------------------------------------------


def kept(name: str) -> Figures:
    """Figures that were written down: `before` or `after`."""
    path = FOLDER / f"{name}.toml"
    return dict(tomllib.loads(path.read_text("utf-8"))) if path.exists() else {}


def keep(name: str, figures: Mapping[str, Value], of: str) -> None:
    """Write figures down."""
    lines = [f"{key} = {_toml(value)}" for key, value in figures.items()]
    (FOLDER / f"{name}.toml").write_text(f"# {of}\n\n" + "\n".join(lines) + "\n", "utf-8")


def _toml(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def table(before: Mapping[str, Value], after: Mapping[str, Value], heads: tuple[str, str]) -> Iterator[str]:
    """Both trees side by side, as lines of Markdown."""
    yield f"| measure | {heads[0]} | {heads[1]} | aim |"
    yield "|---|---|---|---|"
    for key, name, aim in _ROWS:
        yield f"| {name} | {_shown(before.get(key))} | {_shown(after.get(key))} | {aim} |"


def _shown(value: Value | None) -> str:
    if isinstance(value, str):
        return f"`{value}`"
    return "" if value is None else f"{value:,}"
