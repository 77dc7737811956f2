"""A store of a small piece of work by several agents, recorded by the engine itself, for tests of the stories about it.

One session writes a file from a data sheet that it read, agreed to with "yes"; another rewrites the file; a sub-agent
deletes a note; a session edits before anyone asked for anything.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from tallystick.recording.recorder import Recorder
from tests.support.asking import call

PRICES = "Widget in blue costs 17 euros\nWidget in red costs 23 euros\nDelivery takes four working days\n"
PAGE = "# Our shop\n\nWidget in blue costs 17 euros\nWidget in red costs 23 euros\n"
ASKED = "Put the prices of our widgets on the page."
OFFERED = "I read the sheet.\n\nShall I write the prices to page.md now?"


class Shop(msgspec.Struct, frozen=True):
    """The folder, the ids of the sessions, and numbers of some of their steps."""

    folder: Path
    writer: str
    rewriter: str
    parent: str
    child: str
    early: str
    read: int
    write: int
    yes: int
    rewrite: int
    delete: int
    early_edit: int


def shop(store: Path, folder: Path) -> Shop:
    """Record the sessions; the files are not written."""
    page = str(folder / "page.md")
    with Recorder(store) as recorder:
        writer = recorder.session("codex", "writer", cwd=str(folder))
        writer.prompt(ASKED)
        read = call(writer, "Read", {"file_path": str(folder / "prices.txt")}, output=PRICES)
        call(writer, "Read", {"file_path": str(folder / "style.css")}, output="body { color: black; margin: 4em }\n")
        with writer.ask("some-model") as answer:
            answer.says(OFFERED)
        yes = writer.prompt("yes").n
        writer.model_call("some-model")
        write = call(writer, "Write", {"file_path": page, "content": PAGE})
        writer.close()

        rewriter = recorder.session("claude-code", "rewriter", cwd=str(folder))
        rewriter.prompt("Write the page in Spanish.")
        rewriter.model_call("some-model")
        rewrite = call(rewriter, "Write", {"file_path": page, "content": "# Nuestra tienda\n"})
        rewriter.close()

        parent = recorder.session("claude-code", "parent", cwd=str(folder))
        parent.prompt("Tidy up the notes.")
        child = parent.child(at=call(parent, "Task", {"prompt": "Remove old notes."}))
        call(child, "Write", {"file_path": str(folder / "note.txt"), "content": "old\n"})
        delete = call(child, "Bash", {"command": f"rm {folder}/note.txt"})

        early = recorder.session("claude-code", "early", cwd=str(folder))
        change = {"file_path": str(folder / "early.md"), "old_string": "a", "new_string": "b"}
        early_edit = call(early, "Edit", change)
        early.prompt("What did you change?")
        call(early, "Read", {"file_path": str(folder / "early.md")}, output="b\n")
        early.close()
        ids = (writer.id, rewriter.id, parent.id, child.id, early.id)
        return Shop(folder, *ids, read, write, yes, rewrite, delete, early_edit)
