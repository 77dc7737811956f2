"""Commands in texts that are not a shell's alone → the same commands, as their reader takes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_argv_effects, read_effects
from tallystick.model.decision import Call
from tallystick.model.intent import Operation
from tallystick.model.step import Json
from tallystick.policy.calls.embedded_commands import calls_in, commands_in, read_typed, windows_texts
from tallystick.policy.calls.reader import read_call
from tests.policy.laid_out import Laid
from tests.policy.risks.readings import FOLDER, HOME, Bare
from tests.support.cases import each, each_case


@each_case("cell, commands, python")
def test_commands_and_python_are_told_apart(cell: str, commands: tuple[str, ...], python: str) -> None:
    assert commands_in(cell) == (commands, python)


@given(st.text(max_size=300))
def test_any_text_is_a_cell(cell: str) -> None:
    commands, python = commands_in(cell)
    assert all(isinstance(command, str) for command in commands)
    assert len(python) <= len(cell)


PATCH = "*** Begin Patch\n*** Delete File: a\n*** End Patch"


@each(
    "script, found",
    [
        ('const r = await tools.exec_command({cmd: "ls -l"}); text(r)', [("exec_command", {"cmd": "ls -l"})]),
        ("tools.exec_command({'cmd': 'ls', workdir: `/w`, n: 3})", [("exec_command", {"cmd": "ls", "workdir": "/w"})]),
        (f"await tools.apply_patch({PATCH!r})", [("apply_patch", PATCH)]),
        ("tools.a(x); tools . b ( 'y' )", [("a", None), ("b", "y")]),
        ("mytools.a('x'); tools.a", []),
        ('tools.a({cmd: "echo \\"tools.b\\" \\u0041"})', [("a", {"cmd": 'echo "tools.b" A'})]),
    ],
)
def test_tools_that_a_script_calls_are_found_with_their_arguments(script: str, found: list[tuple[str, Json]]) -> None:
    assert list(calls_in(script)) == found


def test_what_they_do_counts_as_done_by_the_call() -> None:
    script = f'await tools.exec_command({{cmd: "rm b"}}); await tools.apply_patch({PATCH!r})'
    call = Call(agent="codex", session="s", tool="exec", args=script, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert read.uses.commands == ("rm b",)
    gone = {intent.target for intent in read.effects.intents if str(intent.operation) == "delete"}
    assert gone == {f"{FOLDER}/a", f"{FOLDER}/b"}


def test_a_script_of_another_kind_is_none() -> None:
    call = Call(agent="codex", session="s", tool="js_repl", args="tools.exec_command({cmd: 'rm b'})", cwd=FOLDER)
    assert read_call(call, Bare({}), home=HOME, workspace=FOLDER).uses.commands == ()


@given(st.text(alphabet="tols.a({'\"`\\: })", max_size=300))
def test_any_text_can_be_read(script: str) -> None:
    list(calls_in(script))


def test_of_very_many_calls_the_first_are_read() -> None:
    assert len(list(calls_in("tools.a('x');" * 1000))) == 50


ENVIRONMENT = Environment(variables={"HOME": "/home/dev"}, folder="/w")


def done(*texts: str) -> list[str]:
    """What such texts do, programs left out."""
    readings = (reading for _, reading in read_typed(texts, ENVIRONMENT))
    found = (intent for reading in readings for intent in reading.effects.intents)
    return [f"{intent.operation} {intent.target}" for intent in found if intent.operation is not Operation.RUN]


@each_case("typed, does")
def test_a_command_at_a_prompt_is_a_command(typed: str, does: list[str]) -> None:
    assert done(typed) == does


@each_case("typed")
def test_anything_else_is_none(typed: str) -> None:
    assert done(typed) == []


def test_only_so_many_are_read() -> None:
    assert len(done(*["rm a"] * 100)) == 20


@given(st.text(max_size=200))
def test_any_typed_text_can_be_read(text: str) -> None:
    list(read_typed([text], ENVIRONMENT))


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
