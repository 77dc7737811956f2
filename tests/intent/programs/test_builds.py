"""Programs that compile, test, check and format source code, and those that drive them."""

from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_checkers_read_formatters_edit_and_runners_run(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_checked_is_printed() -> None:
    assert acted("mypy a.py").prints == (0,)
    assert acted("black -", fed="x").reads_input
    assert flows("tsc a.ts") == ["a.ts -> a.js"]


def test_what_a_project_compiles_stands_in_its_settings() -> None:
    assert acted("tsc").is_unknown
    assert not acted("tsc --noEmit").is_unknown


@each_case("text, expected")
def test_sources_and_results_are_told_apart(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_sources_go_into_their_results() -> None:
    assert flows("cc a.c b.c") == ["a.c -> a.out", "b.c -> a.out"]
    assert flows("cc -c a.c b.c") == ["a.c -> a.o", "b.c -> b.o"]


def test_what_a_target_does_is_unknown() -> None:
    assert acted("make x").is_unknown
    assert not acted("make -n x").is_unknown
    assert acted("just x").is_unknown
    assert not acted("just --list").is_unknown
    assert acted("cmake --build b").is_unknown
