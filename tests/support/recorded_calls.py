"""A store in which calls are recorded one after another, each with the ask before it and the result after it."""

from __future__ import annotations

from pathlib import Path

from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store

FOLDER = "/home/dev/project"


class Recording:
    """A store in which calls are recorded one after another."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "store")
        init_store(self.home)
        self._made = 0

    def call(
        self, command: str, *, ts: str = "2026-11-20T10:00:00Z", success: bool | None = True, asked: Json = None
    ) -> None:
        """Record a command; `success` None: it has no result. `asked`: evidence of the ask before it."""
        self._made += 1
        corr = f"call-{self._made}"
        meta: dict[str, Json] = {"corr": corr, "tool": "Bash", "ts": ts}
        steps = [self._step("tool_call", corr, meta, {"content.args": {"command": command}})]
        if asked is not None:
            said: dict[str, Json] = {**meta, "effect": "ask", "rules": ["outside.write"]}
            steps.append(self._step("decision", corr, said, {"content.evidence": asked}))
        if success is not None:
            steps.append(self._step("tool_result", corr, {**meta, "success": success}, {}))
        with SessionWriter(self.home) as session_writer:
            if self._made == 1:
                values: dict[str, Json] = {"personal.cwd": FOLDER}
                session_writer.open(Opening(session="s", agent="claude-code", source=Source.HOOK, values=values))
            for step in steps:
                session_writer.add("claude-code", step)
            session_writer.seal()

    def mark_home(self, folder: str) -> None:
        """Record which home folder the process of the session's hook had, as at its start."""
        meta: dict[str, Json] = {"trigger": "session_start", "position": 0}
        with SessionWriter(self.home) as session_writer:
            session_writer.add("claude-code", self._step("checkpoint", "start", meta, {"personal.home": folder}))
            session_writer.seal()

    @staticmethod
    def _step(kind: str, corr: str, meta: dict[str, Json], values: dict[str, Json]) -> Step:
        return Step(session="s", type=kind, source=Source.HOOK, source_id=f"{corr}/{kind}", meta=meta, values=values)
