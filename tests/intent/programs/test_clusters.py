from __future__ import annotations

from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_a_cluster_is_asked_or_changed(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_manifests_go_to_the_cluster() -> None:
    assert flows("kubectl create -f a.yml") == ["a.yml -> kubernetes://"]


def test_another_verb_is_unknown() -> None:
    assert acted("kubectl frobnicate").is_unknown
