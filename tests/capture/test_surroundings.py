"""The environment of another process."""

import os
import subprocess
import sys

from tallystick.capture.surroundings import environment_of


def test_the_variables_of_a_process_are_those_that_it_was_started_with() -> None:
    command = [sys.executable, "-c", "print('up', flush=True); input()"]
    environment = {"PATH": os.environ["PATH"], "CODEX_HOME": "/elsewhere", "EMPTY": "", "WITH": "a=b"}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = environment_of(process.pid)
        process.communicate(b"\n")
    assert found is not None
    assert {name: found[name] for name in environment} == environment


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert environment_of(process.pid) is None
