from __future__ import annotations

import pytest

from tallystick.model.intent import Domain, Operation
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docker container run -v /a:/b:ro i", ["read* /a"]),
        ("docker run -v v:/b i -v /a:/b", []),
        ("docker run --mount type=bind,src=/a,dst=/b,ro i", ["read* /a"]),
        ("docker run -p 1:1 i rm -rf /", []),
        ("docker build -", []),
        ("docker build https://h/a", ["fetch https://h/a"]),
        ("docker build -t a --push d", ["execute d/Dockerfile", "read* d", "send docker://a"]),
        ("docker cp - c:/a", ["send< docker://c/a"]),
        ("docker image save -o f i", ["fetch docker://i", "write f"]),
        ("docker import https://h/a", ["fetch https://h/a"]),
        ("docker exec -i c sh", ["connect< docker://c"]),
        ("docker compose config", ["read docker-compose.yml"]),
        ("docker ps", []),
    ],
)
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
