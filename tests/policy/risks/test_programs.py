"""The programs of a call, as tables look them up."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.programs import Started, inner_texts, name_of, own_scripts, programs
from tests.policy.risks.readings import FOLDER, HOME, Bare, reading
from tests.support.cases import each_case


def started(command: str) -> list[Started]:
    return list(programs(reading(command)))


@each_case("word, name")
def test_a_program_is_known_by_its_name(word: str, name: str) -> None:
    assert name_of(word) == name


def test_wrappers_and_what_they_run_are_both_there() -> None:
    assert {each.name for each in started("sudo -n timeout 5 iptables -F")} == {"sudo", "timeout", "iptables"}


def test_options_are_found_alone_joined_and_with_values() -> None:
    one = started("tool -xvf a --mode=4755 --force b")[0]
    assert one.has("-v")
    assert one.has("--mode")
    assert not one.has("-m")
    assert one.value("--mode") == "4755"
    assert one.value("-xvf") == "a"
    assert one.operands == ("a", "b")


def test_a_program_that_is_only_named_does_not_start() -> None:
    assert [each.name for each in started("echo sudo rm; grep -rn iptables .")] == ["echo", "grep"]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(each.name and len(each.spelled) <= 200 for each in started(text))


def test_the_agents_own_text_is_told_from_the_scripts_that_it_runs() -> None:
    read = reading("sh a.sh; ls", {f"{FOLDER}/a.sh": "rm b\n"})
    assert len(read.scripts) == 2
    assert [command.program for command in own_scripts(read)[0].commands] == ["sh", "ls"]


@each_case("command, texts")
def test_texts_that_only_some_programs_run_are_found(command: str, texts: list[str]) -> None:
    assert list(inner_texts(reading(command))) == texts


def test_what_is_typed_into_a_shell_is_such_a_text() -> None:
    call = Call(agent="codex", session="s", tool="write_stdin", args={"session_id": 1, "chars": "ls\n"}, cwd=FOLDER)
    assert "ls\n" in list(inner_texts(read_call(call, Bare({}), home=HOME, workspace=FOLDER)))
