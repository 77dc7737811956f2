"""MCP servers that run git."""

from tests.intent.tools.cases import uses
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
