"""The tree of sessions: `tally session tree` as a whole process, on 10,000 sessions that hang together.

The journals are real ones: each session has a prompt, a model call with tokens, and an end. Three shapes: one below the
other, all below one, and each below any that came before. The index knows the journals before anything is measured.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.measure import Figure, process_seconds
from tallystick.graph.graph import Graph
from tallystick.journal.archive import Archive, system_clock, system_seeds
from tallystick.journal.file import JournalFile, Sources
from tallystick.journal.home import Home
from tallystick.model.ids import SessionId
from tallystick.model.step import Json
from tallystick.workspace.indexing import open_index

SESSIONS = 10_000
_MOST_MS = 500
_MODEL = "claude-sonnet-4-20250514"


def chain(number: int) -> int:
    """One below the other."""
    return number - 1


def star(_: int) -> int:
    """All below one."""
    return 0


def mixed(number: int) -> int:
    """Each below any that came before."""
    return random.Random(number).randrange(number)


SHAPES = (chain, star, mixed)


def figures(folder: Path, *, sessions: int = SESSIONS) -> Iterator[Figure]:
    """The whole command: of the root and of the last session as it is, and with all sessions drawn."""
    for shape in SHAPES:
        home = grown(folder / shape.__name__, shape, sessions)
        yield from _commands(home, shape, sessions)


def grown(folder: Path, shape: Callable[[int], int], sessions: int) -> Home:
    """A store whose session `number` hangs on session `shape(number)`, named by their numbers."""
    home = Home(folder)
    Archive.make(home)
    starts: list[str] = []
    for number in range(sessions):
        meta: dict[str, Json] = {"type": "session_start", "source": "sdk", "agent": "bench"}
        meta |= {"kind": "child" if number else "root", "source_session": str(number)}
        sid = SessionId(system_seeds()[:16].hex())  # an archive would look for one of the same name among all
        file = JournalFile(home, sid, home.new_journal(sid, datetime.now(UTC)), Sources(system_clock, system_seeds))
        file.append(meta, parents=(starts[shape(number)],) if number else ())
        starts.append(f"{sid}#{file.head.hex()}")
        for kind, members, values in _steps(number):
            file.append({"type": kind, "source": "sdk", **members}, values)
        file.close()
    with open_index(home):
        return home


def _steps(number: int) -> Iterator[tuple[str, dict[str, Json], dict[str, Json]]]:
    yield "user", {}, {"content.text": f"task {number}"}
    yield "model_call", {"model": _MODEL, "tokens": {"input": 1_000, "output": 100}}, {}
    yield "session_end", {"status": "completed"}, {}


def _commands(home: Home, shape: Callable[[int], int], sessions: int) -> Iterator[Figure]:
    environment = {"HOME": str(home.folder), "PATH": os.environ.get("PATH", ""), "TALLY_HOME": str(home.folder)}
    tally = str(Path(sys.executable).with_name("tally"))
    empty = process_seconds([sys.executable, "-c", "pass"], environment=environment)
    for what, words in (
        ("the root", ("0",)),
        ("the last", (str(sessions - 1),)),
        ("all of them drawn", ("0", "--depth", str(sessions), "--limit", str(sessions))),
    ):
        name = _id(home, words[0])
        command = [tally, "session", "tree", name, *words[1:]]
        seconds = process_seconds(command, runs=5, environment=environment)
        told = f"session tree, {sessions:,} sessions ({shape.__name__}), {what}"
        asked = what != "all of them drawn"
        yield Figure(
            told,
            seconds * 1000,
            "ms",
            "an empty Python",
            seconds / empty,
            f"< {_MOST_MS}" if asked else "",
            seconds * 1000 < _MOST_MS if asked else None,
        )


def _id(home: Home, source_session: str) -> str:
    """Our id of a session: the numbers are too short to be typed."""
    with Graph(home.graph) as graph:
        row = graph.row("SELECT session_id FROM sessions WHERE source_session = ?", (source_session,))
    assert row is not None
    return str(row[0])
