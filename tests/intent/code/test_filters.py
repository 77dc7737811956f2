"""yq → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('. * load("b.yaml")', ["read b.yaml"]),
        ('.a.b | select(.c == "load")', []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("yq", text) == expected
