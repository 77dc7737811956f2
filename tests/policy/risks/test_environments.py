"""Environment variables that are printed as a whole, and those that are set or asked for by name."""

import pytest

from tallystick.policy.risks.environments import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    "docker compose --env-file .env config", "env | sort | grep KEY",
    "npm run env", "tmux show-environment", "direnv dump",
    "env", "env -0", "env | sort", "/usr/bin/env", "sudo env", "bash -c env", "printenv", "printenv -0", "set",
    "set | grep KEY", "export", "export -p", "declare -x", "declare -p", "typeset -x", "compgen -e", "ps eww", "ps auxe",
    "env > dump.txt", "env | grep -v PATH", "env | grep .", "env | grep -i token", "(env)", "x=$(env)",
    "docker exec web env", "kubectl exec pod -- printenv", "docker compose run web env", "ssh host env",
    "docker inspect -f '{{.Config.Env}}' web", "jq -n env", "jq -n '$ENV'", "cmake -E environment",
    "systemctl show-environment", "cmd /c set", "env FOO=1", "python3 -c 'import os; print(os.environ)'",
    "node -p process.env",
)  # fmt: skip
WORK = (
    "docker compose config", "docker compose --env-file .env config -q",
    "env | sort | grep NODE", 'eval "$(direnv export bash)"',
    "env FOO=1 make", "env -u X pytest", "env -i sh -c 'echo hi'", "env --version", "printenv PATH", "set -e",
    "set -- a b", "export A=1", "export PATH", "declare -A map", "declare -i n=1", "compgen -c", "ps aux", "ps -ef",
    "ps -e -o pid", "env | grep NODE", "printenv | grep -i python", "docker exec web ls", "docker inspect web",
    "kubectl exec pod -- env FOO=1 ls", "jq .env x.json", "jq '.environment' x.json", "systemctl status x",
    "cmake -E copy a b", "echo env", "grep env README.md", "ssh env",
    "python3 -c 'import os; print(os.environ[\"HOME\"])'",
)  # fmt: skip


@pytest.mark.parametrize("command", FOUND)
def test_printing_all_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_setting_or_asking_for_one_is_work(command: str) -> None:
    assert found(risks, command) == set()
