"""Checkpoints that make themselves: at steps that were checked and passed, and where a policy asked or refused.

Owns which steps those are, and that no one waits for it: position and hash are taken down at once, what git says is
looked at in a thread, and then the mark is sealed. Must not know where steps come from. Sources: specs/lango.md 2.1;
docs/checkpoints.md.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping

import msgspec

from tallystick.errors import CheckpointError, TallystickError
from tallystick.model.ids import SessionId
from tallystick.model.step import Json, Source, Step
from tallystick.recording.checkpoints.write import Mark, mark, read_rules
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.sessions.checkpoints import Trigger, occasion

_LOG = logging.getLogger(__name__)
_MOST_WAITING = 256
_MOST_SECONDS = 5.0
_MOST_SAID = 120
"""Characters of a step's text in a label."""

LookAtGit = Callable[[str], Mapping[str, Json] | None]
"""What git says of a folder: `head`, `ref`, `dirty`."""


def git_of(folder: str) -> Mapping[str, Json] | None:
    """What git says of a folder; None where there is no repository."""
    from tallystick.capture.tracking import git_state

    state = git_state(folder)
    if state is None:
        return None
    return state.members()


def folder_of(record: SessionRecord) -> str | None:
    """The folder that a session works in, as it said when it began."""
    first = None
    if record.journal.size:
        first = record.read(0)
    if first is None:
        return None
    return first.text("personal.cwd")


class MarkCounts(msgspec.Struct):
    """How automatic checkpoints fared."""

    made: int = 0
    refused: int = 0
    """There were as many as there may be, and none to take the place of."""
    failed: int = 0
    last_error: str | None = None


class _Waiting(msgspec.Struct):
    """A mark that waits for what git says of its session's folder."""

    sid: SessionId
    agent: str
    mark: Mark
    folder: str | None
    is_ready: bool = False


class Checkpointing:
    """Makes the automatic checkpoints of what one session_writer records.

    `tick` makes those that are ready: anyone who records calls it now and then, and `settle` at the end.
    """

    def __init__(self, session_writer: SessionWriter, *, git: LookAtGit = git_of) -> None:
        self.counts = MarkCounts()
        self._session_writer = session_writer
        self._git = git
        self._waiting: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None

    def saw(self, record: SessionRecord, taken: Taken, step: Step) -> None:
        """A step was recorded. If it is an occasion, its position is marked soon. Never raises."""
        found = occasion(step.type, step.meta)
        if found is None or taken.outcome is not Outcome.RECORDED:
            return
        wanted = _mark_of(record, taken, step, found)
        with self._changed:
            if len(self._waiting) >= _MOST_WAITING:
                self._note_failure(CheckpointError("too many checkpoints wait for what git says of their folders"))
                return
            # git would speak of another moment
            if step.meta.get("spooled"):
                folder = None
            else:
                folder = folder_of(record)
            self._waiting.append(_Waiting(taken.session, record.agent, wanted, folder))
            if self._worker is None:
                self._worker = threading.Thread(target=self._look, name="tallystick-marks", daemon=True)
                self._worker.start()

    def _look(self) -> None:
        """Look at the folders of those that wait, one after another; the thread ends with the last of them."""
        while True:
            with self._changed:
                now = next((each for each in self._waiting if not each.is_ready), None)
                if now is None:
                    self._worker = None
                    return
            git = None
            try:
                git = None
                if now.folder is not None:
                    git = self._git(now.folder)
            except Exception:  # it marks all the same
                _LOG.exception("what git says of a folder could not be read")
            with self._changed:
                now.mark = msgspec.structs.replace(now.mark, git=git)
                now.is_ready = True
                self._changed.notify_all()

    def tick(self) -> None:
        """Make those whose folders were looked at, in order. Never raises."""
        while self._waiting:
            with self._changed:
                if not (self._waiting and self._waiting[0].is_ready):
                    return
                now = self._waiting.popleft()
            self._make(now)

    def _make(self, now: _Waiting) -> None:
        try:
            rules = read_rules(self._session_writer.home)
            if now.mark.trigger is Trigger.POLICY_APPLIED:
                is_wanted = rules.on_policy
            else:
                is_wanted = rules.on_step_complete
            if not (rules.is_enabled and is_wanted):
                return
            with self._session_writer.lock:  # or the session might be let go of in between
                record = self._session_writer.writer.record_of(now.sid, now.agent)
                self.counts.made += mark(self._session_writer, record, now.mark).outcome is Outcome.RECORDED
        except CheckpointError as error:
            self.counts.refused += 1
            self.counts.last_error = str(error)
        except TallystickError as error:
            self._note_failure(error)

    def _note_failure(self, error: Exception) -> None:
        self.counts.failed += 1
        self.counts.last_error = f"{type(error).__name__}: {error}"

    @property
    def is_due(self) -> bool:
        """Whether some are still to be made: a session should not end before."""
        return bool(self._waiting)

    def settle(self, *, seconds: float = _MOST_SECONDS) -> None:
        """Make all that wait. What git does not say in so many seconds is left out."""
        with self._changed:
            self._changed.wait_for(lambda: all(now.is_ready for now in self._waiting), seconds)
            for now in self._waiting:
                now.is_ready = True
        self.tick()


def _mark_of(record: SessionRecord, taken: Taken, step: Step, trigger: Trigger) -> Mark:
    """The mark of a step that was just recorded, with its hash as it is now."""
    meta: dict[str, Json] = {"position_hash": record.known.hash_at(taken.n)}
    if isinstance(step.meta.get("run"), str):
        meta["run"] = step.meta["run"]
    return Mark(trigger=trigger, label=_label(step, taken.n), position=taken.n, meta=meta, source=Source.WATCH)


def _label(step: Step, n: int) -> str:
    """`deny Bash: it would remove…`, `goal_end 17: the tests pass`."""
    effect, tool = step.meta.get("effect"), step.meta.get("tool")
    if isinstance(effect, str):
        word = f"{effect[:_MOST_SAID]} {str(tool or '')[:_MOST_SAID]}"
    else:
        word = f"{step.type} {n}"
    texts = (step.values.get(name) for name in ("content.label", "content.goal", "content.text"))
    said = next((text.strip() for text in texts if isinstance(text, str) and text.strip()), "")
    if said:
        return f"{word.strip()}: {said.splitlines()[0][:_MOST_SAID]}"
    return word.strip()
