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
