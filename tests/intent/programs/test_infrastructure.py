from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("terraform -chdir=d plan -var-file=v", ["read d/v", "read* d"]),
        ("terraform apply p", ["read* .", "read p", "send terraform://apply", "edit terraform.tfstate"]),
        ("terraform state list", ["read* ."]),
        ("terraform fmt -check", ["read* ."]),
        ("terraform version", []),
        ("ansible-playbook -i a, -e @v p.yml", ["read v", "execute p.yml"]),
        ("ansible-vault encrypt a", ["edit a"]),
    ],
)
def test_descriptions_are_read_and_applied(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_plan_comes_from_the_folder() -> None:
    assert flows("terraform plan -out p") == [". -> p"]


def test_what_a_playbook_does_is_unknown() -> None:
    assert acted("ansible-playbook p.yml").is_unknown
    assert not acted("ansible-playbook --syntax-check p.yml").is_unknown
