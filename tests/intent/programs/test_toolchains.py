from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_verbs_of_go_and_cargo(text: str, expected: list[str]) -> None:
    assert does(text) == expected
    assert not acted(text).is_unknown


def test_a_built_program_comes_from_its_sources() -> None:
    assert flows("go build -o b a.go") == ["a.go -> b"]
    assert flows("cargo add a") == ["pkg:cargo/a -> Cargo.toml"]


def test_another_verb_is_unknown() -> None:
    assert acted("go generate").is_unknown
    assert acted("cargo frobnicate").is_unknown
