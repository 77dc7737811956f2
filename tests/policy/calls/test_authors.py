"""Who wrote what a call runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tallystick.guard.live_world import LiveWorld
from tallystick.model.decision import Call, Effect
from tallystick.model.intent import Operation
from tallystick.model.step import Json
from tallystick.policy.calls.authors import also_run, is_tested
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.world import Content, Unread
from tests.support.cases import cases, each, each_case
from tests.support.working import Work


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


FOREIGN = "provenance.other-session"
OUTSIDE = "provenance.changed-outside"
FILES = cases(__file__, "files", dict[str, str])


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Work]:
    with Work(tmp_path_factory.mktemp("machine")) as work:
        for path, text in FILES.items():
            work.wrote(path, text, session="earlier")
        yield work


@pytest.mark.parametrize(
    "command",
    [
        "sh tool.sh",
        "./tool.sh",
        "cd . && ./tool",
        "chmod +x tool && ./tool",
        "source tool.sh",
        "cat tool.sh | bash -s",
        "head -100 tool.sh | sh",
        "bash <(cat tool.sh)",
        'eval "$(cat tool.sh)"',
        "ls tool.sh | xargs sh",
        "find . -type f -name '*.sh' | xargs -n1 sh",
        "find . -name tool.sh -exec sh {} \\;",
        "for f in tool.sh; do sh $f; done",
        "cp tool.sh /tmp/x.sh && sh /tmp/x.sh",
        "mv tool.sh other.sh; sh other.sh",
        "sed s/x/y/ tool.sh > /tmp/q && sh /tmp/q",
        "ln -s tool.sh l; sh l",
        "BASH_ENV=tool.sh bash -c true",
        "LD_PRELOAD=./tool ls",
        "python3 tool.py",
        "python3 -m tool",
        "python3 -m pkg.mod",
        "python3 -c 'import tool'",
        "python3 -c 'from pkg import mod'",
        "python3 -c \"exec(open('tool.py').read())\"",
        "python3 -c \"import subprocess; subprocess.run(['./tool.sh'])\"",
        "uv run tool.py",
        "node tool.js",
        "node -r ./tool.js -e 0",
        "node -e \"require('./tool')\"",
        "ruby -r./tool.rb -e 1",
        "make -f tool.mk",
        "docker build .",
        "jupyter nbconvert --execute t.ipynb",
        "streamlit run tool.py",
        "tmux new -d ./tool.sh",
        "nohup ./tool.sh &",
        "timeout 5 sh tool.sh",
        "at -f tool.sh now",
        "gdb -x tool",
        "python3 tests/test_a.py",
    ],
)
def test_what_another_session_wrote_does_not_run_unasked(work: Work, command: str) -> None:
    decision = work.run(command)
    assert decision.effect in (Effect.ASK, Effect.DENY)
    assert FOREIGN in decision.rules


@each_case("tool, args")
def test_nor_by_any_other_tool(work: Work, tool: str, args: dict[str, str]) -> None:
    assert FOREIGN in work.ask(tool, args).rules


@each_case("command")
def test_tests_run_and_files_are_read_unasked(work: Work, command: str) -> None:
    assert FOREIGN not in work.run(command).rules


def test_the_evidence_names_the_step_and_the_content(work: Work) -> None:
    (found,) = [one for one in work.run("sh tool.sh").evidence if one.rule == FOREIGN]
    assert found.target.endswith("/tool.sh")
    assert any(text.startswith("content sha256:") for text in found.because)
    assert any(text.endswith(":2") for text in found.because)


def test_a_file_that_something_else_changed_does_not_run_unasked(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        work.wrote("a.sh", "echo hello\n")
        assert work.run("sh a.sh").effect is Effect.ALLOW
        work.write("a.sh", "echo something else\n")
        decision = work.run("sh a.sh")
        assert OUTSIDE in decision.rules
        assert any(text.startswith("changed since") for one in decision.evidence for text in one.because)


def test_a_file_that_was_edited_is_compared_with_what_was_seen_after_it(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        path = str(work.write("a.sh", "echo hello\n"))
        work.call("Read", {"file_path": path}, result="echo hello\n")
        args = {"file_path": path, "old_string": "hello", "new_string": "you"}
        work.call("Edit", args, leaves={"a.sh": "echo you\n"})
        work.watched("a.sh")
        assert work.run("sh a.sh").effect is Effect.ALLOW
        work.write("a.sh", "echo something else\n")
        assert OUTSIDE in work.run("sh a.sh").rules


@pytest.mark.parametrize("padding", ["#\n" * 140_000, "\0" * 280_000], ids=["text", "bytes"])
def test_a_change_that_makes_a_file_too_large_to_be_read_is_a_change(tmp_path: Path, padding: str) -> None:
    with Work(tmp_path) as work:
        work.wrote("a.sh", "echo hello\n")
        work.write("a.sh", f"echo something else\n{padding}")
        assert OUTSIDE in work.run("sh a.sh").rules


@pytest.mark.parametrize("command", ["npx prettier --write .", "make format", "python3 gen.py"])
def test_a_program_that_the_session_ran_may_have_changed_it(tmp_path: Path, command: str) -> None:
    with Work(tmp_path) as work:
        work.write("Makefile", "format:\n\tblack .\n")
        work.write("gen.py", "open('a.sh', 'w').write('echo 2')\n")
        work.wrote("a.sh", "echo hello\n")
        work.call("Bash", {"command": command}, leaves={"a.sh": "echo  hello\n"})
        assert OUTSIDE not in work.run("sh a.sh").rules


@pytest.mark.parametrize(
    ("path", "written", "there", "is_asked"),
    [
        ("a.py", "x = {'a': 1}\n", 'x = {"a": 1,}\n', False),
        ("a.ts", "const f = x => x\n", "const f = (x) => x;\n", False),
        ("a.py", "x = 1\n", "x = 2\n", True),
        ("a.sh", "echo 1", "echo 1\n", False),
        ("a.sh", "echo 1\necho 2\n", "echo 1\r\necho 2\r\n", False),
        ("a.sh", "rm -rf /tmp/x\n", "rm -rf / tmp/x\n", True),
        ("a.sh", 'echo "a; rm b"\n', "echo a; rm b\n", True),
    ],
)
def test_a_formatter_that_runs_by_itself_changes_no_program(
    tmp_path: Path, path: str, written: str, there: str, is_asked: bool
) -> None:
    with Work(tmp_path) as work:
        work.wrote(path, written)
        work.write(path, there)
        program = {"py": "python3", "ts": "npx tsx", "sh": "sh"}[path.partition(".")[2]]
        assert (OUTSIDE in work.run(f"{program} {path}").rules) is is_asked


def test_a_file_in_which_a_secret_was_replaced_on_record_is_not_taken_for_changed(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        work.wrote("a.sh", "export GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\n")
        work.restart()
        assert OUTSIDE not in work.run("sh a.sh").rules


def test_a_recipe_that_was_there_before_runs_unasked(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        work.write("Makefile", "all:\n\techo hello\n")
        work.call("Read", {"file_path": str(work.project / "Makefile")}, session="earlier", result="all:")
        assert work.run("make").effect is Effect.ALLOW
