"""What is decided on what would outlive the session, on a machine with a home folder and a project."""

from pathlib import Path

import pytest

from tallystick.model.step import Json
from tests.policy.laid_out import Laid


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Laid:
    return Laid(tmp_path_factory.mktemp("persistence"))


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("persistence.start-file", "echo x >> ~/.bashrc"),
        ("persistence.start-file", 'F=~/.zshrc; tee -a "$F" < x'),
        ("persistence.start-file", "python3 -c \"import os; open(os.path.expanduser('~/.profile'), 'a').write('x')\""),
        ("persistence.start-file", "ln -s $PWD/x ~/.bash_login"),
        ("persistence.start-file", "echo 'import x' > .venv/lib/python3.12/site-packages/x.pth"),
        ("persistence.service", "cp x.service ~/.config/systemd/user/"),
        ("persistence.service", "echo '* * * * * dev x' | sudo tee /etc/cron.d/x"),
        ("persistence.git", "printf '#!/bin/sh\\n' > .git/hooks/pre-commit"),
        ("persistence.git", "chmod +x .git/hooks/post-checkout"),
        ("persistence.git", "git config --global user.name x"),
        ("persistence.access", "cat key.pub >> ~/.ssh/authorized_keys"),
        ("persistence.access", "echo 'dev ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/dev"),
        ("persistence.editor", "echo '{}' > .vscode/tasks.json"),
        ("persistence.agent", "echo '{}' > .mcp.json"),
        ("persistence.agent", "cp -r skill ~/.claude/skills/x"),
        ("persistence.shadowing", "cp x ~/.local/bin/git"),
        ("persistence.schedule", "crontab jobs.txt"),
        ("persistence.account", "useradd -m helper"),
        ("persistence.git-settings", "git config core.hooksPath .hooks"),
        ("persistence.user-settings", "npm config set script-shell ./x.sh"),
        ("persistence.agent-settings", "claude mcp add x -- npx y"),
        ("agents.unguarded", "claude --dangerously-skip-permissions -p x"),
        ("tally.moved-agent", "TALLY_HOME=/tmp/x claude -p x"),
    ],
)
def test_what_would_outlive_the_session_is_asked_about(laid: Laid, rule: str, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect in ("ask", "deny")
    assert rule in rules


@pytest.mark.parametrize(
    ("rule", "tool", "args"),
    [
        ("persistence.start-file", "Edit", {"file_path": "HOME_FOLDER/.bashrc", "old_string": "", "new_string": "x"}),
        ("persistence.start-file", "mcp__filesystem__write_file", {"path": "HOME_FOLDER/.zshrc", "content": "x"}),
        (
            "persistence.git",
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: .git/hooks/post-commit\n+x\n*** End Patch"},
        ),
        ("persistence.agent", "Write", {"file_path": "HOME_FOLDER/project/.mcp.json", "content": "{}"}),
        (
            "persistence.unasked",
            "Write",
            {"file_path": ".vscode/settings.json", "content": '{"chat.tools.autoApprove": true}'},
        ),
        ("persistence.schedule", "CronCreate", {"cron": "* * * * *", "prompt": "run ./x.sh"}),
    ],
)
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


def test_a_link_to_a_start_file_is_that_file(tmp_path: Path) -> None:
    laid = Laid(tmp_path)
    laid.link("project/rc", laid.home / ".bashrc")
    assert "persistence.start-file" in laid.said("echo x >> rc")[1]
