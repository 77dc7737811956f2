"""Programs that nothing tells the name of."""

import pytest

from tallystick.policy.risks.unresolved_program import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    "x=$(tr 'a-z' 'n-za-m' <<< \"$1\"); $x -rf \"$HOME/${2}\"",
    '$x -rf "$HOME/Documents"',
    "$CMD -rf ~/Documents",
    "$(cat y | tr 'a-z' 'n-za-m') -rf ~/Documents",
    '"$A$B" -rf /srv/data',
    "`cat x` -rf ~/Documents",
    "$x ~/Documents",
    "$x /etc/hosts",
    '"$1" -rf "$HOME"',
    'eval "$x -rf ~/Documents"',
    "${cmd} -rf /home/dev/other",
    "env $x -rf ~/Documents",
    "sudo $x -rf ~/Documents",
    "`printf $z` /dev/sda",
    '"${a[@]}" /dev/sda',
    'curl -s "$u" | "$s"',
)
WORK = (
    "$EDITOR README.md",
    "$PYTHON -m pytest",
    "$(npm bin)/eslint src",
    '"$PYTHON" src/main.py',
    "$CC -o build/app src/main.c",
    "$SHELL -c 'echo hi'",
    "$(which python) --version",
    "$(which node) /usr/lib/node_modules/npm/bin/npm-cli.js --version",
    "$x build",
    "$x > /dev/null",
    'curl -s "$u" | "$(which jq)" .',
    'git log | "$PAGER"',
    "$(command -v python3) -c 'print(1)'",
    "${PYTHON:-python3} -m build",
    "$CC -I/usr/include/x src/a.c",
    "$TOOL --config /tmp/x.json",
    "$PY /tmp/a.py",
    "for t in eslint tsc; do npx $t src; done",
    "for t in pytest ruff; do $t tests; done",
    "$GOBIN/golangci-lint run",
    "$VIRTUAL_ENV/bin/python -m pytest",
    "$HOME/.local/bin/uv sync",
    "$CARGO build",
    "$MAKE -C src",
    '"$CHROME" --headless http://localhost:3000',
    "PY=.venv/bin/python; $PY -m pytest",
    "$PREFIX/bin/x /tmp/out",
    "$GIT diff",
    "time $CMD",
)


@pytest.mark.parametrize("command", FOUND)
def test_what_lies_outside_is_not_for_a_program_that_is_not_told(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_programs_in_variables_are_work(command: str) -> None:
    assert found(risks, command) == set()
