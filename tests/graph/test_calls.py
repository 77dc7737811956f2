from __future__ import annotations

from tallystick.graph.calls import effects_of, uses_of_call
from tallystick.model.intent import Domain, Operation
from tallystick.model.paths import home_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.support.cases import each


def call(tool: str, args: Json) -> Recorded:
    meta = {"type": "tool_call", "tool": tool}
    return Recorded(session="s", n=1, hash="h", prev="p", parents=(), meta=meta, values={"content.args": args})


@each(
    "folder, home",
    [
        ("/home/dev/project", "/home/dev"),
        ("/Users/dev/x", "/Users/dev"),
        ("/root", "/root"),
        ("/rooted/x", None),
        ("/srv/x", None),
        (None, None),
    ],
)
def test_the_home_folder_is_taken_from_the_working_folder(folder: str | None, home: str | None) -> None:
    assert home_of(folder) == home


def test_the_shell_text_of_a_call_is_read_with_its_folder_and_home() -> None:
    step = call("Bash", {"command": "cp ~/a b"})
    told = effects_of(uses_of_call(step, "/home/dev/project", "demo"), "/home/dev/project")
    files = [(intent.operation, intent.target) for intent in told.intents if intent.domain is Domain.FILE]
    assert files == [(Operation.COPY_SOURCE, "/home/dev/a"), (Operation.COPY_DEST, "/home/dev/project/b")]
    assert [(told.intents[flow.source].target, told.intents[flow.target].target) for flow in told.flows] == [
        ("/home/dev/a", "/home/dev/project/b")
    ]


def test_a_file_tool_is_read_without_a_shell() -> None:
    told = effects_of(uses_of_call(call("Write", {"file_path": "a", "content": "x"}), "/w", "demo"), "/w")
    ((intent),) = told.intents
    assert (intent.operation, intent.target, intent.content, intent.is_authored) == ("write", "/w/a", "x", True)


def test_a_tool_without_a_name_means_something_unknown() -> None:
    step = Recorded(session="s", n=1, hash="h", prev="p", parents=(), meta={"type": "tool_call", "tool": 7})
    effects_of(uses_of_call(step, None, "demo"), None)


def test_code_that_a_tool_runs_is_read_as_its_program_would() -> None:
    step = call("ipython", {"code": "open('out.txt', 'w').write('x')"})
    told = effects_of(uses_of_call(step, "/w", "gptme"), "/w")
    assert ("write", "/w/out.txt") in [(intent.operation, intent.target) for intent in told.intents]
