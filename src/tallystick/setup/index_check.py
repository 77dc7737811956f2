"""Whether the index can be used, follows the record, and has a process that writes it.

Owns these checks. What the index says of the record is not checked: `tally rebuild` does, and makes it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tallystick.capture import recorder
from tallystick.capture.processes import is_stopped
from tallystick.errors import TallystickError
from tallystick.graph.graph import Graph, GraphError
from tallystick.journal.home import Home
from tallystick.setup.check import Check, State
from tallystick.workspace.index_writer import writer_of
from tallystick.workspace.indexing import is_current, open_index

_TRIES = 3
"""A session that is being recorded is ahead of the index for a moment."""


def index_checks(home: Home) -> Iterator[Check]:
    """What is wrong with the index, or that nothing is."""
    if not home.exists:
        return
    said = _said(home)
    found = _stopped(home) or _unusable(home) or _problem(said) or _behind(home)
    if found is not None:
        yield found
        return
    by = ""
    if said.get("pid"):
        by = f"; process {said['pid']} writes it"
    yield Check(name="index", state=State.OK, found=f"follows the record{by}")


def _said(home: Home) -> dict[str, Any]:
    """What the recorder says of its indexer, if one runs."""
    said = (recorder.status(home.folder) or {}).get("indexer")
    if isinstance(said, dict):
        return said
    return {}


def _stopped(home: Home) -> Check | None:
    """Whether the one process that may write the index now does nothing."""
    pid = writer_of(home)
    if pid is None or not is_stopped(pid):
        return None
    found = f"process {pid} is stopped, and no other one may write the index until it ends"
    mend = f"kill -CONT {pid} lets it go on; kill -9 {pid} ends it, and nothing of the record is lost"
    return Check(name="index", state=State.BAD, found=found, mend=mend)


def _unusable(home: Home) -> Check | None:
    if not home.graph.exists():
        return None  # it is made when it is asked for, which is next
    try:
        with Graph(home.graph) as graph:
            graph.rows("SELECT count(*) FROM sessions")
    except GraphError as error:
        return Check(name="index", state=State.BAD, found=str(error), mend=error.hint or "tally rebuild")
    return None


def _problem(said: dict[str, Any]) -> Check | None:
    if said.get("problem"):
        found = f"the recorder does not bring it up to date: {str(said['problem'])[:300]}"
        mend = "see run/indexer.log in the store; if it remains, tally rebuild"
        return Check(name="index", state=State.WARN, found=found, mend=mend)
    return None


def _behind(home: Home) -> Check | None:
    """Whether another reader sees what the writer of the index says that is in it."""
    found = ""
    try:
        for _ in range(_TRIES):
            with open_index(home) as index:
                found = next(iter(index.remarks), "")
            if not found and is_current(home):
                return None
    except TallystickError as error:
        found = str(error)
    found = found or "it lacks what its writer says that it has"
    return Check(name="index", state=State.WARN, found=found[:300], mend="tally rebuild")
