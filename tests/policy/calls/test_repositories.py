"""Which repositories a command changes without naming a file."""

import pytest

from tallystick.policy.calls.repositories import changed_repositories
from tests.policy.risks.readings import FOLDER, HOME, reading
from tests.support.cases import each_case


def changed(command: str) -> list[str]:
    return [intent.target for intent in changed_repositories(reading(command))]


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("git commit -m x", [FOLDER]),
        ("git -C ../other commit -m x", [f"{HOME}/other"]),
        ("git -C .. -C other add -A", [f"{HOME}/other"]),
        ("git --git-dir=/x/.git commit -m x", ["/x/.git"]),
        ("git --git-dir /x/.git tag v1", ["/x/.git"]),
        ("git --work-tree=/x add -A", ["/x"]),
        ("cd ~/other && git merge x", [f"{HOME}/other"]),
        ("cd /x && git add -A && git commit -m x; cd /y && git push", ["/x", "/y"]),
        ("sh -c 'cd /x; git branch y'", ["/x"]),
        ("git branch -D x", [FOLDER]),
        ("git stash", [FOLDER]),
        ("git remote add x https://example.org", [FOLDER]),
    ],
)
def test_the_folder_is_found_wherever_git_is_told_to_work(command: str, folders: list[str]) -> None:
    assert changed(command) == folders


@each_case("command")
def test_a_command_that_only_looks_changes_none(command: str) -> None:
    assert changed(command) == []
