from __future__ import annotations

import pytest

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.policy.taint.secret_output import MARKER, shows_secret
from tests.support.cases import each_case

SECRET = f"key: {MARKER}token›\n"
SHARED = ("/p/src/a.py", "/p/config.yaml")


def shows(command: str, output: str = SECRET, *, is_marked: bool = False) -> bool:
    read = effects(command, Environment(variables={"HOME": "/home/dev"}, folder="/p"))
    return shows_secret(read, output, root="/p", is_marked=is_marked, is_shared=lambda path: path in SHARED)


@each_case("command")
def test_a_secret_that_is_shown_may_be_the_users(command: str) -> None:
    assert shows(command)


@pytest.mark.parametrize(
    "command",
    ["cat tests/a.txt", "cat src/a.py", "cat spec/fixtures/x.yml", "cat README.md", "cat node_modules/a/b.txt", "git show",
     "curl https://example.org/", "pytest -q", "cat /tmp/pup/cmd/slos_test.go", "cat web/app.test.ts", "cat config.yaml"],
)  # fmt: skip
def test_a_secret_of_a_test_a_document_or_a_page_is_not(command: str) -> None:
    assert not shows(command)


def test_without_a_marker_nothing_is_shown() -> None:
    assert not shows("cat notes.txt", "nothing")
    assert shows("cat notes.txt", "cut before the marker", is_marked=True)


def test_of_many_files_those_count_in_whose_lines_it_stood() -> None:
    assert not shows(
        "grep -rn key .", f"tests/a.py:3:key = {MARKER}token›\nREADME.md:1:{MARKER}token›\nsrc/b.txt:1:nothing\n"
    )
    assert shows("grep -rn key .", f"tests/a.py:3:{MARKER}token›\nconf/app.ini:3:{MARKER}token›\n")
    assert shows("grep -rhn key .", f"{MARKER}token›\n")


def test_a_folder_above_the_project_that_is_called_test_says_nothing() -> None:
    read = effects("cat notes.txt", Environment(variables={}, folder="/home/dev/tests/p"))
    assert shows_secret(read, SECRET, root="/home/dev/tests/p", is_marked=False, is_shared=lambda _: False)
