from __future__ import annotations

from collections.abc import Sequence

import pytest

from tallystick.guard.live_world import LiveWorld
from tallystick.model.decision import Call
from tallystick.model.intent import Operation
from tallystick.model.step import Json
from tallystick.policy.reading import CallReading, read_call
from tallystick.policy.running import also_run, is_tested
from tallystick.policy.world import Content, Unread


class Nothing(LiveWorld):
    """A machine without files, but for those that a pattern of the shell is said to match."""

    def matches(self, pattern: str) -> Sequence[str]:
        return [pattern.replace("*", "x")] if "*" in pattern else [pattern]

    def content(self, path: str) -> Content | Unread:
        return Unread.MISSING


def read(tool: str, args: Json) -> CallReading:
    call = Call(agent="demo", session="s", tool=tool, args=args, cwd="/p")
    return read_call(call, Nothing(), home="/home/dev", workspace="/p")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 -m tool", "/p/tool.py"),
        ("python3 -m pkg.mod", "/p/pkg/mod.py"),
        ("cd sub && python3 -m tool", "/p/sub/tool.py"),
        ("python3 -c 'import tool, os'", "/p/tool.py"),
        ("node -e \"require('./tool')\"", "/p/tool.js"),
        ("ruby -r./tool -e 1", "/p/tool"),
        ("gdb -x script prog", "/p/script"),
        ("jupyter execute n.ipynb", "/p/n.ipynb"),
        ("ssh host bash < x.sh", "/p/x.sh"),
        ("cat x.sh | kubectl exec -i pod -- sh", "/p/x.sh"),
        ("BASH_ENV=x.sh bash -c true", "/p/x.sh"),
        ("NODE_OPTIONS='--require=./x.js' node -e 1", "/p/x.js"),
        ("git commit -m x", "/p/.git/hooks/pre-commit"),
        ('eval "$(cat x.sh)"', "/p/x.sh"),
        ("ls x.sh | xargs sh", "/p/x.sh"),
        ("find . -name x.sh -exec sh {} +", "/p/x.sh"),
    ],
)
def test_what_runs_besides_is_found(command: str, path: str) -> None:
    assert path in list(also_run(read("Bash", {"command": command}), Nothing()))


@pytest.mark.parametrize(
    "command", ["ls", "cat a.sh", "git status", "grep -r x a.sh", "python3 -c 'print(1)'", "ssh host ls < a"]
)
def test_a_plain_command_runs_nothing_besides(command: str) -> None:
    assert list(also_run(read("Bash", {"command": command}), Nothing())) == []


def test_a_tool_that_says_that_it_runs_a_file_runs_it() -> None:
    assert list(also_run(read("mcp__runner__run_script", {"path": "/p/x.sh"}), Nothing())) == ["/p/x.sh"]
    assert list(also_run(read("mcp__notes__read_file", {"path": "/p/x.sh"}), Nothing())) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest tests/test_a.py", True),
        ("python3 -m pytest tests/test_a.py", True),
        ("python3 -m unittest tests/test_a.py", True),
        ("npx jest src/a.test.ts", True),
        ("uv run pytest tests/test_a.py", True),
        ("python3 tests/test_a.py", False),
        ("python3 test.py", False),
        ("sh test", False),
        ("./pytest", False),
    ],
)
def test_a_test_runner_is_known_by_its_name(command: str, expected: bool) -> None:
    found = read("Bash", {"command": command})
    at = next(k for k, one in enumerate(found.effects.intents) if one.operation is Operation.EXECUTE)
    assert is_tested(found, at) is expected


def test_many_names_are_cut() -> None:
    code = "\n".join(f"import module_{number}" for number in range(10_000))
    assert len(list(also_run(read("python", {"code": code}), Nothing()))) <= 200
