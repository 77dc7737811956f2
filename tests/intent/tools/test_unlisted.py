"""Tools in no table: those of MCP servers, and whatever else an agent calls."""

from typing import Any

from tallystick.intent.tools.uses import Code
from tests.intent.tools.cases import lines, uses
from tests.support.cases import each, each_case


@each(
    "method, args, words",
    [
        ("git_reset", {"mode": "hard", "commit": "HEAD~1"}, ("reset", "--hard", "HEAD~1")),
        ("git_push", {"force": True, "remote": "origin", "branch": "main"}, ("push", "--force", "origin", "main")),
        ("git_push", {"remote": "origin"}, ("push", "origin")),
        ("git_clean", {"force": True, "directories": True}, ("clean", "-f", "-d")),
        ("git_branch", {"operation": "delete", "branchName": "x", "force": True}, ("branch", "-D", "x")),
        ("git_stash", {"mode": "clear"}, ("stash", "clear")),
        ("git_checkout", {"force": True, "target": "x"}, ("checkout", "--force", "x")),
    ],
)
def test_a_call_that_takes_something_away_is_gits_own(method: str, args: dict[str, object], words: tuple[str]) -> None:
    assert uses(f"mcp__git__{method}", {"repo_path": "/w", **args}).programs == (("git", "-C", "/w", *words),)


@each_case("method, args")
def test_others_are_left_alone(method: str, args: dict[str, object]) -> None:
    assert uses(f"mcp__git__{method}", {"repo_path": "/w", **args}).programs == ()


@each_case("tool, args, expected")
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


@each_case("args, commands")
def test_a_command_is_known_by_what_its_member_means(args: dict[str, Any], commands: list[str]) -> None:
    found = uses("mcp__x__go", args)
    assert [*found.commands, *(" ".join(words) for words in found.programs)] == commands


@each_case("args")
def test_other_members_are_no_commands(args: dict[str, Any]) -> None:
    found = uses("mcp__x__go", args)
    assert (found.commands, found.programs) == ((), ())


@each_case("tool, args, is_typed")
def test_text_for_a_terminal_is_typed(tool: str, args: dict[str, Any], is_typed: bool) -> None:
    assert bool(uses(tool, args).typed) is is_typed


@each_case("tool, args, line")
def test_what_is_done_may_stand_in_a_member(tool: str, args: dict[str, Any], line: str) -> None:
    assert lines(uses(tool, args)) == [line]


def test_code_is_known_by_the_language_in_the_name_of_its_member() -> None:
    assert uses("mcp__x__go", {"pythonCode": "1"}).codes == (Code("python", "1"),)
    assert uses("mcp__x__go", {"code_js": "1"}).codes == (Code("javascript", "1"),)
