from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each, each_case


@each_case("text, language, code")
def test_code_among_the_words_is_found(text: str, language: str, code: str) -> None:
    done = acted(text)
    assert [(found.language, found.text) for found in done.codes] == [(language, Word(code))]
    assert done.scripts == ()


@each(
    "text",
    ["python a -c x", "node a", "perl -w a", "ruby a b", "php a", "bash a -c", "sh a", ". a", "source a b", "lua a"],
)
def test_a_file_of_code_is_run(text: str) -> None:
    done = acted(text)
    assert done.scripts == (Word("a"),)
    assert done.codes == ()


@each("program", ["python", "node", "perl", "ruby", "php", "python -", "python -u"])
def test_what_is_fed_is_code_if_there_is_no_other(program: str) -> None:
    assert [code.text for code in acted(program, fed="x").codes] == [Word("x")]
    assert acted(program, reads="f").scripts == (Word("f"),)


def test_code_that_is_given_leaves_the_input_as_data() -> None:
    assert [code.text for code in acted("python -c a", fed="x").codes] == [Word("a")]
    assert acted("python a", fed="x").codes == ()


@each_case("text, expected")
def test_files_of_interpreters(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_module_that_no_table_has_is_unknown() -> None:
    assert acted("python -m frobnicate").is_unknown
    assert not acted("python --version").is_unknown
    assert acted("java Main").is_unknown


def test_a_served_folder_goes_to_whoever_asks() -> None:
    assert flows("python -m http.server -d a") == ["a -> :8000"]
