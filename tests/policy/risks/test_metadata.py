"""Other ways to a cloud's metadata service than an intent for its address."""

import pytest

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.reading import read_call
from tallystick.policy.risks.metadata import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found

FOUND = {
    "metadata-asked": ("ec2-metadata --all", "ec2metadata", "cloud-init query ds"),
    "metadata-given": (
        "docker run --rm a curl http://169.254.169.254/",
        "kubectl exec p -- curl http://2852039166/",
        "ssh h 'curl http://169.254.169.254/'",
        "curl $ECS_CONTAINER_METADATA_URI_V4/task",
        "frobnicate http://metadata.google.internal/",
        "http_proxy=http://169.254.169.254 curl http://a.org",
        "ALL_PROXY=http://169.254.169.254 curl http://a.org",
        "Rscript -e 'readLines(\"http://169.254.169.254/\")'",
        "pwsh -c 'irm http://169.254.169.254/'",
        "aws s3 ls --endpoint-url http://169.254.169.254/",
    ),
}
NOTHING = (
    "cloud-init status",
    "echo $ECS_CONTAINER_METADATA_URI_V4",
    "curl http://a.org/$IDENTITY_ENDPOINT_NAME",
    "docker run a",
    "no_proxy=169.254.169.254 curl http://a.org",
    "echo http://169.254.169.254/",
    "git commit -m 'block http://169.254.169.254/'",
    "python3 -c \"print('http://169.254.169.254/')\"",
    "kubectl get pods",
    "frobnicate http://localhost/",
    "Rscript -e 'print(1)'",
    "http_proxy=http://proxy.local:80 curl http://a.org",
)
TOOLS: tuple[tuple[str, Json, set[str]], ...] = (
    ("mcp__net__send", {"host": "169.254.169.254", "port": 80}, {"metadata-given"}),
    ("mcp__net__send", {"to": {"address": "0xa9fea9fe"}}, {"metadata-given"}),
    ("mcp__net__send", {"host": "example.org"}, set()),
    ("mcp__github__create_issue", {"body": "block http://169.254.169.254/ please"}, set()),
    ("WebSearch", {"query": "169.254.169.254"}, set()),
    ("Write", {"file_path": "/a", "content": "169.254.169.254"}, set()),
)


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_way_to_the_service_is_found(name: str, command: str) -> None:
    assert found(risks, command) == {name}


@pytest.mark.parametrize("command", NOTHING)
def test_its_address_in_a_text_is_none(command: str) -> None:
    assert found(risks, command) == set()


@pytest.mark.parametrize(("tool", "args", "names"), TOOLS)
def test_a_tool_is_given_the_address_as_a_host(tool: str, args: Json, names: set[str]) -> None:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert {risk.name for risk in risks(read, Settings())} == names


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()
