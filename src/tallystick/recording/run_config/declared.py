"""What a program says that a session of its own runs under.

Owns that values given by a program are told as those of files are: by name and keyed digest; and what becomes of it
when it is reported again: nothing, a later checkpoint with the hooks that have come, or a change. Lango's configuration
is reported in Lango's words besides. Source: decision 0022; specs/lango.md 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import msgspec
from msgspec.structs import replace

from tallystick.errors import CheckpointError, UsageError
from tallystick.journal.keys import configuration_key
from tallystick.model.step import Json, Source
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.record import SessionRecord
from tallystick.recording.run_config.gathered import plain
from tallystick.recording.run_config.recorded import known_configuration
from tallystick.recording.run_config.steps import change_step
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.checkpoints import Trigger
from tallystick.sessions.configuration import Configuration, Given, configuration, digested
from tallystick.sessions.declared_config import Told, told_inputs
from tallystick.sessions.fingerprint import Hook, fingerprint, in_order, lango_metadata

_SECTION = re.compile(r"[a-z][a-z0-9_]{0,39}")


class LangoInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The three inputs of Lango's fingerprint."""

    explicit: Collection[str] | None = None
    auto_enabled: Mapping[str, bool] = {}
    hooks: Mapping[str, Json] = {}

    @property
    def fingerprint(self) -> str:
        """Lango's digest of them."""
        return fingerprint(explicit=self.explicit, auto_enabled=self.auto_enabled, hooks=self.hooks)

    def inputs(self) -> dict[str, dict[str, Json]]:
        """The same as sections of ours. Without a map of keys there is no section of them."""
        if self.explicit is None:
            explicit = {}
        else:
            explicit = {"explicit": dict.fromkeys(self.explicit, True)}
        auto = {name: True for name, is_on in self.auto_enabled.items() if is_on}
        return {**explicit, "auto_enabled": auto, "hooks": dict(self.hooks)}


class RunsUnder(msgspec.Struct, frozen=True, kw_only=True):
    """What a session runs under.

    `inputs` are values by section and name: whatever JSON can hold, and bytes. `hooks` are those that are registered so far.
    """

    inputs: Mapping[str, Mapping[str, Json | bytes]] = {}
    hooks: tuple[Hook, ...] = ()
    lango: LangoInputs | None = None


class Declared:
    """A session whose program says itself what it runs under."""

    def __init__(self, session_writer: SessionWriter, record: SessionRecord, source: Source) -> None:
        self._session_writer = session_writer
        self._record = record
        self._source = source

    def tell(
        self, under: RunsUnder, *, before: Configuration | None = None, git: Mapping[str, Json] | None = None
    ) -> Configuration:
        """Record what the session runs under from now on, if it is news. With checkpoints off, only changes are recorded.

        Args: before: what was reported last, where the journal does not say. git: what git says of the session's folder as
        it begins.

        Raises: UsageError: a section's name is not a word, or Lango has no such input. JournalError: it cannot be written.
        """
        record = self._record
        with self._session_writer.lock:
            now = _configuration(self._session_writer, record, under)
            before = known_configuration(record) or before
            if before is None:
                self._mark(under, now, "session start", git)
                return now
            if before.fingerprint != now.fingerprint:
                step = change_step(record.sid, Told(agent=record.agent), before, now, since=record.journal.size)
                self._session_writer.add_to(record, replace(step, source=self._source))
            if [hook.told() for hook in before.registry] != [hook.told() for hook in now.registry]:
                self._mark(under, now, "hooks registered", None)
            return now

    def _mark(self, under: RunsUnder, now: Configuration, label: str, git: Mapping[str, Json] | None) -> None:
        meta, values = now.told()
        if under.lango is None:
            metadata = {}
        else:
            metadata = lango_metadata(under.lango.fingerprint, now.registry)
        made = Mark(
            trigger=Trigger.SESSION_START,
            label=label,
            git=git,
            metadata=metadata,
            meta=meta,
            values=values,
            source=self._source,
        )
        try:
            mark(self._session_writer, self._record, made)
        except CheckpointError:
            return  # they are off: the session is recorded all the same


def _configuration(session_writer: SessionWriter, record: SessionRecord, under: RunsUnder) -> Configuration:
    key = configuration_key(session_writer.home)
    first = record.read(0)
    model, version = (first.meta.get(name) if first is not None else None for name in ("model", "agent_version"))
    told = Told(
        agent=record.agent,
        model=model if isinstance(model, str) else None,
        version=version if isinstance(version, str) else None,
    )
    inputs = {**(under.lango.inputs() if under.lango is not None else {}), **under.inputs}
    given = [
        Given(section=_section(section), name=str(name), data=data, size=len(data))
        for section, values in inputs.items()
        for name, value in values.items()
        for data in (value if isinstance(value, bytes) else plain(value),)
    ]
    hooks = [(hook, b"") for hook in in_order(under.hooks)]
    return configuration(key, told_inputs(told, key), digested(key, given, hooks, sections=inputs))


def _section(name: str) -> str:
    if not _SECTION.fullmatch(name):
        raise UsageError(f"{name[:80]!r} cannot be a section", hint="use a word in lower case, such as `settings`")
    return name
