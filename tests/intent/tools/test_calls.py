"""What calls of agents' tools do: the way from a name to its rule, and what holds for all of them."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.known import known_tools
from tallystick.intent.tools.uses import ToolCall
from tests.intent.tools.cases import PATCH, lines, uses
from tests.support.cases import each


def test_calls_inside_of_a_call_are_read_like_calls() -> None:
    parallel = {"tool_uses": [{"recipient_name": "functions.exec_command", "parameters": {"cmd": "ls"}},
                              {"recipient_name": "functions.read_file", "parameters": {"file_path": "a"}}]}  # fmt: skip
    found = uses("multi_tool_use.parallel", parallel)
    assert (found.commands, lines(found)) == (("ls",), ["read /w/a"])


def test_without_a_folder_paths_stay_as_they_are() -> None:
    found = uses_of(ToolCall(tool="Read", args={"file_path": "a/../b"}, folder=None))
    assert lines(found) == ["read b"]
    assert lines(uses_of(ToolCall(tool="Read", args={"file_path": "~/x/./y"}, folder="/w"))) == ["read ~/x/y"]


_NAMES = st.sampled_from(
    [
        "path",
        "file_path",
        "paths",
        "files",
        "command",
        "commands",
        "cmd",
        "content",
        "url",
        "uri",
        "input",
        "action",
        "edits",
        "query",
        "changes",
        "tool_uses",
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["/a", "~", "a/b", PATCH, '["ls"]', "\ud83d", "file:///%00", "http://a b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES | st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)
TOOLS = (
    st.sampled_from(sorted(known_tools()))
    | st.text(max_size=40)
    | st.builds("mcp__{}__{}".format, st.text(), st.text())
)


@given(TOOLS, JSON)
def test_nothing_that_json_can_hold_is_too_much(tool: str, args: Any) -> None:
    found = uses(tool, args)
    assert len(found.intents) <= 200
    assert all(0 <= place < len(found.intents) for flow in found.flows for place in (flow.source, flow.target))
    for intent in found.intents:
        intent.target.encode()
        assert "\0" not in intent.target
        assert len(intent.target) <= 4096 + len("/w//home/dev")
        assert intent.content is None or intent.content.encode() is not None


@given(TOOLS, JSON)
def test_the_text_of_arguments_says_what_the_arguments_say(tool: str, args: Any) -> None:
    if isinstance(args, dict):
        assert uses(tool, json.dumps(args)) == uses(tool, args)


@each("tool", ["Read", "Bash", "Write", "apply_patch", "web_fetch", "frobnicate", "mcp__a__b"])
@each(
    "text",
    ["x" * 2_000_000, "/" + "a/" * 400_000, "*** Add File: " + " " * 200_000 + "x", "[" * 100_000, '{"a":' * 50_000,
     "\ud800" * 1000, "\0" * 1000, "https://" * 100_000],
    ids=["long", "deep", "blanks", "brackets", "braces", "surrogates", "nuls", "urls"],
)  # fmt: skip
def test_huge_and_broken_texts_are_only_texts(tool: str, text: str) -> None:
    for args in (
        text,
        {"file_path": text, "content": text},
        {"command": text},
        {"input": text},
        {"prompt": text, "url": text},
    ):
        found = uses(tool, args)
        assert all(len(intent.target) < 5000 for intent in found.intents)
