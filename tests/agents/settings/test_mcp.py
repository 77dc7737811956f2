from __future__ import annotations

from typing import Any

import pytest

from tallystick.agents.settings.mcp import gives_the_machine, image, is_fixed_image, unpinned
from tallystick.catalog.agents import Base
from tests.agents.settings.cases import Case, check, found, ids
from tests.support.cases import each, each_case


def server(**value: Any) -> dict[str, Any]:
    return {"mcpServers": {"docs": value}}


def command(line: str) -> dict[str, Any]:
    words = line.split(" ")
    return server(command=words[0], args=words[1:])


FIXED_IMAGE = f"docker run -i --rm example/docs@sha256:{'a' * 64}"

CASES = [
    Case("mcp.plaintext-http", server(url="http://mcp.example.com/sse"), server(url="http://localhost:3000/sse")),
    Case("mcp.shell-launcher", server(command="bash", args=["-c", "cd /srv && node a.js"]), command("node a.js")),
    Case(
        "mcp.download-and-run",
        server(command="bash", args=["-c", "curl -s https://example.com/i.sh | sh"]),
        server(command="bash", args=["-c", "curl -s https://example.com/data.json | jq ."]),
    ),
    Case("mcp.unpinned-package", command("npx -y @example/docs"), command("npx -y @example/docs@1.2.3")),
    Case("mcp.unpinned-package", command("uvx docs-server"), command("uvx docs-server==1.2.3")),
    Case("mcp.unpinned-package", command("npx -y docs@latest"), command("npx ./docs")),
    Case("mcp.unpinned-image", command("docker run -i --rm example/docs:latest"), command(FIXED_IMAGE)),
    Case(
        "mcp.container-has-machine",
        command("docker run -v /:/host example/docs"),
        command("docker run -v /home/dev/docs:/docs example/docs"),
    ),
    Case(
        "mcp.container-has-machine",
        command("docker run --privileged example/docs"),
        command("docker run --read-only example/docs"),
    ),
    Case("mcp.temporary-program", command("/tmp/server --stdio"), command("/opt/server/bin --stdio")),
    Case("mcp.project-program", command("./server.py"), command("/opt/server.py"), Base.PROJECT),
    Case("mcp.bare-address", server(url="https://203.0.113.7/mcp"), server(url="https://[::1]/mcp")),
    Case("mcp.unknown-host", server(url="https://mcp.example.com/"), server(url="https://mcp.linear.app/sse")),
]


@each("case", CASES)
def test_a_rule_is_met_by_what_is_risky_and_not_by_its_neighbour(case: Case) -> None:
    check("claude-code", case)


APPROVALS = [
    ("gemini", server(command="docs", trust=True), server(command="docs", trust=False)),
    ("cline", server(command="docs", autoApprove=["search"]), server(command="docs", autoApprove=[])),
    (
        "codex",
        '[mcp_servers.docs]\ncommand = "docs"\ndefault_tools_approval_mode = "approve"\n',
        '[mcp_servers.docs]\ncommand = "docs"\ndefault_tools_approval_mode = "prompt"\n',
    ),
]
APPROVAL_CASES = [Case("mcp.auto-approve", risky, innocent) for _, risky, innocent in APPROVALS]


@each("agent, case", [(row[0], case) for row, case in zip(APPROVALS, APPROVAL_CASES, strict=True)])
def test_tools_that_need_no_approval_are_found(agent: str, case: Case) -> None:
    check(agent, case)


def test_servers_are_found_where_each_agent_keeps_them() -> None:
    url = "http://mcp.example.com/"
    for agent, content in (
        ("claude-code", {"projects": {"/srv/work": {"mcpServers": {"docs": {"url": url}}}}}),
        ("opencode", {"mcp": {"docs": {"type": "remote", "url": url}}}),
        ("gemini", {"mcpServers": {"docs": {"httpUrl": url}}}),
        ("codex", f'[mcp_servers.docs]\nurl = "{url}"\n'),
    ):
        assert "mcp.plaintext-http" in ids(found(agent, content)), agent


def test_a_command_as_one_list_is_understood() -> None:
    assert "mcp.unpinned-package" in ids(found("opencode", {"mcp": {"docs": {"command": ["npx", "-y", "docs"]}}}))


@each("switch", [{"disabled": True}, {"enabled": False}])
def test_a_server_that_is_switched_off_is_no_risk(switch: dict[str, bool]) -> None:
    assert found("cline", server(url="http://mcp.example.com/", **switch)) == []


@each("value", [None, [], 7, "x", {"a": None}, {"a": {"url": 1, "command": {}, "args": 3}}])
def test_what_is_no_server_is_passed_over(value: Any) -> None:
    assert found("claude-code", {"mcpServers": value}) == []


def test_an_address_that_is_none_is_passed_over() -> None:
    assert found("claude-code", server(url="http://[")) == []


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
