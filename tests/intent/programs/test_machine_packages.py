from __future__ import annotations

from tests.intent.programs.acting import does
from tests.support.cases import each_case


@each_case("text, expected")
def test_a_change_of_the_machine_is_an_elevation(text: str, expected: list[str]) -> None:
    assert does(text) == expected
