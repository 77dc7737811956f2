"""Sessions that were watched while they lasted, for tests of what is asked about them later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.live.configuration import AgentUser, LiveConfiguration, Sighting
from tallystick.live.watched_places import Look
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.checkpoints.auto import git_of
from tallystick.recording.run_config.gathered import gather
from tallystick.recording.session_writer import SessionWriter

AGENT = "claude-code"


class Watched:
    """One session of Claude Code in a folder, and what watches it."""

    def __init__(self, session_writer: SessionWriter, name: str, user: Path, project: Path) -> None:
        self.name = name
        self._session_writer = session_writer
        self._prompts = 0
        root = user / "no-administrator"
        self._live = LiveConfiguration(
            session_writer,
            AgentUser(user, {}),
            monotonic=lambda: 0.0,
            look=Look(lambda agent, where: gather(agent, where, root=root), git_of),
        )
        opening = Opening(
            session=name,
            agent=AGENT,
            source=Source.HOOK,
            ts="2026-11-22T10:00:00Z",
            meta={"model": "opus"},
            values={"personal.cwd": str(project)},
        )
        self._tell(opening)

    def prompt(self, mode: str) -> None:
        """A prompt, in a mode."""
        self._prompts += 1
        source_id = f"{self.name}-{self._prompts}"
        meta = {"permission_mode": mode}
        self._tell(Step(session=self.name, type="user", source=Source.HOOK, source_id=source_id, meta=meta))

    def settle(self) -> None:
        """Record what stands in the files now."""
        self._live.settle()

    def _tell(self, event: Opening | Step) -> None:
        size = self._live.size(AGENT, self.name)
        self._session_writer.take(AGENT, [event])
        self._live.saw(Sighting(AGENT, self.name, size, None, lambda: {"CI": "1"}), [event])
        self.settle()


@contextmanager
def watched(home: Home, name: str, user: Path, project: Path) -> Iterator[Watched]:
    """A session, while it lasts."""
    with SessionWriter(home) as session_writer:
        session = Watched(session_writer, name, user, project)
        yield session
        session_writer.add(AGENT, Step(session=name, type="session_end", source=Source.HOOK))


def surroundings(user: Path) -> Surroundings:
    """Where its files are, for who looks at them now."""
    return Surroundings(user=user)
