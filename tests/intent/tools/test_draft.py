"""What is found in one call, while it is put together."""

from tallystick.intent.tools.draft import MOST, Draft
from tallystick.intent.tools.uses import Code, ToolCall
from tallystick.model.intent import Domain, Flow, Operation


def draft() -> Draft:
    return Draft(ToolCall(tool="t", args={"cwd": "sub"}, folder="/w"))


def test_the_same_is_said_once() -> None:
    found = draft()
    assert found.file(Operation.READ, "a") == found.file(Operation.READ, "./a") == 0
    assert found.file(Operation.WRITE, "a") == 1
    assert len(found.done().intents) == 2


def test_no_more_is_said_than_fits() -> None:
    found = draft()
    positions = [found.file(Operation.READ, str(number)) for number in range(MOST + 5)]
    assert positions[-5:] == [-1] * 5
    found.flow(0, positions[-1])
    found.flow(0, 0)
    found.flow(0, 1)
    found.commands += ["x"] * (MOST + 5)
    found.codes += [Code("sql", "x")] * (MOST + 5)
    done = found.done()
    assert (len(done.intents), len(done.commands), len(done.codes)) == (MOST, MOST, MOST)
    assert done.flows == (Flow(0, 1),)


def test_paths_are_relative_to_the_folder_that_the_call_names() -> None:
    found = draft()
    found.enter_folder()
    found.file(Operation.READ, "a")
    assert found.done().intents[0].target == "/w/sub/a"
    assert found.done().folder == "/w/sub"


def test_what_an_inner_call_does_the_outer_one_does() -> None:
    outer = draft()
    inner = outer.inner("u", {"x": 1})
    inner.file(Operation.READ, "a")
    inner.commands.append("ls")
    assert (inner.tool, outer.tool) == ("u", "t")
    assert (len(outer.done().intents), outer.done().commands) == (1, ("ls",))


def test_a_file_that_is_not_told_is_not_known() -> None:
    found = draft()
    found.files(Operation.EDIT, (), is_authored=True)
    found.unknown("why" * 1000)
    first, second = found.done().intents
    assert (first.target, first.is_known, first.words) == ("", False, ("t",))
    assert (second.domain, second.is_known, len(second.words[0])) == (Domain.UNKNOWN, False, 200)


def test_code_can_be_read_as_the_program_that_runs_it() -> None:
    assert Code("python", "x").program == ("python", "-c", "x")
    assert Code("powershell", "x").program == ("pwsh", "-Command", "x")
    assert Code("lua", "x").program is None
