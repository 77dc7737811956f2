"""Importing histories: from files that agents left to sealed sessions (docs/format.md 13).

Owns what makes an import idempotent and incremental, what is reported as lost, and when sessions are sealed. Must not
know any agent's format.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Protocol

import msgspec

from tallystick.agents import Adapter, Shape
from tallystick.capture.discover import Found, Refused, reading_order
from tallystick.capture.history import Piece, database_state, prefix_digest
from tallystick.errors import FormatError, SourceError
from tallystick.ingest.import_workers import Files, Source
from tallystick.ingest.shared_events import Place, SharedEvents
from tallystick.journal.archive import Archive
from tallystick.journal.ledger import Watermark
from tallystick.model.ids import SessionId
from tallystick.model.step import Json, Loss, Opening, Ref, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord
from tallystick.recording.writer import Writer
from tallystick.seal.names import is_meta_string

_STEPS_PER_SEAL = 50_000
_SESSIONS_PER_SEAL = 64
_EXAMPLES = 3


class LossCount(msgspec.Struct):
    """One kind of loss in one file: how many, a few examples, and whether the source is damaged there."""

    count: int = 0
    examples: list[str] = msgspec.field(default_factory=list)
    fault: bool = False


class StepCount(msgspec.Struct):
    """How events fared, by outcome."""

    recorded: int = 0
    known: int = 0
    revised: int = 0
    corroborated: int = 0
    extended: int = 0
    contradicted: int = 0

    def count(self, outcome: Outcome) -> None:
        """Count one event."""
        setattr(self, outcome.value, getattr(self, outcome.value) + 1)


class FileReport(msgspec.Struct):
    """What became of one file."""

    path: Path
    agent: str
    state: str = "new"
    """`new`, `grown`, `rewritten`, `unchanged` or `failed`."""
    read_bytes: int = 0
    sessions: list[str] = msgspec.field(default_factory=list)
    steps: StepCount = msgspec.field(default_factory=StepCount)
    shared: int = 0
    """Events that another session of the agent has already: a common history."""
    losses: dict[str, LossCount] = msgspec.field(default_factory=dict)
    damage_before: dict[str, int] = msgspec.field(default_factory=dict)
    """What could not be read, by kind, in the bytes that were read before and stand as they were."""
    error: str | None = None


class ImportReport(msgspec.Struct):
    """What became of all files of an import."""

    files: list[FileReport] = msgspec.field(default_factory=list)
    refused: list[Refused] = msgspec.field(default_factory=list)

    @property
    def recorded(self) -> int:
        """How many steps were added to the record."""
        counts = (file.steps for file in self.files)
        return sum(steps.recorded + steps.revised + steps.extended + steps.contradicted for steps in counts)

    @property
    def has_errors(self) -> bool:
        """Whether something could not be read."""
        damaged = any(loss.fault for file in self.files for loss in file.losses.values())
        before = any(file.damage_before for file in self.files)
        return bool(self.refused) or damaged or before or any(file.error for file in self.files)


Progress = Callable[[Path, int], None]
"""Called with a file and how many bytes more of it were read."""


def _unseen(_path: Path, _bytes: int) -> None:
    """No one wants to know how far an import is."""


class Index(Protocol):
    """The index of the store that is imported into."""

    shared: SharedEvents | None
    """What of this import the index may not have yet; None: it has everything up to the file that is being read."""

    def elsewhere(self, agent: str, source_id: str) -> Place | None:
        """The entry that has the agent's event already, as far as it is known (13.3)."""
        ...

    def project(self, sids: Sequence[SessionId]) -> None:
        """Take sessions in that have grown."""
        ...


class Importer:
    """Imports files into one store, sealing as it goes."""

    def __init__(
        self,
        archive: Archive,
        adapters: Mapping[str, Adapter],
        zone: tzinfo,
        index: Index | None = None,
        files: Files | None = None,
    ) -> None:
        self._files = files or Files()
        self._archive = archive
        self._adapters = adapters
        self._writer = Writer(archive, zone)
        self._index = index
        self._progress: Progress = _unseen
        self._touched: dict[SessionId, None] = {}
        self._entries: list[tuple[dict[str, Json], dict[str, Json]]] = []
        self._unsealed_steps = 0

    def run(
        self, found: Iterable[Found | Refused], *, again: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Import files in the order of 13.6. A file that cannot be read is reported, and the others are read.

        Args:
            again: read files from the beginning even if their watermark says that nothing is new.

        Raises:
            JournalError: the store cannot be written. What was acknowledged before stays.
        """
        report = ImportReport()
        self._progress = progress or _unseen
        files: list[Found] = []
        for item in found:
            if isinstance(item, Refused):
                report.refused.append(item)
            else:
                files.append(item)
        try:
            for plan in self._planned(reading_order(files), again=again):
                report.files.append(self._import(plan))
                if self._unsealed_steps > _STEPS_PER_SEAL or len(self._touched) > _SESSIONS_PER_SEAL:
                    self._seal()
        finally:
            self._seal()
            self._writer.close()
        return report

    def _planned(self, files: Iterable[Found], *, again: bool) -> Iterator[_Plan]:
        """What is to be done with each file. Those that are to be read are announced a few files before."""
        waiting: deque[_Plan] = deque()
        for found in files:
            plan = self._plan(found, again=again)
            if plan.is_to_read:
                self._files.expect(found)
            waiting.append(plan)
            if len(waiting) > self._files.ahead:
                yield waiting.popleft()
        yield from waiting

    def _plan(self, found: Found, *, again: bool) -> _Plan:
        plan = _Plan(found, FileReport(found.path, found.agent))
        try:
            mark = None
            if not again:
                mark = self._archive.ledger.watermarks.get(str(found.path))
            if self._adapters[found.agent].SHAPE is Shape.SQLITE:
                plan.report.state = _database_state(found, mark)
            else:
                plan.report.state = _state(found, mark)
                if mark and plan.report.state == "grown":
                    plan.skip_to = mark.offset
                if mark and plan.report.state in ("grown", "unchanged"):
                    losses = self._archive.ledger.losses
                    plan.report.damage_before = losses.damage_of(str(found.path), before=mark.offset)
        except SourceError as error:
            plan.report.state, plan.report.error = "failed", str(error)
        return plan

    def _import(self, plan: _Plan) -> FileReport:
        found, report = plan.found, plan.report
        try:
            if plan.is_to_read:
                _FileImport(self, found, report, plan.skip_to).run()
        except SourceError as error:
            report.state, report.error = "failed", str(error)
        self._progress(found.path, found.size - report.read_bytes)
        return report

    def _seal(self) -> None:
        """Make what was recorded durable, seal it, then say in the ledger how far the files were read."""
        touched, entries = list(self._touched), self._entries
        self._touched, self._entries, self._unsealed_steps = {}, [], 0
        if not touched and not entries:
            return
        for sid in touched:
            self._archive.journal(sid)
        self._archive.seal(touched, then=entries)
        for sid in touched:
            self._writer.release(sid)
            self._archive.release(sid)

    # What _FileImport uses ------------------------------------------------------------------------------------------

    def elsewhere(self, agent: str, source_id: str) -> Place | None:
        """The entry that has an agent's event, as far as it is known."""
        if self._index is None:
            return None
        found, shared = self._index.elsewhere(agent, source_id), self._index.shared
        if shared is None or (found is not None and not shared.is_new(found)):
            return found
        return shared.find(agent, source_id)

    @property
    def shared(self) -> SharedEvents | None:
        """Where events are noted that the index may not have yet."""
        if self._index is None:
            return None
        return self._index.shared

    def project(self, sids: Sequence[SessionId]) -> None:
        """Take sessions that have grown into the index."""
        if self._index is not None:
            if self._index.shared is not None:
                self._index.shared.publish()
            self._index.project(sids)

    def touch(self, sid: SessionId, steps: int) -> None:
        """Remember that a session has grown."""
        self._touched[sid] = None
        self._unsealed_steps += steps


class _Plan(msgspec.Struct):
    """What is to be done with a file: `skip_to` is how much of it was recorded before."""

    found: Found
    report: FileReport
    skip_to: int = 0

    @property
    def is_to_read(self) -> bool:
        """Whether something in it may be new."""
        return self.report.state not in ("unchanged", "failed")


def _state(found: Found, mark: Watermark | None) -> str:
    """How a file stands to what was read of it (13.4)."""
    if mark is None:
        return "new"
    if found.size < mark.offset or prefix_digest(found.source, mark.offset) != mark.digest:
        return "rewritten"
    if found.size == mark.offset:
        return "unchanged"
    return "grown"


def _placed(loss: Loss, piece: Piece) -> Loss:
    """A damage that says in which line it is, for a person to find it."""
    if not loss.fault or piece.number == 0 or (loss.detail or "").startswith("line "):
        return loss
    if loss.detail is not None:
        detail = f"line {piece.number}: {loss.detail}"
    else:
        detail = f"line {piece.number}"
    return msgspec.structs.replace(loss, detail=detail)


def _database_state(found: Found, mark: Watermark | None) -> str:
    """How a database stands to what was read of it: any change may be anywhere in it."""
    if mark is None:
        return "new"
    state, size = database_state(found.path)
    if (size, state.hexdigest()) == (mark.offset, mark.digest):
        return "unchanged"
    return "grown"


_MOST_KINDS = 100


def _counted(losses: Mapping[str, LossCount]) -> dict[str, int]:
    """Losses by kind for the ledger: kinds that are not words of the format, or too many, are counted as `other`."""
    counted: dict[str, int] = {}
    for kind, loss in sorted(losses.items()):
        known = is_meta_string(kind) and len(counted) < _MOST_KINDS
        counted[kind if known else "other"] = counted.get(kind if known else "other", 0) + loss.count
    return counted


class _FileImport:
    """One file on its way into the store."""

    def __init__(self, importer: Importer, found: Found, report: FileReport, skip_to: int) -> None:
        self._importer = importer
        self._writer = importer._writer
        self._adapter = importer._adapters[found.agent]
        self._found = found
        self._report = report
        self._skip_to = skip_to
        self._openings: dict[str, Opening] = {}
        self._shared: dict[str, str] = {}
        self._sids: dict[str, SessionId] = {}
        self._steps: dict[str, int] = {}

    def run(self) -> None:
        file = self._importer._files.open(self._found, self._adapter)
        try:
            for piece in file.pieces():
                self._take(piece)
                if file.position - self._report.read_bytes >= 1 << 20:
                    self._progressed(file.position)
            self._progressed(file.position)
            for session in self._openings:
                self._open(session)
            # Only now: a reader may hold back events of lines that were read, and a watermark says "all recorded".
            self._note_import(file)
        finally:
            self._report.sessions = list(self._sids)
            self._writer.flush_sightings()
            self._importer.project(list(self._sids.values()))

    def _progressed(self, position: int) -> None:
        self._importer._progress(self._found.path, position - self._report.read_bytes)
        self._report.read_bytes = position

    def _take(self, piece: Piece) -> None:
        # What lies before the watermark was recorded when it was read first. Events that a reader held back come with a
        # later piece; identity by source id takes care of those.
        is_old = piece.number > 0 and piece.offset < self._skip_to
        for event in piece.events:
            if isinstance(event, Opening):
                self._openings.setdefault(event.session, event)
            elif isinstance(event, Loss):
                if not is_old:
                    self._lose(_placed(event, piece))
            elif not is_old:
                self._record(event, piece)

    def _lose(self, loss: Loss) -> None:
        known = self._report.losses.setdefault(loss.kind, LossCount())
        known.count += 1
        known.fault |= loss.fault
        if loss.detail is not None and len(known.examples) < _EXAMPLES:
            known.examples.append(loss.detail)

    def _record(self, step: Step, piece: Piece) -> None:
        try:
            if self._is_shared(step):
                self._report.shared += 1
                return
            record = self._open(step.session)
            outcome, n = record.add(step, lambda ref: self._foreign(ref))
        except FormatError as error:
            where = "the end"
            if piece.number:
                where = f"line {piece.number}"
            self._lose(Loss(kind="unsealable", detail=f"{where}, {step.type}: {error}", fault=True))
            return
        self._report.steps.count(outcome)
        if outcome not in (Outcome.KNOWN, Outcome.CORROBORATED):
            self._steps[step.session] = self._steps.get(step.session, 0) + 1
            self._importer.touch(record.sid, 1)
            shared = self._importer.shared
            if shared is not None and self._adapter.GLOBAL_IDS and step.source_id is not None:
                shared.add(self._agent(step.session), step.source_id, Place(record.sid, n, record.known.hash_at(n)))

    def _is_shared(self, step: Step) -> bool:
        """Whether another session of this agent has the event: then this one forks from there (13.3)."""
        if not self._adapter.GLOBAL_IDS or step.source_id is None:
            return False
        record = self._existing(step.session)
        if record is not None and record.known.find(step.source_id) is not None:
            return False
        found = self._importer.elsewhere(self._agent(step.session), step.source_id)
        if found is None or (record is not None and found.session == record.sid):
            return False
        if record is None:
            self._shared[step.session] = f"{found.session}#{found.hash}"
        return True

    def _agent(self, session: str) -> str:
        opening = self._openings.get(session)
        if opening is not None:
            return opening.agent
        return self._adapter.NAME

    def _existing(self, session: str) -> SessionRecord | None:
        # Held by the writer alone, which closes what was not used for long: a file may have a thousand sessions.
        agent = self._agent(session)
        sid = self._sids.get(session) or self._importer._archive.find(agent, session)
        if sid is None:
            return None
        return self._writer.record_of(sid, agent)

    def _open(self, session: str) -> SessionRecord:
        record = self._existing(session)
        if record is None:
            opening = self._openings.get(session) or Opening(session=session, agent=self._adapter.NAME)
            record, made = self._writer.open(opening, fork_of=self._shared.get(session))
            if made:
                self._importer.touch(record.sid, 1)
        if session not in self._sids and self._importer.shared is not None:
            self._importer.shared.begin(record.sid, record.journal.size)
        self._sids[session] = record.sid
        return record

    def _foreign(self, ref: Ref) -> str | None:
        return self._writer.foreign(self._agent(ref.session or ""), ref)

    def _note_import(self, file: Source) -> None:
        read = ReadTo(self._found.path, self._adapter.NAME, self._skip_to, file.offset, file.digest)
        self._importer._entries += import_entries(read, self._sids, self._steps, self._report.losses)


class ReadTo(msgspec.Struct, frozen=True):
    """A file of an agent, from where and how far it was read, and SHA-256 of all up to there (13.4)."""

    path: Path
    agent: str
    begins: int
    offset: int
    digest: str


def import_entries(
    read: ReadTo, sids: Mapping[str, SessionId], steps: Mapping[str, int], losses: Mapping[str, LossCount]
) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """What the ledger says of a file that was read: an entry a session, with the steps it gained; losses in the first."""
    skipped = _counted(losses)
    sessions: list[tuple[str, SessionId | None]] = [*sids.items()] or [("", None)]
    for position, (session, sid) in enumerate(sessions):
        meta: dict[str, Json] = {
            "type": "import",
            "agent": read.agent,
            "from": read.begins,
            "offset": read.offset,
            "steps": steps.get(session, 0),
        }
        if sid is not None:
            meta["session"] = sid
        if skipped and position == 0:
            meta["skipped"] = skipped
            damaged = sorted(kind for kind, loss in losses.items() if loss.fault and kind in skipped)
            if damaged:
                meta["damaged"] = damaged
        yield meta, {"local.source": {"path": str(read.path), "digest": read.digest}}
