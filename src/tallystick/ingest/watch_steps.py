"""Effects that were seen, as steps.

Owns how an effect is written down: what is in `meta`, what in `content`, and how effects are counted. Which call caused
one is not said here: `lineage.correlate` judges by path, time and process. Must not know in whose session a step is
recorded.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from tallystick.capture.watch import Batch
from tallystick.capture.watch_storm import WatchGap
from tallystick.model.effect import FileEffect
from tallystick.model.ids import SessionId
from tallystick.model.step import Json, Source, Step
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.session_writer import SessionWriter

AGENT = "tallystick.watch"
UNKNOWN = "unknown"
"""What stands for the process where none was seen."""


class Watched(msgspec.Struct, kw_only=True):
    """What one run of the watcher saw. `named`: of `writes`, how many have the process that made them."""

    session: SessionId | None = None
    effects: Counter[str] = msgspec.field(default_factory=Counter)
    writes: int = 0
    named: int = 0
    in_sessions: int = 0
    """Effects that were recorded in the session of an agent."""
    gaps: int = 0
    remarks: list[str] = msgspec.field(default_factory=list)

    def count(self, effect: FileEffect) -> None:
        """Count one effect."""
        self.effects[effect.kind.value] += 1
        self.writes += effect.size_bytes is not None and not effect.is_metadata and effect.old_path is None
        self.named += effect.holder is not None


def effect_step(effect: FileEffect) -> Step:
    """An effect as a step: what and how much in `meta`, paths and digests in `content`."""
    meta: dict[str, Json] = {"effect": effect.kind.value}
    if effect.size_bytes is not None:
        meta["bytes"] = effect.size_bytes
    meta["process"] = effect.holder.name if effect.holder is not None else UNKNOWN
    if effect.holder is not None:
        meta["pid"] = effect.holder.pid
    said = {
        "folder": effect.is_folder,
        "link": effect.is_link,
        "sensitive": effect.is_sensitive,
        "metadata_only": effect.is_metadata,
        "replaced": effect.is_replaced,
        "brief": effect.is_brief,
    }
    meta |= {name: True for name, is_so in said.items() if is_so}
    meta["seen"] = "look" if effect.by_look else "event"
    paths = None
    if effect.old_path is not None:
        paths = [effect.old_path, effect.path]
    values = {
        "content.path": effect.path,
        "content.paths": paths,
        "content.digest": effect.digest,
        "content.before": effect.before,
    }
    return watch_step("file_effect", meta, values, ts=_moment(effect.at_ms))


def gap_step(gap: WatchGap) -> Step:
    """What was not reported path by path, as a step."""
    meta = {"reason": gap.reason, "events": gap.events, **gap.kinds}
    values = {"content.folders": gap.folders or None, "content.error": gap.detail}
    return watch_step("gap", meta, values, ts=now_text())


def watch_step(kind: str, meta: dict[str, Json], values: dict[str, Json], *, ts: str) -> Step:
    """A step of whichever session it is added to."""
    kept = {name: value for name, value in values.items() if value is not None}
    return Step(session=AGENT, type=kind, source=Source.WATCH, ts=ts, meta=as_said(meta), values=as_said(kept))


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def now_text() -> str:
    """Now, as a step has it."""
    return _moment(time.time_ns() // 1_000_000)


class Effects:
    """Writes down what was seen."""

    def __init__(
        self,
        session_writer: SessionWriter,
        whose: Callable[[], SessionRecord],
        counts: Watched,
        *,
        taken: Callable[[FileEffect], None] = lambda _: None,
    ) -> None:
        """Record into the session that `whose` says; `taken` is given each effect once it is recorded."""
        self._session_writer = session_writer
        self._whose = whose
        self._counts = counts
        self._taken = taken

    def take(self, batch: Batch) -> None:
        """Record what was seen at one time.

        Raises:
            JournalError: it cannot be written.
        """
        with self._session_writer.lock:
            record = self._whose()
            for gap in batch.gaps:
                self._session_writer.add_to(record, gap_step(gap))
                self._counts.gaps += 1
            for effect in batch.effects:
                self._session_writer.add_to(record, effect_step(effect))
                self._counts.count(effect)
                self._counts.in_sessions += record.sid != self._counts.session
                self._taken(effect)
