"""Tools that reach out."""

from typing import Any

import pytest

from tests.intent.tools.cases import lines, uses


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("WebFetch", {"url": "https://x.org/a", "prompt": "see https://y.org"}, ["network fetch https://x.org/a"]),
        ("WebSearch", {"query": "how  to\nsort"}, ["network fetch websearch:how to sort"]),
        ("ReadMcpResourceTool", {"server": "notes", "uri": "note://1"}, ["network fetch mcp://notes/note://1"]),
        ("ReadMcpResourceTool", {"server": "fs", "uri": "file:///a%20b"}, ["read /a b"]),
        ("web_search", {"action": {"type": "search", "query": "abc"}}, ["network fetch websearch:abc"]),
        ("web_search", {"action": {"type": "open_page", "url": "http://a.b"}}, ["network fetch http://a.b"]),
        ("web_fetch", {"prompt": "sum up https://x.y/z, please"}, ["network fetch https://x.y/z"]),
        ("google_web_search", {"query": "q"}, ["network fetch websearch:q"]),
        (
            "fetch_webpage",
            {"urls": ["http://a", "http://b"], "query": "x"},
            ["network fetch http://a", "network fetch http://b"],
        ),
        ("webfetch", {"url": "x.org", "format": "text"}, ["network fetch http://x.org"]),
        ("fetch_web_content", {"requests": [{"url": "http://a", "prompt": "p"}]}, ["network fetch http://a"]),
        ("web_extract", {"urls": ["http://a"]}, ["network fetch http://a"]),
    ],
)
def test_a_tool_reaches_what_its_arguments_name(tool: str, args: Any, expected: list[str]) -> None:
    assert lines(uses(tool, args)) == expected


def test_a_server_that_the_name_does_not_tell_can_be_given() -> None:
    assert lines(uses("resources/read", {"uri": "note://1"}, server="notes")) == ["network fetch mcp://notes/note://1"]
