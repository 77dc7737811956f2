"""Attacks that were shown: each names tests that are there, and what is kept of the last run is of these."""

from __future__ import annotations

import ast
from pathlib import Path
from xml.etree import ElementTree as Xml

from tools.shown import Attack, Counts, Part, counted, named, outcome, parts, results, table

TREE = Path(__file__).parents[2]


def functions(file: str) -> set[str]:
    tree = ast.parse((TREE / file).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_attack_names_tests_that_are_there() -> None:
    attacks = [attack for part in parts() for attack in part.attacks]
    assert all(attack.tests for attack in attacks)
    for name in (name for attack in attacks for name in (*attack.tests, *attack.soaked)):
        file, _, function = name.partition("::")
        assert function in functions(file) or (not function and (TREE / file).is_file()), name


def test_all_of_them_held_when_they_were_run() -> None:
    came = results()
    assert sorted(came) == named(parts()), "tests were named since: run `make shown`"
    assert [name for name, counts in came.items() if counts.failed or not counts.passed] == []


def test_cases_are_counted_for_their_file_and_their_function() -> None:
    failure = Xml.Element("failure")
    cases = [
        ("tests.a.test_b", "test_c[1]", []),
        ("tests.a.test_b", "test_c[2]", [failure]),
        ("tests.a.test_b", "test_d", [Xml.Element("skipped")]),
    ]
    found = counted(["tests/a/test_b.py", "tests/a/test_b.py::test_c", "tests/x.py"], cases)
    assert found == {
        "tests/a/test_b.py": Counts(1, 1, 1),
        "tests/a/test_b.py::test_c": Counts(1, 1),
        "tests/x.py": Counts(),
    }


def test_a_row_says_what_came_of_it() -> None:
    part = Part("Sort", (Attack("It.", "tests/a/test_b.py::test_c_d soak:tests/a/test_b.py::test_e"),))
    (*_, row) = table([part], {"tests/a/test_b.py::test_c_d": Counts(2, 0, 1)})
    assert (
        row == "| It. | `a/test_b.py::test_c_d`; `a/test_b.py::test_e` (`make soak`) | held, 2 cases; 1 not run there |"
    )
    assert outcome([Counts(1), Counts()]) == "**not run**"
    assert outcome([Counts(1, 2)]) == "**2 of 3 failed**"
    assert outcome([Counts(1)]) == "held, 1 case"
