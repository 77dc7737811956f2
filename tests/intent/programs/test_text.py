from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_text_is_read_and_written_where_the_words_say(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_search_without_a_path_reads_what_it_is_fed() -> None:
    assert does("rg foo", fed="x") == []
    assert acted("rg foo", fed="x").reads_input
    assert acted("grep foo").reads_input
    assert not acted("grep -r foo").reads_input


def test_programs_among_the_words_are_code() -> None:
    assert [(code.language, code.text) for code in acted("sed -e p -e q f").codes] == [
        ("sed", Word("p")),
        ("sed", Word("q")),
    ]
    assert [(code.language, code.text) for code in acted("awk 1 f").codes] == [("awk", Word("1"))]
    assert acted("awk -f p f").codes == ()
    assert [code.text for code in acted("split --filter 'cat > $FILE' a").codes] == [Word("cat > $FILE")]


def test_tee_passes_its_input_on() -> None:
    assert acted("tee a").reads_input
    assert not acted("sort -o a").reads_input


def test_what_is_cut_in_pieces_goes_into_all_of_them() -> None:
    assert flows("split a p") == ["a -> p*"]
