"""Calls of tools in a script."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.reading import read_call
from tallystick.policy.scripted import calls_in
from tests.policy.risks.readings import FOLDER, HOME, Bare
from tests.support.cases import each

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
