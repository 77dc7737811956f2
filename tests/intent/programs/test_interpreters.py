from __future__ import annotations

import pytest

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ("python -c x a", "python", "x"),
        ("python -cx", "python", "x"),
        ("python3 -Ic x", "python", "x"),
        ("node -e x", "javascript", "x"),
        ("node -pe x", "javascript", "x"),
        ("node --eval=x", "javascript", "x"),
        ("perl -ne x f", "perl", "x"),
        ("perl -lane x f", "perl", "x"),
        ("ruby -e x", "ruby", "x"),
        ("php -r x", "php", "x"),
        ("deno eval x", "javascript", "x"),
        ("bun -e x", "javascript", "x"),
        ("Rscript -e x", "r", "x"),
        ("python -m timeit x", "python", "x"),
    ],
)
def test_code_among_the_words_is_found(text: str, language: str, code: str) -> None:
    done = acted(text)
    assert [(found.language, found.text) for found in done.codes] == [(language, Word(code))]
    assert done.scripts == ()


@pytest.mark.parametrize(
    "text",
    ["python a -c x", "node a", "perl -w a", "ruby a b", "php a", "bash a -c", "sh a", ". a", "source a b", "lua a"],
)
def test_a_file_of_code_is_run(text: str) -> None:
    done = acted(text)
    assert done.scripts == (Word("a"),)
    assert done.codes == ()


@pytest.mark.parametrize("program", ["python", "node", "perl", "ruby", "php", "python -", "python -u"])
def test_what_is_fed_is_code_if_there_is_no_other(program: str) -> None:
    assert [code.text for code in acted(program, fed="x").codes] == [Word("x")]
    assert acted(program, reads="f").scripts == (Word("f"),)


def test_code_that_is_given_leaves_the_input_as_data() -> None:
    assert [code.text for code in acted("python -c a", fed="x").codes] == [Word("a")]
    assert acted("python a", fed="x").codes == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("perl -i.bak -pe x a", ["edit a", "copy_dest a.bak"]),
        ("perl -pe x a", ["read a"]),
        ("perl -e x a", []),
        ("python -m http.server -b 1.2.3.4 80", ["read* .", "listen 1.2.3.4:80"]),
        ("python -mjson.tool a b", ["read a", "write b"]),
        ("python -m pip install x", ["fetch pkg:pypi/x"]),
        ("python -m cProfile x.py", ["execute x.py"]),
        ("coverage run --source s x.py", ["execute x.py"]),
        ("coverage report", []),
        ("node -r a b", ["execute a", "execute b"]),
        ("java -cp a:b.jar M", ["execute* a", "execute b.jar"]),
        ("deno run -A a.ts", ["execute a.ts"]),
        ("bash --rcfile a", ["execute a"]),
        ("bash -c x a", []),
    ],
)
def test_files_of_interpreters(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_module_that_no_table_has_is_unknown() -> None:
    assert acted("python -m frobnicate").is_unknown
    assert not acted("python --version").is_unknown
    assert acted("java Main").is_unknown


def test_a_served_folder_goes_to_whoever_asks() -> None:
    assert flows("python -m http.server -d a") == ["a -> :8000"]
