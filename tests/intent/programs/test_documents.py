from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_documents_are_read_and_written(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_document_comes_from_all_of_its_sources() -> None:
    assert flows("ffmpeg -i a -i b c") == ["a -> c", "b -> c"]
    assert acted("convert a.png -").prints == (0,)
    assert acted("dot -Tpng a").prints == (0,)
