"""A store with sessions that build on one another, recorded by the engine itself, for tests of questions about them.

Two sessions: the first reads a data file and writes a summary of it, the second, a day's work later, reads the summary and
writes a report. A third has a sub-agent with a sub-agent of its own.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from tallystick.model.step import Json
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session

DATA, SUMMARY, REPORT = "data/sales.csv", "docs/summary.md", "docs/report.md"
SUMMARY_TEXT = "# Sales\n\nThe north sold most: 41 of 96.\n"
REPORT_TEXT = "# Report\n\nWe grew in the north.\n"


class Told(msgspec.Struct, frozen=True):
    """The ids of the sessions, the folder that they worked in, and the numbers of some of their steps."""

    folder: Path
    first: str
    second: str
    root: str
    child: str
    grandchild: str
    deep_call: int


def read_and_write(store: Path, folder: Path) -> Told:
    """Record the sessions, and leave the files as they left them."""
    for name, text in ((DATA, "region,sold\nnorth,41\nsouth,55\n"), (SUMMARY, SUMMARY_TEXT), (REPORT, REPORT_TEXT)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    with Recorder(store) as recorder:
        first = recorder.session("demo", "first", cwd=str(folder))
        first.prompt("Sum up the sales in data/sales.csv.")
        call(first, "Read", {"file_path": str(folder / DATA)}, output="region,sold\nnorth,41\nsouth,55\n")
        first.model_call("some-model")
        call(first, "Write", {"file_path": str(folder / SUMMARY), "content": SUMMARY_TEXT})
        first.close()
        second = recorder.session("demo", "second", cwd=str(folder))
        second.prompt("Write a report on the summary.")
        call(second, "Read", {"file_path": str(folder / SUMMARY)}, output=SUMMARY_TEXT)
        second.model_call("some-model")
        call(second, "Write", {"file_path": str(folder / REPORT), "content": "# Report\n\nWe fell in the north.\n"})
        change = {"old_string": "We fell in the north.", "new_string": "We grew in the north."}
        call(second, "Edit", {"file_path": str(folder / REPORT), **change})
        second.close()
        root = recorder.session("demo", "root", cwd=str(folder))
        root.prompt("Have it all looked at.")
        child = root.child(at=call(root, "Task", {"prompt": "Look at it."}))
        grandchild = child.child(at=call(child, "Task", {"prompt": "Look closer."}))
        deep = call(grandchild, "Bash", {"command": "ls -l"})
        return Told(folder, first.id, second.id, root.id, child.id, grandchild.id, deep)


def call(session: Session, tool: str, args: Json, *, output: str = "done", success: bool = True) -> int:
    """A call and its result: the number of the call."""
    with session.tool_call(tool, args) as block:
        block.output = output
        block.success = success
    number = block.n
    assert isinstance(number, int)
    return number
