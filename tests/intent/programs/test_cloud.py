"""The command lines of clouds, and programs that bring machines into a state that files describe."""

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


@each_case("text, expected")
def test_what_goes_to_a_cloud_and_comes_from_it(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_files_go_to_buckets_and_answers_are_printed() -> None:
    assert flows("aws s3 sync d s3://b") == ["d -> s3://b"]
    assert flows("aws s3api get-object --bucket b --key k f") == ["aws://s3api -> f"]
    assert acted("aws ec2 describe-instances").prints == (0,)
    assert acted("aws s3 cp s3://b/c -").prints == (0,)
