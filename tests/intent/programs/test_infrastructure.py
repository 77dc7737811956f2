from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_descriptions_are_read_and_applied(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_plan_comes_from_the_folder() -> None:
    assert flows("terraform plan -out p") == [". -> p"]


def test_what_a_playbook_does_is_unknown() -> None:
    assert acted("ansible-playbook p.yml").is_unknown
    assert not acted("ansible-playbook --syntax-check p.yml").is_unknown
