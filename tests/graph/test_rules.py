from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.graph import rules
from tests.support.cases import cases

TEXTS = cases(__file__, "texts", dict[str, str])
REACHED = {
    name for name in TEXTS if name not in ("graph/notes.txt", "intent/other/two.toml", "intent/other/__init__.py")
}
REACHED -= {"cli/__init__.py", "cli/shown.py"}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of our name, of which a part is reached."""
    for name, text in TEXTS.items():
        path = tmp_path / "tallystick" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tallystick"


def kept(package: Path) -> str:
    digest, stamps = rules.computed(package)
    rules.store(digest, stamps, package)
    return digest


def test_what_the_roots_import_is_reached_with_its_packages_and_the_data_beside_it(package: Path) -> None:
    assert set(rules.computed(package)[1]) == REACHED


@pytest.mark.parametrize("name", sorted(REACHED))
def test_another_text_in_any_file_that_is_reached_is_another_digest(package: Path, name: str) -> None:
    before = kept(package)
    assert rules.stored(package) == before
    (package / name).write_text(TEXTS[name] + "\n# changed\n")
    assert rules.stored(package) is None
    assert kept(package) != before
    (package / name).unlink()
    assert rules.stored(package) is None


@pytest.mark.parametrize("name", sorted(set(TEXTS) - REACHED))
def test_another_text_elsewhere_is_none(package: Path, name: str) -> None:
    before = kept(package)
    (package / name).write_text("changed")
    assert rules.stored(package) == before == kept(package)


def test_a_new_data_file_is_another_digest(package: Path) -> None:
    before = kept(package)
    (package / "intent" / "facts" / "three.toml").write_text("c = 1")
    assert rules.stored(package) is None
    assert kept(package) != before


def test_a_file_that_was_replaced_by_one_of_the_same_size_and_time_is_read_again(package: Path) -> None:
    before = kept(package)
    path = package / "graph" / "a.py"
    status = path.stat()
    other = path.with_name("other")
    other.write_text(TEXTS["graph/a.py"].replace("deep", "peed"))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert path.stat().st_size == status.st_size
    assert rules.stored(package) is None
    assert kept(package) != before


def test_the_same_texts_have_the_same_digest_wherever_they_are_and_whenever_they_were_written(package: Path) -> None:
    before = kept(package)
    for path in package.rglob("*.py"):
        os.utime(path, (1, 1))
    assert rules.stored(package) is None
    assert kept(package) == before


def test_what_a_build_stored_is_taken_as_it_is(package: Path) -> None:
    rules.store("built", None, package)
    assert rules.stored(package) == "built"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"digest": "a"}', '{"digest": "a", "stamps": {"gone.py": [1, 2, 3]}}']
)
def test_a_damaged_digest_is_computed_again(package: Path, text: str) -> None:
    before = kept(package)
    (package / rules.ROWS.stored).write_text(text)
    assert rules.stored(package) is None
    assert kept(package) == before
    assert json.loads((package / rules.ROWS.stored).read_text())["digest"] == before
    assert [path.name for path in package.glob("graph/.*")] == []


def test_the_digest_of_this_program_has_its_roots_and_its_tables() -> None:
    reached = rules.reached(rules.PACKAGE)
    assert set(rules.ROWS.roots) <= reached
    assert {"tallystick.graph.project", "tallystick.lineage.access", "tallystick.journal.read"} <= reached
    assert "graph/schema.sql" in rules.computed(rules.PACKAGE)[1]
    assert not any(module.startswith(("tallystick.cli", "tallystick.tui", "tallystick.service")) for module in reached)
    assert rules.current() == rules.current()
    assert len(rules.current()) == 16
    assert all(rules._version(name) for name in rules.GRAMMARS)


def test_what_states_follow_has_a_digest_of_its_own(package: Path) -> None:
    reached = rules.reached(rules.PACKAGE, rules.STATES)
    assert {"tallystick.state.reducer", "tallystick.policy.calls.reader", "tallystick.intent.shell.effects"} <= reached
    assert not any(module.startswith(("tallystick.cli", "tallystick.tui", "tallystick.service")) for module in reached)
    assert rules.current(rules.STATES) != rules.current()
    rows = kept(package)
    digest, stamps = rules.computed(package, rules.STATES)
    rules.store(digest, stamps, package, rules.STATES)
    assert (rules.stored(package, rules.STATES), rules.stored(package)) == (digest, rows)


def runtime_imports(text: str) -> Iterator[str]:
    pending: list[ast.AST] = [ast.parse(text)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "the house imports by whole names"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        pending += ast.iter_child_nodes(node)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.soak)])
def test_imports_are_read_from_text_as_python_reads_them(step: int) -> None:
    """Of each fifth module; of all in `make soak`."""
    for name in list(rules.computed(rules.PACKAGE)[1])[::step]:
        text = (rules.PACKAGE / name).read_text("utf-8")
        if name.endswith(".py") and "tallystick" in text:
            ours = {name for name in runtime_imports(text) if name.startswith("tallystick")}
            assert ours <= set(rules.imports(text)), name
