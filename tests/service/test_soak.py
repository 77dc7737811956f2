"""A day of heavy use, compressed: sessions open, work, are transcribed and end; memory and descriptors must not creep.

`make soak` runs the day; `make test` some minutes of it, so that the day is known to run.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tests.service.faults import is_sound, send, steps, wait_for
from tests.support import recorders

_AT_ONCE = 8
_NAMESPACE = uuid.UUID(int=7)


class Used(msgspec.Struct, frozen=True):
    """What the recorder's processes hold together, and the one that answers."""

    megabytes: float
    descriptors: int


class Day:
    """Sessions of one user, several at once, through one recorder after another."""

    def __init__(self, home: Home, folder: Path, *, sessions: int, calls: int) -> None:
        self.home, self.folder, self.calls = home, folder, calls
        self.sessions = sessions
        self.delivered = itertools.count(1)

    def run(self) -> tuple[Used, Used]:
        """What the recorder held after a fifth of the day, and at its end. It was stopped and killed early, not between."""
        first, fifth = max(self.sessions // 50, 2), self.sessions // 5
        self._sessions(range(first // 2))
        recorder.stop(self.home.folder)
        self._sessions(range(first // 2, first))
        os.kill(recorders.start(self.home.folder), signal.SIGKILL)
        self._sessions(range(first, fifth))
        early = self._used()
        self._sessions(range(fifth, self.sessions))
        return early, self._used()

    def _sessions(self, numbers: range) -> None:
        recorders.start(self.home.folder)
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in threads.map(self._session, numbers):
                pass

    def _used(self) -> Used:
        front = psutil.Process(recorders.start(self.home.folder))
        processes = (front, *front.children(recursive=True))
        return Used(sum(map(_megabytes, processes)), front.num_fds())

    def _session(self, number: int) -> None:
        session = str(uuid.uuid5(_NAMESPACE, f"session {number}"))
        path = self.folder / f"{session}.jsonl"
        common = {"session_id": session, "cwd": "/home/dev/project", "transcript_path": str(path)}
        self._tell({**common, "hook_event_name": "SessionStart", "source": "startup"})
        with path.open("a", encoding="utf-8") as transcript:
            for call in range(self.calls):
                for said, written in _call(common, session, call):
                    transcript.write(json.dumps(written) + "\n")
                    transcript.flush()
                    self._tell(said)
        self._tell({**common, "hook_event_name": "SessionEnd", "reason": "other"})

    def _tell(self, said: dict[str, Any]) -> None:
        answer = send(self.home, said)
        is_told = said["hook_event_name"] == "SessionStart" and b'{"systemMessage":"Tallystick noticed: ' in answer
        assert is_told or answer == b"0 0 0\n", answer
        next(self.delivered)


def _megabytes(process: psutil.Process) -> float:
    """What a process adds to the memory in use; nothing if it has ended meanwhile."""
    with contextlib.suppress(psutil.Error):
        return float(process.memory_full_info().pss) / 1e6
    return 0.0


def _call(common: dict[str, Any], session: str, call: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A call and its result: what the hook says, and the line that the agent writes of it."""
    name = f"toolu_{session[:8]}_{call:05}"
    args = {"command": f"make test-{call}"}
    tool = {"tool_name": "Bash", "tool_input": args, "tool_use_id": name}
    use = {"type": "tool_use", "id": name, "name": "Bash", "input": args}
    usage = {"input_tokens": 10 + call, "output_tokens": 40}
    message = {"id": f"msg_{name}", "role": "assistant", "model": "m", "content": [use], "usage": usage}
    yield {**common, "hook_event_name": "PreToolUse", **tool}, _line(session, 2 * call, "assistant", message)
    output = f"test {call} passed\n" * (1 + call % 40)
    response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    result = {"type": "tool_result", "tool_use_id": name, "content": output}
    line = _line(session, 2 * call + 1, "user", {"role": "user", "content": [result]})
    said = {**common, "hook_event_name": "PostToolUse", **tool, "tool_response": response, "duration_ms": 12}
    yield said, {**line, "toolUseResult": response}


def _line(session: str, number: int, kind: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": str(uuid.uuid5(_NAMESPACE, f"{session} {number}")),
        "parentUuid": str(uuid.uuid5(_NAMESPACE, f"{session} {number - 1}")) if number else None,
        "sessionId": session,
        "timestamp": f"2026-11-22T01:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "cwd": "/home/dev/project",
        "version": "2.1.330",
        "message": message,
    }


def assert_whole(day: Day) -> None:
    """Each call once, with its result, and each session ended."""
    wait_for(lambda: not list(Place(day.home.folder).spool.glob("*.spool")), 60)
    recorder.stop(day.home.folder)
    recorded = steps(day.home)
    for kind, wanted in (("tool_call", day.calls), ("tool_result", day.calls), ("session_end", 1)):
        found = [(step.session, step.meta.get("corr")) for step in recorded if step.type == kind]
        assert len(set(found)) == len(found) == wanted * day.sessions, kind
    assert is_sound(day.home)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    store = Home(tmp_path / "store")
    yield store
    recorder.stop(store.folder)


def test_a_few_minutes_of_a_day_are_recorded_whole(home: Home, tmp_path: Path) -> None:
    day = Day(home, tmp_path, sessions=15, calls=5)
    early, late = day.run()
    assert late.descriptors <= early.descriptors + 48  # a journal for each session, the index, what is watched
    assert_whole(day)


@pytest.mark.soak
def test_over_a_day_memory_and_descriptors_do_not_creep(home: Home, tmp_path: Path) -> None:
    day = Day(home, tmp_path, sessions=400, calls=200)
    early, late = day.run()
    print(f"{next(day.delivered) - 1} deliveries; after a fifth {early}, at the end {late}")  # noqa: T201
    assert late.megabytes <= 1.1 * early.megabytes
    assert late.descriptors <= 1.1 * early.descriptors
    assert_whole(day)
