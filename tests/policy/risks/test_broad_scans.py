"""Broad looks that no single path shows."""

import pytest

from tallystick.policy.risks.broad_scans import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    "locate id_rsa", "mdfind password", "updatedb", "git grep -i password $(git rev-list --all)",
    "git log -p --all -S password", "git log --all -G 'api_key' -p", "./linpeas.sh; linpeas.sh",
)  # fmt: skip
WORK = (
    "git grep password",
    "git log -S'total(' --oneline",
    "git log --all --oneline",
    "gitleaks detect",
    "grep -r x src",
    "which locate",
)


@pytest.mark.parametrize("command", FOUND)
def test_a_broad_look_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_a_look_at_the_project_is_work(command: str) -> None:
    assert found(risks, command) == set()
