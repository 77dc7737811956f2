from __future__ import annotations

import pytest

from tallystick.agents.settings.launchers import gives_the_machine, image, is_fixed_image, unpinned
from tests.support.cases import each_case


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("npx -y some-server", "some-server"),
        ("npx --yes @scope/server --stdio", "@scope/server"),
        ("npx -y @scope/server@^1.0.0", "@scope/server@^1.0.0"),
        ("npx -p @scope/server run-it", "@scope/server"),
        ("bunx server", "server"),
        ("pnpm dlx server", "server"),
        ("npm exec server", "server"),
        ("uvx server", "server"),
        ("uvx --from git+https://example.com/server run", "git+https://example.com/server"),
        ("uv tool run server", "server"),
        ("pipx run server", "server"),
        ("cmd /c npx -y server", "server"),
        ("env A=b npx -y server", "server"),
        ("/usr/local/bin/npx server", "server"),
    ],
)
def test_a_package_in_any_version_is_named(line: str, package: str) -> None:
    assert unpinned(line.split()) == package


@each_case("line")
def test_a_fixed_version_or_another_command_is_none(line: str) -> None:
    assert unpinned(line.split()) is None


def test_the_image_is_found_behind_options() -> None:
    line = "docker run -i --rm -e TOKEN -v /srv:/srv --name x example/server:1 --stdio"
    assert image(line.split()) == "example/server:1"
    assert image(["podman", "run", "example/server"]) == "example/server"
    assert image(["docker", "ps", "-a"]) is None
    assert image(["docker", "run", "-e"]) is None


def test_only_a_digest_fixes_an_image() -> None:
    assert is_fixed_image(f"example/server@sha256:{'0' * 64}")
    assert not is_fixed_image("example/server:1.2.3")


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("docker run -v /var/run/docker.sock:/var/run/docker.sock x", "/var/run/docker.sock:/var/run/docker.sock"),
        ("docker run --volume=/:/host x", "--volume=/:/host"),
        ("docker run --mount type=bind,source=/,target=/host x", "type=bind,source=/,target=/host"),
        ("docker run -v /srv:/srv --privileged=false x", None),
    ],
)
def test_what_gives_a_container_the_machine_is_named(line: str, given: str | None) -> None:
    assert gives_the_machine(line.split()) == given
