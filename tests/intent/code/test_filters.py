"""Languages of filters: awk, sed, jq and yq → the files that they read and write, and the commands that they run."""

from tests.intent.code.cases import done
from tests.support.cases import each_case


@each_case("text, expected")
def test_an_awk_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("awk", text) == expected


@each_case("text, expected")
def test_a_sed_script_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("sed", text) == expected


@each_case("text, expected")
def test_a_filter_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("yq", text) == expected
