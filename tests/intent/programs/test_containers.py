"""Containers and clusters, and what runs them."""

from __future__ import annotations

from tallystick.model.intent import Domain, Operation
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_files_go_in_and_out_of_containers(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_a_container_does_to_a_mounted_folder_is_unknown() -> None:
    (action,) = acted("docker run -v /a:/b i").actions
    assert (action.domain, action.operation, action.is_deep) == (Domain.FILE, Operation.UNKNOWN, True)


def test_a_file_goes_where_it_is_copied() -> None:
    assert flows("docker cp a c:/b") == ["a -> docker://c/b"]
    assert acted("docker cp c:/b -").prints == (0,)


def test_what_a_compose_file_runs_is_unknown() -> None:
    assert acted("docker-compose up").is_unknown
    assert not acted("docker-compose down").is_unknown
    assert acted("docker frobnicate").is_unknown


@each_case("text, expected")
def test_a_cluster_is_asked_or_changed(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_manifests_go_to_the_cluster() -> None:
    assert flows("kubectl create -f a.yml") == ["a.yml -> kubernetes://"]


def test_another_verb_is_unknown() -> None:
    assert acted("kubectl frobnicate").is_unknown
