"""Tools in no table."""

from typing import Any

import pytest

from tallystick.intent.tools import Code
from tests.intent.tools.cases import lines, uses


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("mcp__filesystem__write_file", {"path": "a", "content": "x"}, ["write /w/a authored"]),
        ("mcp__fs__read_multiple_files", {"paths": ["a", "/b"]}, ["read /w/a", "read /b"]),
        ("mcp__x__convert", {"input_path": "/a.md", "output_path": "/b.pdf"}, ["read /a.md", "write /b.pdf", "network connect mcp://x"]),
        ("mcp__x__save_report", {"path": "/r.md"}, ["write /r.md", "network send mcp://x"]),
        ("mcp__x__delete_item", {"file": "/r.md"}, ["delete /r.md", "network send mcp://x"]),
        ("mcp__vault__sync", {"destination_folder": "/r"}, ["write /r", "network connect mcp://vault"]),
        ("mcp__x__frob", {"path": "/r.md"}, ["unknown /r.md", "network connect mcp://x"]),
        ("mcp__github__get_file_contents", {"owner": "o", "repo": "r", "path": "README.md"}, ["network fetch mcp://github"]),
        ("mcp__slack__post_message", {"channel": "c", "text": "t"}, ["network send mcp://slack"]),
        ("mcp__jira__create_issue", {"summary": "s"}, ["network send mcp://jira"]),
        ("mcp__pg__query", {"sql": "SELECT 1"}, ["network fetch mcp://pg"]),
        ("mcp__playwright__browser_navigate", {"url": "http://a"}, ["network fetch http://a"]),
        ("mcp__web__crawl", {"url": "http://a"}, ["network connect http://a", "network connect mcp://web"]),
        ("server.get_thing", {}, ["network fetch mcp://server"]),
        ("server/get_thing", {}, ["network fetch mcp://server"]),
        ("MCP:get_thing", {}, ["network fetch mcp://"]),
        ("mcp_notes_get_thing", {}, ["network fetch mcp://notes"]),
        ("github-mcp-server-list_issues", {"owner": "o"}, ["network fetch mcp://github-mcp-server"]),
        ("filesystem_read_text_file", {"path": "a"}, ["read /w/a"]),
    ],
)  # fmt: skip
def test_a_tool_of_a_server_does_what_its_words_say(tool: str, args: Any, expected: list[str]) -> None:
    assert lines(uses(tool, args)) == expected


def test_commands_and_statements_are_known_by_the_names_of_their_members() -> None:
    assert uses("mcp__aws__call_aws", {"cli_command": "aws s3 ls"}).commands == ("aws s3 ls",)
    assert uses("mcp__db__read_query", {"query": "/* x */ select 1"}).codes == (Code("sql", "/* x */ select 1"),)
    assert uses("mcp__db__read_query", {"query": "which tables are there?"}).codes == ()
    assert uses("mcp__web__search", {"query": "select a laptop"}).codes == ()


def test_an_unknown_tool_is_an_unknown_intent_and_its_paths_are_named() -> None:
    found = uses("frobnicate", {"target_file": "a b", "note": "look at this", "where": "/x"})
    assert lines(found) == ["unknown /w/a b", "unknown /x", "unknown unknown frobnicate?"]


def test_it_is_said_whether_a_verb_tells_what_is_done() -> None:
    assert uses("mcp__x__write_item", {"path": "/r"}).is_told
    assert uses("Write", {"file_path": "/r"}).is_told
    assert not uses("mcp__vault__sync", {"destination_folder": "/r"}).is_told
    assert not uses("frobnicate", {"path": "/r"}).is_told
