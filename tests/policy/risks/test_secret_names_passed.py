"""Secrets that are named to something of which it is unknown what it does: another machine, unread code, a sub-agent."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.secret_names_passed import RISKS, places_in, risks, secrets_encoded_in, secrets_in
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found
from tests.support.cases import each, each_case

USER_HOME = "/home/dev"


@each_case("text")
def test_a_secret_is_found(text: str) -> None:
    assert list(secrets_in(text, home=USER_HOME, folder="/w"))


@pytest.mark.parametrize(
    "text", ["", "cat README.md", "the .env.example file", "tokens and secrets", "https://example.org/x.html"]
)
def test_nothing_is_found_where_none_is(text: str) -> None:
    assert not list(secrets_in(text, home=USER_HOME, folder="/w"))


def test_a_secret_in_base64_is_found() -> None:
    text = f"exec(b64decode('{base64.b64encode(b'print(open(chr(47) + 1)) # /etc/shadow').decode()}'))"
    assert list(secrets_encoded_in(text, home=USER_HOME, folder=None)) == ["/etc/shadow"]


@given(st.text(max_size=500))
def test_what_is_found_stands_where_it_is_said(text: str) -> None:
    for at, token in places_in(text, home=USER_HOME, folder=None):
        assert text[at:].startswith(token)


TOOLS: tuple[tuple[str, Any, bool], ...] = (
    ("mcp__docker__run", {"image": "alpine", "volumes": [f"{HOME}/.ssh:/s"]}, True),
    ("mcp__git__git_show", {"revision": "HEAD:.env"}, True),
    ("mcp__sqlite__ask", {"query": f"select readfile('{HOME}/.netrc')"}, True),
    ("mcp__memory__create_entities", {"entities": [{"observations": ["Do not read ~/.ssh/id_rsa"]}]}, False),
    ("mcp__github__create_issue", {"title": "The .env file is not loaded", "body": "See .env"}, False),
    ("Edit", {"file_path": "x.md", "old_string": ".env", "new_string": ".env.local"}, False),
    ("Grep", {"pattern": "~/.ssh/id_rsa"}, False),
)


def found_in(tool: str, args: Any) -> set[str]:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    return {risk.name for risk in risks(read, Settings())}


@each_case("command")
def test_a_secret_that_is_named_to_the_unknown_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_a_name_alone_is_no_use(command: str) -> None:
    assert found(risks, command) == set()


@each_case("prompt, is_found")
def test_what_a_sub_agent_is_told_to_read_counts(prompt: str, is_found: bool) -> None:
    args = {"description": "x", "prompt": prompt, "subagent_type": "general-purpose"}
    assert bool(found_in("Task", args)) is is_found


@each("tool, args, is_found", TOOLS)
def test_what_an_unknown_tool_is_given_counts(tool: str, args: Any, is_found: bool) -> None:
    assert bool(found_in(tool, args)) is is_found
