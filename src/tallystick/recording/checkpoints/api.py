"""The checkpoints of a session that a program records: those that it asks for, and those that make themselves.

Owns when the automatic ones are made between two steps. Must not know how one is sealed, nor what is an occasion for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Step
from tallystick.recording.checkpoints.auto import folder_of, git_of
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.context import owner
from tallystick.recording.session_writer import Taken
from tallystick.sessions.checkpoints import Trigger, occasion

if TYPE_CHECKING:
    from tallystick.recording.recorder import Session
    from tallystick.recording.run_config.declared import RunsUnder

_MOST_SECONDS = 5.0
"""So long the end of a session waits for what git says of its folder; in an event loop nothing waits for that."""


class Marks:
    """What a Session can do about checkpoints. It is a part of that class, and of no other."""

    @property
    def _marked(self) -> Session:
        return cast("Session", self)

    def checkpoint(
        self, label: str, *, at: int | None = None, keep: bool = False, metadata: Mapping[str, str] | None = None
    ) -> Recorded:
        """A labelled mark at the newest step, or at entry `at`, with where the repository of the session's folder stands.

        Args:
            keep: it stays whole, whatever the retention says.

        Raises:
            CheckpointError: checkpoints are off, or the session has as many as it may have. UsageError: there is no label.
            JournalError: it cannot be written.
        """
        here = self._marked
        wanted = Mark(
            trigger=Trigger.MANUAL,
            label=label,
            position=at,
            git=self._git(),
            metadata=metadata or {},
            meta={"keep": True} if keep else {},
            source=here.source,
        )
        session_writer = here.recorder.session_writer
        with session_writer.lock:
            return here.read(mark(session_writer, here.record(), wanted).n)

    def runs_under(self, configuration: RunsUnder) -> None:
        """Say what the session runs under from now on: sealed as names and keyed digests, never as values.

        The first time that is a checkpoint, later a change if anything is another, and a checkpoint again if hooks have come.

        Raises: UsageError: a section's name is not a word, or Lango has no such input. JournalError: it cannot be
        written.
        """
        from tallystick.recording.run_config.declared import tell

        here = self._marked
        session_writer = here.recorder.session_writer
        is_begin = here.configuration is None
        # an event loop waits for nothing
        git = None
        if is_begin and not owner().task:
            git = self._git()
        with session_writer.lock:
            here.configuration = tell(
                session_writer, here.record(), configuration, source=here.source, before=here.configuration, git=git
            )

    def _git(self) -> Mapping[str, Json] | None:
        folder = folder_of(self._marked.record())
        if folder is None:
            return None
        return git_of(folder)

    def _mark_before(self, step: Step) -> None:
        """Make the automatic checkpoints that are ready; all of them before the session ends."""
        checkpoints = self._marked.recorder.checkpoints
        if step.type != "session_end":
            checkpoints.tick()
        else:
            checkpoints.settle(seconds=0.0 if owner().task else _MOST_SECONDS)

    def _mark_after(self, step: Step, taken: Taken) -> None:
        """Have a step that was just recorded marked, if it is an occasion."""
        if occasion(step.type, step.meta) is not None:
            self._marked.recorder.checkpoints.saw(self._marked.record(), taken, step)
