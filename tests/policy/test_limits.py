"""Limits that a call or its session passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.limits import over
from tallystick.policy.settings import Limits
from tallystick.policy.world import FileKind, FileState, Past
from tests.policy.risks.readings import FOLDER, HOME, Bare

NOTHING = Past()


class Large(Bare):
    """A machine on which each file has 20 MB."""

    def state(self, path: str) -> FileState:
        return FileState(kind=FileKind.FILE, size_bytes=20 << 20)


def passed(tool: str, args: Json, past: Past = NOTHING, machine: Bare | None = None, **limits: int) -> frozenset[str]:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    world = machine or Bare({})
    return over(read_call(call, world, home=HOME, workspace=FOLDER), past, world, Limits(**limits))  # type: ignore[arg-type]


def shell(command: str, past: Past = NOTHING, **limits: int) -> frozenset[str]:
    return passed("Bash", {"command": command}, past, None, **limits)


def names(count: int) -> str:
    return " ".join(f"f{n}" for n in range(count))


@pytest.mark.parametrize(
    ("limit", "command"),
    [
        ("files_in_call", f"rm {names(60)}"),
        ("files_in_call", f"cat {names(60)}"),
        ("files_in_call", "; ".join(f"touch f{n}" for n in range(60))),
        ("commands_in_call", "; ".join(f"c{n}" for n in range(30))),
        ("commands_in_call", "for i in $(seq 1 5000); do ./c $i; done"),
        ("commands_in_call", "seq 1 5000 | xargs -n1 ./c"),
        ("write_bytes", "fallocate -l 50G x"),
        ("write_bytes", "truncate --size=1T x"),
        ("write_bytes", "head -c 20000000 /dev/urandom > x"),
        ("write_bytes", "head --bytes=1G < /dev/zero > x"),
        ("write_bytes", "yes | head -c 1G > x"),
        ("write_bytes", "dd if=/dev/zero of=x bs=1M count=4096"),
        ("write_bytes", "mkfile 10g x"),
        ("network_calls_a_minute", "for i in $(seq 1 1000); do curl -s https://example.org/$i; done"),
        ("network_calls_a_minute", "for i in {1..99}; do wget https://example.org/$i; done"),
        ("network_calls_a_minute", "seq 1 500 | xargs -I{} curl -s https://example.org/{}"),
        ("network_calls_a_minute", "while true; do curl https://example.org; done"),
        ("network_calls_a_minute", "seq 99 | parallel curl https://example.org/{}"),
    ],
)
def test_much_at_once_passes_a_limit(limit: str, command: str) -> None:
    assert limit in shell(command)


@pytest.mark.parametrize(
    "command",
    [
        "npm test && npm run build && git status",
        "for i in 1 2 3; do curl -s https://example.org/$i; done",
        "for i in $(seq 1 1000); do echo $i; done",
        "for i in $(seq 1 200); do curl -s localhost:3000/$i; done",
        "for i in {1..50}; do ./test.sh || break; done",
        "while true; do curl https://example.org; sleep 5; done",
        "seq 1 10 | xargs -I{} curl https://example.org/{}",
        "dd if=/dev/zero of=x bs=1k count=10",
        "head -c 100 /dev/urandom",
        "head -c 20000000 dump.sql",
        "truncate -s 0 app.log",
        "fallocate -l 1M x",
        "pip install a b c",
        f"git add {names(40)}",
    ],
)
def test_ordinary_work_passes_none(command: str) -> None:
    assert shell(command) == frozenset()


def test_commands_that_a_tool_takes_one_by_one_count_together() -> None:
    assert passed("run_commands", {"commands": [f"echo {n}" for n in range(30)]}) == {"commands_in_call"}
    assert passed("run_commands", {"commands": ["echo 1", "echo 2"]}) == frozenset()


def test_a_large_file_that_is_read_whole_passes_a_limit_and_one_that_is_searched_does_not() -> None:
    assert passed("Read", {"file_path": f"{FOLDER}/a"}, machine=Large({})) == {"read_bytes"}
    assert passed("Bash", {"command": "cat a"}, machine=Large({})) == {"read_bytes"}
    assert passed("Bash", {"command": "grep x a; tail -5 a; cp a b"}, machine=Large({})) == frozenset()


def test_what_is_written_counts_by_its_length() -> None:
    args: Json = {"file_path": f"{FOLDER}/a", "content": "x" * 200}
    assert passed("Write", args, write_bytes=100) == {"write_bytes"}
    assert passed("Write", args, write_bytes=300) == frozenset()


@pytest.mark.parametrize(
    ("limit", "past", "command"),
    [
        ("calls_in_session", Past(calls=500), "ls"),
        ("network_calls_in_session", Past(network_calls=100), "curl https://example.org"),
        ("network_calls_a_minute", Past(recent_network_calls=30), "curl https://example.org"),
        ("file_calls_a_minute", Past(recent_file_calls=120), "cat a"),
    ],
)
def test_a_session_that_did_much_passes_a_limit(limit: str, past: Past, command: str) -> None:
    assert limit in shell(command, past)


def test_calls_that_do_not_reach_out_pass_no_limit_of_those_that_do() -> None:
    past = Past(network_calls=100, recent_network_calls=30)
    assert shell("ls", past) == frozenset()
    assert shell("curl localhost:3000", past) == frozenset()


@given(st.integers(1, 500), st.integers(0, 2000))
def test_a_limit_is_passed_first_at_the_call_after_it(limit: int, before: int) -> None:
    is_over = "calls_in_session" in shell("ls", Past(calls=before), calls_in_session=limit)
    if before < limit:
        assert not is_over
    if before == limit:
        assert is_over


def test_a_session_over_a_limit_is_not_told_with_every_call() -> None:
    told = ["calls_in_session" in shell("ls", Past(calls=500 + n)) for n in range(100)]
    assert told.count(True) == 2


@pytest.mark.parametrize(
    ("limit", "command"),
    [
        ("files_in_call", "touch gen/f{1..5000}.txt"),
        ("files_in_call", "touch {a..z}{a..z}{a..z}"),
        ("files_in_call", "mkdir -p a/{1..30}/{1..30}"),
        ("files_in_call", "rm f{001..900}.log"),
        ("files_in_call", "cp x f{1..5000..2}"),
        ("files_in_call", "cat f{1..5000}"),
        ("files_in_call", 'x=5000; eval "touch f{1..$x}"'),
        ("files_in_call", "touch $(seq 5000)"),
        ("network_calls_a_minute", "curl https://example.org/{1..5000}"),
        ("network_calls_a_minute", "curl 'https://example.org/[1-5000]'"),
        ("network_calls_a_minute", "wget https://example.org/{a..z}{a..z}"),
    ],
)
def test_what_braces_stand_for_is_counted_though_few_words_are_made_of_it(limit: str, command: str) -> None:
    assert limit in shell(command)


@pytest.mark.parametrize(
    "command",
    [
        "echo {1..5000}",
        'touch "{1..5000}"',
        "touch f\\{1..5000\\}",
        "touch f{1..40}",
        "mkdir -p src/{main,test}/{java,resources}",
        "rm -rf build/{a,b}{1..3}",
        "printf '%s\\n' {1..9999} > out.txt",
        "curl https://example.org/{a,b}.json",
        "curl 'https://example.org/[1-5]'",
        "curl 'https://example.org/[880001-880005]'",
        "curl http://localhost:3000/{1..500}",
        "echo $(seq 5000)",
    ],
)
def test_a_few_files_and_words_that_name_no_files_are_not(command: str) -> None:
    assert shell(command) == frozenset()


def test_a_rate_is_passed_with_each_call_that_is_over_it() -> None:
    for n in range(30, 60):
        assert "network_calls_a_minute" in shell("curl https://example.org", Past(recent_network_calls=n))
        assert "file_calls_a_minute" in shell("cat a", Past(recent_file_calls=n + 90))
