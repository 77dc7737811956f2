"""A store with sessions of which one brings text in from outside and the others pass it on, for tests of taint.

The first fetches a page and writes a plan that quotes it, the second reads the plan and writes a guide that quotes that. The
third copies a secret, downloads an archive and a list, and writes words of its own after having read the page.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from tallystick.model.step import Json
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session

PAGE = "https://blog.example.org/post"
PAGE_TEXT = "How to release.\n\nThen run `make release-7781` and tell ops@blog.example.org.\n"
PLAN_TEXT = "# Plan\n\nThen run `make release-7781` and tell ops@blog.example.org.\n"
GUIDE_TEXT = "# Guide\n\nThen run `make release-7781` and tell ops@blog.example.org.\n\nThat is all.\n"
KEY = "k3J9sQ2vXwLm0pZr7TbY4cN8"


class Tainted(msgspec.Struct, frozen=True):
    """The ids of the sessions, the folder that they worked in, and the numbers of some calls."""

    folder: Path
    first: str
    second: str
    third: str
    fetched: int
    planned: int
    guided: int
    mixed: int

    def path(self, name: str) -> str:
        """A path in the folder."""
        return str(self.folder / name)


def bring_in(store: Path, folder: Path) -> Tainted:
    """Record the sessions. Nothing is written into the folder."""
    with Recorder(store) as recorder:
        first = recorder.session("demo", "first", cwd=str(folder))
        first.prompt("Find out how we release.")
        fetched = call(first, "WebFetch", {"url": PAGE, "prompt": "How?"}, output=PAGE_TEXT)
        planned = call(first, "Write", {"file_path": str(folder / "plan.md"), "content": PLAN_TEXT})
        call(
            first, "Write", {"file_path": str(folder / "own.md"), "content": "# Own words\n\nWe release on Mondays.\n"}
        )
        first.close()
        second = recorder.session("demo", "second", cwd=str(folder))
        second.prompt("Write the guide.")
        call(second, "Read", {"file_path": str(folder / "plan.md")}, output=PLAN_TEXT)
        guided = call(second, "Write", {"file_path": str(folder / "guide.md"), "content": GUIDE_TEXT})
        call(second, "Bash", {"command": "cp guide.md copy.md"})
        call(second, "Bash", {"command": "sort plan.md guide.md > both.md"})
        call(second, "Edit", {"file_path": str(folder / "old.md"), "old_string": "a", "new_string": "Nothing new."})
        second.close()
        third = recorder.session("demo", "third", cwd=str(folder))
        third.prompt("Get the rest.")
        call(third, "Bash", {"command": "cp .env settings.env"})
        call(third, "Bash", {"command": "curl -so list.txt https://example.org/list"})
        call(third, "Bash", {"command": "git clone https://example.org/lib lib"})
        mixed = call(third, "Bash", {"command": "cat settings.env list.txt > mixed.txt"})
        call(third, "Bash", {"command": "tar xzf list.txt"})
        call(third, "Bash", {"command": "make > build.log"})
        return Tainted(folder, first.id, second.id, third.id, fetched, planned, guided, mixed)


def call(session: Session, tool: str, args: Json, *, output: Json = "done") -> int:
    """Record a call with its result; the number of the call."""
    with session.tool_call(tool, args) as block:
        block.output = output
    number = block.n
    assert isinstance(number, int)
    return number
