"""What is decided on what would outlive the session, on a machine with a home folder and a project."""

from pathlib import Path

import pytest

from tallystick.model.step import Json
from tests.policy.laid_out import Laid
from tests.support.cases import each_case


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Laid:
    return Laid(tmp_path_factory.mktemp("persistence"))


@each_case("rule, command")
def test_what_would_outlive_the_session_is_asked_about(laid: Laid, rule: str, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect in ("ask", "deny")
    assert rule in rules


@each_case("rule, tool, args")
def test_a_tool_is_asked_about_as_a_command_is(laid: Laid, rule: str, tool: str, args: dict[str, Json]) -> None:
    effect, rules = laid.call(tool, args)
    assert effect == "ask"
    assert rule in rules


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.gitconfig",
        "source ~/.bashrc && make",
        "crontab -l",
        "git config user.name dev",
        "git config --get core.hooksPath",
        "git remote add upstream https://example.org/x",
        "sed -i 's/a/b/' .github/workflows/ci.yml",
        "echo 'npx lint-staged' > .husky/pre-commit",
        "jq '.scripts.prepare = \"husky\"' package.json > p.tmp && mv p.tmp package.json",
        "mkdir -p .claude/commands && echo 'Run the tests.' > .claude/commands/test.md",
        "cp .bashrc dotfiles/.bashrc",
        "rm -f .git/hooks/pre-commit.sample",
        "systemctl status docker",
        "npm config get registry",
        "claude --version",
        "echo '{\"editor.tabSize\": 2}' > .vscode/settings.json",
    ],
)
def test_everyday_work_is_not_asked_about(laid: Laid, command: str) -> None:
    assert laid.said(command) == ("allow", ())


def test_a_task_that_waits_to_be_started_is_not_asked_about(laid: Laid) -> None:
    task = '{"version": "2.0.0", "tasks": [{"label": "test", "type": "shell", "command": "make test"}]}'
    assert laid.call("Write", {"file_path": ".vscode/tasks.json", "content": task}) == ("allow", ())


def test_a_link_to_a_start_file_is_that_file(tmp_path: Path) -> None:
    laid = Laid(tmp_path)
    laid.link("project/rc", laid.home / ".bashrc")
    assert "persistence.start-file" in laid.said("echo x >> rc")[1]
