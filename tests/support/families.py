"""Families of sessions as real agents told of them, replayed: hooks as they were delivered, transcripts as they grew.

Owns the replay through the real pipeline and the import of the same files. Must not judge what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallystick.agents import adapters
from tallystick.capture.discover import Found, reading_order
from tallystick.capture.history import HistoryFile
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Helpers
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.model.decision import NO_OPINION, Call, Decision
from tallystick.model.recorded import Recorded
from tallystick.model.step import Event
from tallystick.recording.session_writer import SessionWriter
from tests.support.at_once import at_once, take

RECORDINGS = Path(__file__).parent.parent / "recordings" / "hooks" / "families"
NAMES = tuple(sorted(path.stem for path in RECORDINGS.iterdir()))
_DEV = "/home/dev"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Replay:
    """An agent at work as it was recorded: a recorder that is told, in a folder of its own."""

    def __init__(self, agent: str, folder: Path, decide: Callable[[Call], Decision] = lambda _: NO_OPINION) -> None:
        """`decide` judges its calls; the store is the folder's `live`, the agent's home is `dev`."""
        self.agent = agent
        self.user = folder / "dev"
        self.home = Home(folder / "live")
        self.clock = Clock()
        text = (RECORDINGS / f"{agent}.jsonl").read_text("utf-8").replace(_DEV, str(self.user))
        told = [json.loads(line) for line in text.splitlines()]
        self._deliveries = [one for one in told if "event" in one]
        self._written = dict[str, int]()
        self._lines = {one["path"]: one["text"].encode().splitlines(keepends=True) for one in told if "path" in one}
        self.session_writer = SessionWriter(self.home)
        self.follower = TranscriptFollower(self.session_writer, adapters(), clock=self.clock)
        helpers = Helpers(decide=at_once(decide), transcripts=self.follower)
        self.live = HookPipeline(self.session_writer, helpers, monotonic=self.clock)

    def run(self) -> Home:
        """Everything, to the end; the store."""
        for said in self._deliveries:
            self.deliver(said)
        self.end()
        return self.home

    def deliver(self, said: dict[str, Any]) -> None:
        """One delivery, the files being as far as they were then, and what the recorder does after it."""
        self.write(said["lines"])
        self.clock.now += 0.1
        data = json.dumps(said["payload"]).encode()
        take(self.live, Delivery(agent=self.agent, data=data, received=said["at"], event=said["event"]))
        self.settle()

    def write(self, lines: dict[str, int]) -> None:
        """Let the files have so many lines."""
        for name, count in lines.items():
            path = self.user / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix != ".jsonl":  # a document is written as a whole
                count = len(self._lines[name])
            written = self._written.get(name, 0)
            with path.open("ab") as file:  # another thread may be reading it
                file.writelines(self._lines[name][written:count])
            self._written[name] = max(written, count)

    def settle(self) -> None:
        """Let the recorder read on until nothing is new."""
        self.follower.settle()
        self.live.tick()

    def end(self) -> None:
        """The agent is gone: everything is written, and the recorder ends."""
        self.write({name: len(lines) for name, lines in self._lines.items()})
        self.settle()
        self.clock.now += 60
        self.live.tick()
        self.live.close()

    def imported(self) -> Home:
        """Another store, into which the same files are imported."""
        home = Home(self.home.folder.parent / "imported")
        known = adapters()
        import_histories(home, find_histories(self.user, (), known), known)
        return home

    def read(self) -> list[Event]:
        """What the files say as they are now, in the order in which an import reads them."""
        known, events = adapters(), list[Event]()
        found = [file for file in find_histories(self.user, (), known) if isinstance(file, Found)]
        for file in reading_order(found):
            pieces = HistoryFile(file.path, known[file.agent]).pieces()
            events += [event for piece in pieces for event in piece.events]
        return events


def journals(home: Home) -> dict[str, list[Recorded]]:
    """The steps of all journals of agents."""
    found = {path.stem: list(read_session(home, path.stem, load_blobs=True)) for path in home.journals.rglob("*.jsonl")}
    return {sid: steps for sid, steps in found.items() if steps and steps[0].member("agent") != "tallystick"}
