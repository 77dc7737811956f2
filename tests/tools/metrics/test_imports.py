from pathlib import Path

from tools.metrics.imports import Imports, internal, measured, read_imports

LINE: dict[str, set[str]] = {"p": set(), "p.a": {"p.b"}, "p.b": {"p.c"}, "p.c": set(), "p.d": {"p.c"}}


def test_the_longest_chain_counts_modules() -> None:
    assert measured(LINE) == Imports(longest_chain=3, circles=0, single_importer=1, modules=5)
    assert internal(LINE, "p") == 3


def test_a_circle_is_one_step_of_a_chain() -> None:
    found = measured({**LINE, "p.c": {"p.b"}})
    assert (found.circles, found.longest_chain) == (1, 2)
    both = measured({**LINE, "p.c": {"p.b", "p.e"}, "p.e": {"p.f"}, "p.f": {"p.e", "p.d"}, "p.d": set()})
    assert (both.circles, both.longest_chain) == (2, 4)


def test_a_package_and_its_own_modules_are_no_circle() -> None:
    assert measured({"p": {"p.a"}, "p.a": {"p"}}).circles == 0


def test_imports_are_read_off_the_sources_of_any_tree(tmp_path: Path) -> None:
    package = tmp_path / "some_tree"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "low.py").write_text("")
    (package / "high.py").write_text("from some_tree import low\n")
    assert read_imports(tmp_path, "some_tree") == {
        "some_tree": set(),
        "some_tree.low": set(),
        "some_tree.high": {"some_tree.low"},
    }
