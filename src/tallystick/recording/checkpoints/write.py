"""Marking a position of a session: a checkpoint is a sealed step of the session that it marks.

Owns what such a step says, that a session which has ended stays ended, and that no session gets more of them than the
settings allow: they are counted while its journal is held. Must not know when one is made by itself, nor what git says.
Sources: docs/format.md 6 and 7, docs/checkpoints.md.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.errors import CheckpointError, UsageError
from tallystick.journal.home import Home
from tallystick.model.step import Json, Source, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.sessions.checkpoints import Trigger, WhenFull
from tallystick.workspace.settings import read_settings

MOST_LABEL = 500
"""Characters."""
_MOST_PAIRS = 64
_MOST_VALUE = 4_000


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint to be made."""

    trigger: Trigger
    label: str
    position: int | None = None
    """The number of the entry that it marks; None: the newest one."""
    git: Mapping[str, Json] | None = None
    """`head`, `ref` and `dirty` of the folder that the session works in."""
    metadata: Mapping[str, str] = {}
    meta: Mapping[str, Json] = {}
    """More members: `run`, `keep`, `config_fingerprint`… What it says of `position_hash` holds: who marks a moment later than
    it was has taken that down then."""
    values: Mapping[str, Json] = {}
    """More values: `content.hook_registry`."""
    source: Source = Source.WATCH


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say of checkpoints."""

    is_enabled: bool
    on_step_complete: bool
    on_policy: bool
    max_per_session: int
    when_full: WhenFull
    retention_days: int


def read_rules(home: Home) -> Rules:
    """The rules in force. Raises what `read_settings` raises."""
    values = {entry.setting.key.removeprefix("checkpoints."): entry.value for entry in read_settings(home)[0]}
    return Rules(
        is_enabled=values["enabled"] == "on",
        on_step_complete=values["auto_on_step_complete"] == "on",
        on_policy=values["auto_on_policy"] == "on",
        max_per_session=int(str(values["max_per_session"])),
        when_full=WhenFull(str(values["when_full"])),
        retention_days=int(str(values["retention_days"])),
    )


def check_enabled(rules: Rules) -> None:
    """Raises CheckpointError: checkpoints are off."""
    if not rules.is_enabled:
        raise CheckpointError("checkpoints are off", hint="`tally config set checkpoints.enabled on` turns them on")


def mark(session_writer: SessionWriter, record: SessionRecord, wanted: Mark) -> Taken:
    """Make a checkpoint, durable and sealed when the session_writer does that. An event that is marked is not marked again.

    Raises:
        CheckpointError: checkpoints are off, or the session has as many as it may have.
        UsageError: it has no label, or the session no such entry.
        FormatError: the settings are damaged. JournalError: it cannot be written.
    """
    rules = read_rules(session_writer.home)
    check_enabled(rules)
    label = checked_label(wanted.label)
    trigger = Trigger(wanted.trigger)
    with session_writer.lock, record.journal.locked():
        position = _position(record, wanted.position)
        known = record.checkpoints.at(trigger, position)
        if known is not None:
            return Taken(record.sid, known.n, Outcome.KNOWN)
        replaces = _room(record, trigger, rules)
        with record.reopened(wanted.source.value, "checkpoint"):
            return session_writer.add_to(record, _step(record, wanted, label, position, replaces))


def checked_label(text: str) -> str:
    """A label without space around it. Raises UsageError: nothing is left, or it is too long."""
    label = text.strip()
    if not label:
        raise UsageError("a checkpoint needs a label", hint="give a few words that describe what it marks")
    if len(label) > MOST_LABEL:
        raise UsageError(f"the label has {len(label)} characters; the limit is {MOST_LABEL}")
    return label


def _position(record: SessionRecord, wanted: int | None) -> int:
    size = record.journal.size
    position = size - 1 if wanted is None else wanted
    if not 0 <= position < size:
        raise UsageError(f"session {record.sid[:8]} has no step {position}", hint=f"it has the steps 0 to {size - 1}")
    return position


def _room(record: SessionRecord, trigger: Trigger, rules: Rules) -> tuple[str, ...]:
    """The hashes of the checkpoints that one more takes the place of."""
    room = record.checkpoints.room(trigger, most=rules.max_per_session, when_full=rules.when_full)
    if not room.is_there:
        raise CheckpointError(
            f"session {record.sid[:8]} has {record.checkpoints.counted} checkpoints; the maximum is "
            f"{rules.max_per_session}",
            hint="`tally config set checkpoints.max_per_session` raises it; 0 means no limit",
        )
    return room.replaces


def _step(record: SessionRecord, mark: Mark, label: str, position: int, replaces: tuple[str, ...]) -> Step:
    meta: dict[str, Json] = {
        "tokens_used": record.used.at(position),
        "position_hash": record.known.hash_at(position),
        **mark.meta,
        "trigger": Trigger(mark.trigger).value,
        "position": position,
    }
    if replaces:
        meta["replaces"] = list(replaces)
    values: dict[str, Json] = {**mark.values, "content.label": label}
    if mark.git is not None:
        values["content.git"] = dict(mark.git)
    if mark.metadata:
        values["content.metadata"] = _bounded(mark.metadata)
    return Step(session=record.sid, type="checkpoint", source=mark.source, meta=meta, values=as_said(values))


def _bounded(metadata: Mapping[str, str]) -> dict[str, str]:
    return {str(key)[:200]: str(value)[:_MOST_VALUE] for key, value in list(metadata.items())[:_MOST_PAIRS]}
