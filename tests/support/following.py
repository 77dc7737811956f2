"""A conversation that a test writes down as Claude Code does, for the tests of what follows transcripts."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Source, Step
from tallystick.recording.session_writer import SessionWriter


class Clock:
    """Seconds that pass slowly, so that a busy machine changes nothing, and at once when a test says so."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() / 50 + self.ahead


class Claude:
    """A conversation that a test writes down as Claude Code does."""

    def __init__(self, folder: Path, session: str = "5e551011") -> None:
        self.session = session
        self.path = folder / ".claude" / "projects" / "-p" / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._last: str | None = None
        self._count = 0

    def lines(self, *messages: dict[str, Json]) -> bytes:
        said = b""
        for message in messages:
            self._count += 1
            uuid = f"{self.session}-{self._count}"
            role = message["role"]
            line: dict[str, Json] = {
                "parentUuid": self._last,
                "isSidechain": False,
                "type": role,
                "message": message,
                "uuid": uuid,
                "timestamp": f"2026-01-01T00:00:{self._count % 60:02}.000Z",
                "sessionId": self.session,
                "version": "2.1.330",
            }
            self._last = uuid
            said += json.dumps(line).encode() + b"\n"
        return said

    def write(self, *messages: dict[str, Json]) -> None:
        with self.path.open("ab") as file:
            file.write(self.lines(*messages))


def prompt(text: str) -> dict[str, Json]:
    return {"role": "user", "content": text}


def asks(call: str, command: str) -> dict[str, Json]:
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
    usage = {"input_tokens": 1, "output_tokens": 2}
    return {"role": "assistant", "id": f"msg_{call}", "model": "m", "content": [block], "usage": usage}


def answers(call: str, output: str) -> dict[str, Json]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": output}]}


def says(name: str, text: str) -> dict[str, Json]:
    return {"role": "assistant", "id": name, "model": "m", "content": [{"type": "text", "text": text}], "usage": {}}


def hooked_call(session: str, call: str, command: str) -> Step:
    members = {"tool": "Bash", "corr": call}
    values = {"content.args": {"command": command}}
    return Step(session=session, type="tool_call", source=Source.HOOK, source_id=call, meta=members, values=values)


def steps_of(home: Home, session_writer: SessionWriter, session: str, agent: str = "claude-code") -> list[Recorded]:
    session_writer.seal()
    sid = session_writer.archive.find(agent, session)
    assert sid is not None
    return list(read_session(home, sid))


def kinds(steps: list[Recorded]) -> list[str]:
    return [step.type for step in steps]
