from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pytest a.py::b c", ["execute a.py", "execute* c"]),
        ("vitest run a.ts", ["execute a.ts"]),
        ("ruff check", ["read* ."]),
        ("ruff format --diff a.py", ["read a.py"]),
        ("ruff --version", []),
        ("black -", []),
        ("isort --check-only a.py", ["read a.py"]),
        ("prettier a.js", ["read a.js"]),
        ("prettier -w a.js", ["edit a.js"]),
        ("eslint -o r a.js", ["read a.js", "write r"]),
        ("gofmt -w a.go", ["edit a.go"]),
        ("tsc a.ts b.mts", ["read a.ts", "read b.mts", "write a.js", "write b.mjs"]),
        ("tsc --noEmit a.ts", ["read a.ts"]),
        ("tsc -p d", ["read d/tsconfig.json"]),
        ("tsc -p c.json --outDir o", ["read c.json", "write* o"]),
        ("rubocop -A", ["edit* ."]),
    ],
)
def test_checkers_read_formatters_edit_and_runners_run(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_checked_is_printed() -> None:
    assert acted("mypy a.py").prints == (0,)
    assert acted("black -", fed="x").reads_input
    assert flows("tsc a.ts") == ["a.ts -> a.js"]


def test_what_a_project_compiles_stands_in_its_settings() -> None:
    assert acted("tsc").is_unknown
    assert not acted("tsc --noEmit").is_unknown
