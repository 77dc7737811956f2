from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_keys_and_secrets_are_read_and_made(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_encrypted_goes_into_the_new_file() -> None:
    assert flows("gpg -c a") == ["a -> a.gpg"]
    assert acted("gpg -d a").prints == (0,)
    assert acted("gpg -d", fed="x").reads_input
