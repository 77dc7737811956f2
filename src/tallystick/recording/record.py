"""Recording: from what an agent did to sealed steps (docs/format.md 6, 7, 13).

Owns the rules by which an event becomes an entry once and only once: identity, parents, requests, what goes where in
`meta`. Importers, hooks and the Python API all record through here. Must not know where events come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import tzinfo

import msgspec

from tallystick.errors import FormatError
from tallystick.journal.archive import Archive
from tallystick.journal.file import JournalFile
from tallystick.journal.known_values import KnownFile
from tallystick.journal.read import read_at, read_line
from tallystick.journal.read_values import ReadValues
from tallystick.model.ids import SessionId
from tallystick.model.moments import normal_time
from tallystick.model.raw import Raw
from tallystick.model.recorded import Recorded
from tallystick.model.request import opened_kind
from tallystick.model.step import Input, Json, Ref, Source, Step
from tallystick.recording.coerce import as_sealed, comparable, fit_raw, fit_values
from tallystick.recording.corroboration import is_unnamed
from tallystick.recording.entry_index import KnownStep, KnownSteps, written_input
from tallystick.recording.event_dedup import EventIndex, Outcome, links, without_same
from tallystick.scrubbing.known_values import KnownValues
from tallystick.scrubbing.step import LOGINS, scrub_recorded, scrub_step
from tallystick.seal import limits
from tallystick.seal.names import fit_meta, is_type
from tallystick.seal.tagged import json_members
from tallystick.sessions.checkpoints import Checkpoints
from tallystick.sessions.origins import OPENING, as_revised, is_revised_opening
from tallystick.sessions.spending import Used
from tallystick.sessions.states import Status, end_status, is_there, open_status, word_of_end

OnStep = Callable[[Recorded], None]
_MOST_CHANGES = 62
_SIGHTINGS = 256


class Rules(msgspec.Struct, frozen=True):
    """How the steps of a store are recorded."""

    zone: tzinfo
    """Of times that name none."""
    scrub: bool = True
    """Whether secrets are replaced (`secrets.scrub`)."""
    known: KnownFile | None = None
    """The values that were found to be secrets before."""
    shown: ReadValues | None = None
    """What steps showed of them."""


class _Entry(msgspec.Struct, frozen=True):
    """An entry that is to be appended."""

    kind: str
    source: str
    members: Mapping[str, Json]
    values: Mapping[str, Json] = {}
    raw: Mapping[str, bytes] = {}
    parents: tuple[str, ...] = ()


class SessionRecord:
    """One session's journal, and what is needed to add to it. Use while holding `journal.locked()` for speed."""

    def __init__(self, archive: Archive, journal: JournalFile, agent: str, rules: Rules) -> None:
        self.archive = archive
        self._scrub = rules.scrub
        self._known = rules.known
        self._shown = rules.shown
        self.journal = journal
        self.agent = agent
        self.request: int | None = None
        self.callbacks: list[OnStep] = []
        self._zone = rules.zone
        self._sightings: dict[str, list[dict[str, Json]]] = {}
        self._events = EventIndex(self._read_clean)
        self._end: dict[str, Json] = {}
        self._end_source = ""
        self._is_there = False
        self._owed: tuple[str, dict[str, Json]] | None = None
        """With which end, told by whom, the session ends again: it was ended, and only what it had was reported again."""
        self.used = Used()
        self.checkpoints = Checkpoints()
        self.configured: list[int] = []
        """The entries that tell under which configuration it is: a whole one, and the changes after it."""
        self.opening: Recorded | None = None
        """How it began, as the newest that is said of that has it."""
        self._offset = 0
        journal.on_entry(self._take)
        self._read_from_start()

    def _read_from_start(self) -> None:
        """Learn what the journal holds: closing it makes the next lock read it from the beginning."""
        self.journal.close()
        with self.journal.locked():
            pass

    def _take(self, n: int, digest: bytes, text: bytes) -> None:
        if n == 0:
            self._events, self.request, self._offset = EventIndex(self._read_clean), None, 0
            self.used, self.checkpoints, self.configured = Used(), Checkpoints(), []
        self._owed = None
        step = read_line(self.archive.home, text)
        found, tells = step.member("source_id"), _link(step)
        source_id = found if isinstance(found, str) else None
        self.known.add(KnownStep(digest, self._offset, step.parents, source_id, tells))
        self._offset += len(text) + 1
        self._sum_up(n, digest, step.meta)
        self._see_opening(step)
        if step.type == "sighting":
            self._events.take_sighting(step)
        else:
            if step.unloaded and self._events.needs_blobs(source_id):
                step = read_line(self.archive.home, text, load_blobs=True)
            self._events.take(n, source_id, tells, step)
        if opened_kind(step.type, step.meta) is not None:
            self.request = n
        elif step.type == "session_end":
            self._see_end(step.meta)

    def _see_opening(self, step: Recorded) -> None:
        if step.n == 0:
            self.opening = step
        elif self.opening is not None and is_revised_opening(step):
            self.opening = as_revised(self.opening, step)

    def revise_opening(self, step: Step, parent: str | None) -> tuple[Outcome, int]:
        """Record what a source says of how the session began, which another could not know when it did.

        Args: parent: `<sid>#<hash>` of the entry that it belongs to; None: it is not recorded, or it has no parent.
        """
        after = (Ref(), Ref(session=self.agent)) if parent is not None else ()
        meta = {**step.meta, "event": OPENING, "revises": 0}
        told = msgspec.structs.replace(step, type="system", meta=meta, after=after)
        outcome, n = self.add(told, lambda _: parent)
        recorded = self.read(n)
        if recorded is not None:
            self._see_opening(recorded)
        return outcome, n

    def _sum_up(self, n: int, digest: bytes, meta: Mapping[str, Json]) -> None:
        if meta.get("type") == "session_start" or not self._is_there:
            self._is_there = is_there(str(meta.get("type")), meta.get("source"))
        self.used.take(n, meta)
        self.checkpoints.take(n, digest.hex(), meta)
        if "config_fingerprint" in meta:
            whole, changes = self.configured[:1], self.configured[1:][-_MOST_CHANGES:]
            self.configured = [*whole, *changes, n] if meta.get("type") == "config_change" else [n]

    def _see_end(self, meta: Mapping[str, Json]) -> None:
        if self._end_source and _ending(meta) == self._end:
            return  # it ended again, as it had ended
        self._end, self._end_source = _ending(meta), str(meta.get("source"))

    @property
    def known(self) -> KnownSteps:
        """The entries of the journal."""
        return self._events.known

    @property
    def status(self) -> Status:
        """What the session is, as its own journal says it."""
        with self.journal.locked():
            word = word_of_end(self._end.get("status"), self._end.get("success"))
            if self.journal.ended:
                return end_status(word)
            return open_status(there=self._is_there)

    @property
    def sid(self) -> SessionId:
        """The journal's id."""
        return SessionId(self.journal.sid)

    @property
    def last(self) -> str:
        """The hash of the last entry, in hex."""
        return self.journal.head.hex()

    def add(self, step: Step, foreign: Callable[[Ref], str | None] = lambda _: None) -> tuple[Outcome, int]:
        """Record one step under the rules of 13.3; what became of it, and the number of the entry that has it.

        Args:
            foreign: gives `<sid>#<hash>` of a reference to another session, None if it is not recorded.

        Raises:
            FormatError: the step cannot be sealed.
            JournalError: the journal cannot be written.
        """
        shown: dict[bytes, str] = {}
        step = self.without_secrets(step, shown)
        told = self._add(step, foreign)
        if step.type != "tool_result":  # a login that the user gave, or the agent wrote, is not something that it read
            shown = {value: kind for value, kind in shown.items() if kind not in LOGINS}
        if shown and self._shown is not None:
            self._shown.note(self.sid, told[1], shown)
        return told

    def _add(self, step: Step, foreign: Callable[[Ref], str | None]) -> tuple[Outcome, int]:
        with self.journal.locked():
            n = self._events.find(step)
            if n is None or self._ends_anew(step):
                owed = self._owed_after(step)
                n = self._append(step, foreign, {})
                self._owed = owed
                return Outcome.RECORDED, n
            judgement = self._events.judge(as_sealed(step), n, comparable(step))
            if judgement.outcome is Outcome.KNOWN:
                return Outcome.KNOWN, judgement.n
            if judgement.outcome is Outcome.CORROBORATED:
                self._note_sighting(step, judgement.n)
                return Outcome.CORROBORATED, judgement.n
            owed = (step.source.value, self._end) if self.journal.ended else self._owed
            n = self._append(without_same(step, judgement), foreign, links(judgement))
            self._owed = owed if step.type != "session_end" else None
            return judgement.outcome, n

    def _owed_after(self, step: Step) -> tuple[str, dict[str, Json]] | None:
        """With which end the session ends again after what does not make it go on.

        That is a line which its file had before it ended, and which is read later; and the end of a resumed sub-agent.
        """
        is_late = step.source is Source.TRANSCRIPT and self._end_source != step.source.value
        is_others = step.source is Source.HOOK and step.type == "subagent_end"
        if step.type == "session_end" or not (is_late or is_others):
            return None
        if self.journal.ended:
            return step.source.value, self._end
        return self._owed

    def _ends_anew(self, step: Step) -> bool:
        """Whether a source without ids tells an end, and the session went on after the one that another has reported."""
        is_end = step.type == "session_end" and not self.journal.ended
        return is_end and is_unnamed(step.source_id) and self.known.find(step.source_id or "") is None

    def free_id(self, beginning: str) -> str:
        """A source id that no event of the session has, for one whose source gives it none."""
        number = self.journal.size
        while self.known.find(f"{beginning}{number}") is not None:  # an event that was only seen again made no entry
            number += 1
        return f"{beginning}{number}"

    def read(self, n: int) -> Recorded | None:
        """Entry `n` unchanged on disk, blobs loaded; None if the file was rewritten meanwhile."""
        step = read_at(self.archive.home, self.journal.path, self.known.offset_of(n), load_blobs=True)
        if step is not None and step.n == n:
            return step
        return None

    def _read_clean(self, n: int) -> Recorded | None:
        """Entry `n` as it would be recorded now, for comparing: it may be older than the setting `secrets.scrub`."""
        step = self.read(n)
        if step is not None and self._scrub:
            return scrub_recorded(step, self._known_values())
        return step

    def _known_values(self) -> KnownValues | None:
        if self._known is None:
            return None
        return self._known.current()

    def without_secrets(self, step: Step, shown: dict[bytes, str] | None = None) -> Step:
        """The step as it is recorded: with markers in the places of secrets, which are known from then on.

        Args: shown: gets the values that stood there.
        """
        if not self._scrub:
            return step
        clean = scrub_step(step, self._known_values(), shown)
        if clean is not step and self._known is not None:
            self._known.keep()
        return clean

    @contextmanager
    def same_known_values(self) -> Iterator[None]:
        """Meanwhile, what was scrubbed once is not scrubbed otherwise, whatever other processes find."""
        with self._known.held() if self._known is not None else nullcontext():
            yield

    def _append(self, step: Step, foreign: Callable[[Ref], str | None], linked: Mapping[str, Json]) -> int:
        if self.journal.ended:  # section 7: a session that goes on is resumed, not copied
            resumed = {"agent": self.agent, "resumed": True}
            self._write(_Entry("session_start", step.source.value, resumed))
        if step.type == "session_end":
            self._owed = None
            self.flush_sightings()  # later they would have to reopen the session
        parents = self._parents(step.after, foreign)
        members: dict[str, Json] = {**step.meta, **linked, **self._input(step, parents)}
        if step.source_id is not None:
            members["source_id"] = step.source_id
        tell_time(members, step.ts, self._zone)
        enclosing = self._enclosing(step.within)
        if enclosing is not None:
            members["parent"] = enclosing
        if self.request is not None and (not step.opens_request or "corroborates" in linked):
            members.setdefault("request", self.request)  # given by a program that serves several requests at once
        n = self._write(_Entry(step.type, step.source.value, members, step.values, step.raw, parents))
        self._events.take(n, step.source_id, linked.get("revises", linked.get("corroborates")), step)
        if step.opens_request and "corroborates" not in linked:
            self.request = n
        return n

    def _write(self, entry: _Entry) -> int:
        kind, members = entry.kind, entry.members
        if not is_type(kind):  # sealed, it would make the whole journal one that no verifier accepts
            raise FormatError(
                f"{kind[:80]!r} cannot be the type of a step", hint="use a word in lower case: docs/format.md 6"
            )
        meta, rest = fit_meta(members)
        meta["type"], meta["source"] = kind, entry.source
        sealed = fit_values(entry.values, rest)
        offset = self._offset
        appended = self.journal.append(meta, sealed, fit_raw(entry.raw, sealed), entry.parents)
        source_id = members.get("source_id")
        digest = bytes.fromhex(appended.hash)
        tells = members.get("revises", members.get("corroborates"))
        self.known.add(
            KnownStep(
                digest,
                offset,
                entry.parents,
                source_id if isinstance(source_id, str) else None,
                tells if type(tells) is int else None,
            )
        )
        self._offset = self.journal.length
        self._sum_up(appended.n, digest, meta)
        if kind == "session_end":
            self._see_end(meta)
        if self.callbacks:
            self.call_back(appended.n)
        return appended.n

    def call_back(self, n: int) -> None:
        """Give entry `n` to the callbacks."""
        step = self.read(n)
        for callback in self.callbacks:
            if step is not None:
                callback(step)

    def _parents(self, after: tuple[Ref, ...], foreign: Callable[[Ref], str | None]) -> tuple[str, ...]:
        """Entry hashes for references; what is not recorded is left out, and nothing left means: the entry before."""
        found: list[str] = []
        for ref in after[: limits.PARENTS]:
            digest = foreign(ref) if ref.session is not None else self._local(ref)
            if digest is not None and digest not in found:
                found.append(digest)
        if found == [self.last]:
            return ()
        return tuple(found)

    def _local(self, ref: Ref) -> str | None:
        if ref.source_id is None and ref.n is None:
            if self.journal.size:
                return self.last
            return None
        n = self.number_of(ref)
        if n is None:
            return None
        return self.known.hash_at(n)

    def number_of(self, ref: Ref) -> int | None:
        """The number of the entry that a reference names by its source id or its number; None if it is not here."""
        if ref.n is not None:
            if 0 <= ref.n < len(self.known):
                return ref.n
            return None
        if ref.source_id is None:
            return None
        return self.known.find(ref.source_id)

    def _enclosing(self, within: Ref | None) -> int | None:
        if within is None:
            return None
        return self.number_of(within)

    def _input(self, step: Step, parents: tuple[str, ...]) -> dict[str, Json]:
        """What a model call was given, as runs of entry numbers with a digest over their hashes."""
        if step.input is Input.HIDDEN:
            return {"input": Input.HIDDEN.value}
        if step.input is None or not self.journal.size:
            return {}
        tip = self.journal.size - 1 if not parents else self.known.number_of(parents[0])
        if tip is None:
            return {"input": Input.HIDDEN.value}
        return {"input": written_input(self.known.path_to(tip), tip)}

    def _note_sighting(self, step: Step, n: int) -> None:
        seen = self._sightings.setdefault(step.source.value, [])
        seen.append({"n": n, "source_id": step.source_id})
        self._events.see(n, step.source.value, step.source_id)
        if len(seen) >= _SIGHTINGS:
            self.flush_sightings()

    def flush_sightings(self) -> None:
        """Record what second witnesses confirmed since the last time (13.5). A session that has ended stays ended."""
        sightings, self._sightings = self._sightings, {}
        if sightings:
            with self.reopened(next(iter(sightings)), "sighting"):
                for source, steps in sightings.items():
                    self._write(_Entry("sighting", source, {"steps": steps}))
        with self.journal.locked() if self._owed is not None else nullcontext():
            if self._owed is not None:
                source, ending = self._owed
                self._owed = None
                self._write(_Entry("session_end", source, ending))

    @contextmanager
    def reopened(self, source: str, reason: str) -> Iterator[None]:
        """Hold the journal to add what a session that has ended does not go on with: it ends again as it had ended."""
        with self.journal.locked():
            ending = self._end if self.journal.ended else None
            if ending is None:
                yield
                return
            resumed: dict[str, Json] = {"agent": self.agent, "resumed": True, "reason": reason}
            self._write(_Entry("session_start", source, resumed))
            try:
                yield
            finally:
                self._write(_Entry("session_end", source, ending))


def _link(step: Recorded) -> int | None:
    """The entry that a step revises or corroborates."""
    found = step.meta.get("revises", step.meta.get("corroborates"))
    if type(found) is int:
        return found
    return None


def _ending(meta: Mapping[str, Json]) -> dict[str, Json]:
    """What an end says that holds as well for the end after a late sighting."""
    return {
        key: value for key, value in meta.items() if key not in ("type", "source", "recorded", "source_id", "request")
    }


def normal_ts(text: str, zone: tzinfo) -> dict[str, Json]:
    """`ts` and, where the zone had to be assumed, `ts_zone`; a time that cannot be read stays as the source wrote it."""
    found = normal_time(text, zone)
    if found is None:
        return {"ts_text": text[:200]}
    if found[1]:
        return {"ts": found[0], "ts_zone": "assumed"}
    return {"ts": found[0]}


def tell_time(members: dict[str, Json], ts: str | None, zone: tzinfo) -> None:
    """Put the time in as the format has it, also where a program gave it as one member among others."""
    said = members.pop("ts", None)
    if ts is None and said is not None:
        ts = str(said)
    if ts is not None:
        members |= normal_ts(ts, zone)


def as_said(values: Mapping[str, object]) -> dict[str, Raw]:
    """Values from callers of the Python API, as if an agent had said them."""
    return json_members(values)
