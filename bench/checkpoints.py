"""Checkpoints: what a mark costs beside a bare append, and retention of a whole store.

Every session has a mark of its start, an automatic one and one by hand; one in ten is to be kept. All are found old at once.
Retention is held against verifying the same store: it must be as sound afterwards.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.measure import Figure, best_seconds
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter
from tallystick.review.retention import due, prune
from tallystick.sessions.checkpoints import Trigger
from tallystick.trust.verify import verify_store
from tallystick.workspace.indexing import open_index

SESSIONS = 10_000
_MARKS = 90
_LONG = 5_000


def figures(folder: Path, *, sessions: int = SESSIONS) -> Iterator[Figure]:
    """One mark in a long session; then retention: how long a rewritten journal takes beside a bare rewriting of it."""
    yield from _one_mark(folder / "one")
    home = _grown(folder / "many", sessions)
    now = datetime.now(UTC) + timedelta(days=60)
    found = due(home, now=now)
    bare = best_seconds(lambda: _rewritten(home), runs=1)
    began = time.perf_counter()
    done = prune(home, found)
    took = time.perf_counter() - began
    name = f"retention of {done.checkpoints:,} checkpoints in {done.sessions:,} sessions"
    yield Figure(name, took, "s", "rewriting the journals, with fsync", took / bare)
    whole = verify_store(home).exit_code == 0 and not due(home, now=now)
    yield Figure("  sound afterwards, and nothing left that is due", float(whole), "", target="1", met=whole)


def _one_mark(folder: Path) -> Iterator[Figure]:
    with SessionWriter(Home(folder), aside=True) as session_writer:
        record = session_writer.open(Opening(session="one", agent="bench", source=Source.SDK))
        for _ in range(_LONG):
            _say(session_writer, record)
        bare = _median(lambda: _say(session_writer, record))
        cost = _median(lambda: mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label="a label")))
        yield Figure(
            f"a mark in a session of {_LONG:,} steps", cost * 1e6, "µs", "a bare append of a step", cost / bare
        )


def _say(session_writer: SessionWriter, record: SessionRecord) -> None:
    meta = {"tokens": {"input": 100, "output": 10}}
    session_writer.add_to(record, Step(session="one", type="model_call", source=Source.SDK, meta=meta))


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_MARKS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


def _grown(folder: Path, sessions: int) -> Home:
    home = Home(folder)
    with SessionWriter(home, aside=True) as session_writer:
        for number in range(sessions):
            record = session_writer.open(Opening(session=f"s{number}", agent="bench", source=Source.SDK))
            mark(session_writer, record, Mark(trigger=Trigger.SESSION_START, label="start", position=0))
            mark(session_writer, record, Mark(trigger=Trigger.STEP_COMPLETE, label="a goal that ended"))
            kept = {"keep": True} if number % 10 == 0 else {}
            mark(
                session_writer,
                record,
                Mark(trigger=Trigger.MANUAL, label="by hand", git={"head": "ab" * 20}, meta=kept),
            )
    with open_index(home):
        pass
    return home


def _rewritten(home: Home) -> None:
    """What cannot be done without: each journal written anew and made durable, and its name."""
    for _, path in home.sessions():
        beside = path.with_name(f"{path.name}.new")
        with beside.open("wb") as file:
            file.write(path.read_bytes())
            file.flush()
            os.fsync(file.fileno())
        beside.unlink()
        descriptor = os.open(path.parent, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
