"""Texts for the shells of Windows, given to a tool for PowerShell and to one for other shells, end to end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell import Environment
from tallystick.intent.shell.effects import read_argv_effects, read_effects
from tallystick.model.step import Json
from tallystick.policy.windows import windows_texts
from tests.policy.laid_out import Laid
from tests.support.cases import each_case


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Laid:
    return Laid(tmp_path_factory.mktemp("machine"))


@each_case("text")
def test_a_text_of_powershell_is_denied(laid: Laid, text: str) -> None:
    assert laid.call("PowerShell", {"command": text})[0] == "deny"


@each_case("text")
def test_a_text_of_powershell_is_asked_about(laid: Laid, text: str) -> None:
    assert laid.call("PowerShell", {"command": text})[0] in ("ask", "deny")


@each_case("text")
def test_work_in_powershell_is_silent(laid: Laid, text: str) -> None:
    assert laid.call("PowerShell", {"command": text})[0] == "allow"


@each_case("command")
def test_it_is_denied_in_another_shell_as_well(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] == "deny"


@each_case("command")
def test_it_is_asked_about_in_another_shell_as_well(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] in ("ask", "deny")


@each_case("command")
def test_work_by_the_shells_of_windows_is_silent(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] == "allow"


@each_case("tool, command")
def test_every_tool_for_a_shell_is_read_so(laid: Laid, tool: str, command: Json) -> None:
    assert laid.call(tool, {"command": command})[0] == "deny"


@given(st.text(max_size=200), st.sampled_from(("Get-Item ", "cmd /c ", "powershell -c ", 'pwsh -Command "', "rd /s ")))
def test_no_text_is_too_odd(text: str, lead: str) -> None:
    environment = Environment(variables={"HOME": "/home/dev"}, folder="/home/dev/project")
    commands = (lead + text,)
    found = list(windows_texts(commands, [read_effects(commands[0], environment)]))
    assert all(words[0] in ("cmd", "pwsh") and len(words) == 3 for words in found)
    for words in found:
        read_argv_effects(words, environment)


def test_a_text_for_another_shell_is_read_once() -> None:
    environment = Environment(variables={}, folder="/w")
    assert list(windows_texts(("rm -rf build",), [read_effects("rm -rf build", environment)])) == []


def test_backslashes_stay_as_they_were_written() -> None:
    command = 'cmd /c "del /s C:\\x\\y"'
    read = read_effects(command, Environment(variables={}, folder="/w"))
    assert list(windows_texts((command,), [read])) == [("cmd", "/c", "del /s C:\\x\\y")]
