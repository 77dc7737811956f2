from __future__ import annotations

from collections.abc import Sequence

from tallystick.guard.live_world import LiveWorld
from tallystick.model.decision import Call
from tallystick.model.intent import Operation
from tallystick.model.step import Json
from tallystick.policy.reading import CallReading, read_call
from tallystick.policy.running import also_run, is_tested
from tallystick.policy.world import Content, Unread
from tests.support.cases import each, each_case


class Nothing(LiveWorld):
    """A machine without files, but for those that a pattern of the shell is said to match."""

    def matches(self, pattern: str) -> Sequence[str]:
        return [pattern.replace("*", "x")] if "*" in pattern else [pattern]

    def content(self, path: str) -> Content | Unread:
        return Unread.MISSING


def read(tool: str, args: Json) -> CallReading:
    call = Call(agent="demo", session="s", tool=tool, args=args, cwd="/p")
    return read_call(call, Nothing(), home="/home/dev", workspace="/p")


@each_case("command, path")
def test_what_runs_besides_is_found(command: str, path: str) -> None:
    assert path in list(also_run(read("Bash", {"command": command}), Nothing()))


@each("command", ["ls", "cat a.sh", "git status", "grep -r x a.sh", "python3 -c 'print(1)'", "ssh host ls < a"])
def test_a_plain_command_runs_nothing_besides(command: str) -> None:
    assert list(also_run(read("Bash", {"command": command}), Nothing())) == []


def test_a_tool_that_says_that_it_runs_a_file_runs_it() -> None:
    assert list(also_run(read("mcp__runner__run_script", {"path": "/p/x.sh"}), Nothing())) == ["/p/x.sh"]
    assert list(also_run(read("mcp__notes__read_file", {"path": "/p/x.sh"}), Nothing())) == []


@each_case("command, expected")
def test_a_test_runner_is_known_by_its_name(command: str, expected: bool) -> None:
    found = read("Bash", {"command": command})
    at = next(k for k, one in enumerate(found.effects.intents) if one.operation is Operation.EXECUTE)
    assert is_tested(found, at) is expected


def test_many_names_are_cut() -> None:
    code = "\n".join(f"import module_{number}" for number in range(10_000))
    assert len(list(also_run(read("python", {"code": code}), Nothing()))) <= 200
