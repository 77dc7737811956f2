"""The session-log interface: adding events to files and to sealed journals, against a plain append of the same JSON lines."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.measure import Figure, best_seconds
from tallystick.plugins.headless import Event, FileStore, JournalStore, SessionManager, read_log

EVENTS = 4_000
THREADS = 8
_BASELINE = "json.dumps, one write each"
_MEMBERS: dict[str, Any] = {
    "agent": "notes",
    "agent_role": "main",
    "goal": "draft",
    "tool": "bash",
    "corr_id": "tool-17744",
}
_OUTPUT = "a1b2c3d speed up cold start\n" * 12


def figures(folder: Path) -> Iterator[Figure]:
    """Adding one event after another, from eight threads, with a flush of all; reading a file."""
    folder.mkdir(parents=True)
    plain = best_seconds(lambda: _plain(folder / "plain.jsonl"))
    yield Figure("session log: a plain append of JSON lines", EVENTS / plain, "events/s")
    for name, manager in (
        ("files", SessionManager(FileStore(folder / "files"))),
        ("sealed journals", SessionManager(JournalStore(folder / "store"))),
    ):
        for how, work in (("one thread", _one), (f"{THREADS} threads", _many)):
            seconds = best_seconds(lambda manager=manager, work=work: work(manager))  # type: ignore[misc]
            label = f"session log: add_event to {name}, {how}, and a flush"
            yield Figure(label, EVENTS / seconds, "events/s", _BASELINE, seconds / plain)
        manager.close()
    yield _reading(folder, plain)


def _plain(path: Path) -> None:
    with path.open("ab", buffering=0) as file:
        for number in range(EVENTS):
            record = {"seq": number, "type": "tool_result", "timestamp": "2026-03-25T09:00:04.380310006Z", **_MEMBERS}
            file.write(json.dumps({**record, "content": _OUTPUT, "duration_ms": 662}).encode() + b"\n")


def _event() -> Event:
    return Event(type="tool_result", content=_OUTPUT, duration_ms=662, **_MEMBERS)


def _one(manager: SessionManager) -> None:
    session = manager.create("bench")
    for _ in range(EVENTS):
        session.add_event(_event())
    session.flush()


def _many(manager: SessionManager) -> None:
    session = manager.create("bench")

    def add() -> None:
        for _ in range(EVENTS // THREADS):
            session.add_event(_event())

    threads = [threading.Thread(target=add) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session.flush()


def _reading(folder: Path, plain: float) -> Figure:
    path = max((folder / "files").glob("*.jsonl"), key=lambda each: each.stat().st_size)
    seconds = _seconds(lambda: read_log(path))
    return Figure("session log: read_log of a file", EVENTS / seconds, "events/s", "the plain append", seconds / plain)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
