"""What the record says at the moment a call is judged: what its session did, who wrote a file, what the user let run before.

Owns joining three sources: what the call's own sessions did, what other live sessions did, and the index, which has all
others and lags by seconds. Must not know how the first two follow from journals (`family_states`), nor what follows from an
answer. It answers for one Decider.
"""

from __future__ import annotations

import contextlib
import posixpath
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from tallystick.catalog.agents import session_instructions, user_instructions
from tallystick.graph.authorship import LastChange, VersionMaker
from tallystick.guard.family_reader import FamilyReader
from tallystick.guard.family_states import FamilyStates
from tallystick.guard.leaving import Leaving
from tallystick.guard.record_index import EVER_US, RecordIndex
from tallystick.guard.session_families import FamilyJournal, SessionFamilies
from tallystick.guard.snapshots import Snapshots
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.journal.home import Home
from tallystick.journal.read_values import ReadValues
from tallystick.lineage.taint import Trust, joined
from tallystick.model.decision import Call
from tallystick.model.recorded import Recorded
from tallystick.policy.content.markdown import absolute_import, imports
from tallystick.policy.taint.origins import PUTS
from tallystick.policy.taint.untrusted_input import Found, Hearing, own_taint
from tallystick.policy.world import Leaving as Leaves
from tallystick.policy.world import Maker, Marker, Past, Provenance
from tallystick.state.families import Family
from tallystick.state.family_state import FamilyState
from tallystick.state.files import Made, is_upkeep
from tallystick.state.reducer import Knowledge, Loaded, about_to, loaded

_MOST_WARMED = 4
_MOST_SOURCES = 3
_MOST_ORDERS = 64 << 10
_ORDERS, _USER_ORDERS = session_instructions(), user_instructions()
_MOST_LOADED = 64
"""Files that are read at a session's start for what they order, imports among them."""
"""What agents read by themselves at the start of a session, in the folder that they work in."""
_FOREIGN = frozenset((Maker.OTHER_SESSION, Maker.OUTSIDE))
_NO_FAMILY = ("", "")


class OnRecord:
    """The record of one store, for calls that are to be judged. Safe for several threads."""

    def __init__(
        self,
        home: Home,
        known: Knowledge,
        rules: Callable[[], str],
        asked: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Answer for the store at `home`.

        Args:
            known: what is known besides the record.
            rules: the digest of what states follow from besides journals.
            asked: called with each path of which it is asked what others made of it.
        """
        self._home = home
        self._asked = asked
        self._base = known
        self._lock = threading.RLock()
        self.values = ReadValues(home)
        """What is kept of the values that steps showed."""
        self.index = RecordIndex(home, known.is_secret)
        """The index."""
        self._families = SessionFamilies(home, self.index.graph)
        self.states = FamilyStates(home, self._families, self._known, Snapshots(home, rules), self._lock)
        """What the families that called lately have done."""

    def before(self, call: Call) -> Before:
        """What is on record now that a call is about to be made."""
        with self._lock:
            family = self._families.family(call.agent, call.session)
            is_whole = self._read_on(family, call.session)
            state = self.states.change(family, lambda state: about_to(state, call.call_id))
            return Before(self, family, state, is_whole=is_whole)

    def leaving(self, state: FamilyState) -> Leaving:
        """What is asked about what leaves."""
        return Leaving(state, self.values)

    def read_all(self, call: Call) -> None:
        """Read all that the session of a call has done, however long that takes."""
        with self._lock:
            self.states.read_all(self._families.family(call.agent, call.session))

    def at(self, call: Call, moment: Moment) -> Before:
        """What was on record at an earlier moment, from the journals alone. The first time all of them are read."""
        with self._lock:
            family = self._families.family(call.agent, call.session)
            reader = FamilyReader(self._home, self._known(family))
            reader.is_due = moment.has
            reader.follow(self._families.journals(family))
            return self.of_state(family, about_to(reader.state, call.call_id), moment.at_us)

    def of_state(self, family: Family, state: FamilyState, at_us: int) -> Before:
        """What was on record at an earlier moment, when a family had done what is given."""
        with self._lock:
            if not state.has_orders and state.workspace is not None:
                state = loaded(state, self._orders(family, state), self._known(family))
            return Before(self, family, state, is_whole=True, at_us=at_us)

    def family_reader(self, call: Call) -> tuple[Family, FamilyReader]:
        """The family of a call, and what reads its journals from the beginning."""
        with self._lock:
            family = self._families.family(call.agent, call.session)
            return family, FamilyReader(self._home, self._known(family))

    def journals(self, family: Family) -> Sequence[FamilyJournal]:
        """The journals of a family."""
        with self._lock:
            return self._families.journals(family)

    def warm(self) -> None:
        """Read what the newest sessions did, before a call waits for it."""
        with self._lock:
            newest = self._families.newest(_MOST_WARMED)
        for family in newest:
            with self._lock:
                self._read_on(family)

    def _read_on(self, family: Family, own: str | None = None) -> bool:
        """Read on in the journals of a family; whether all of them are read."""
        state, is_whole = self.states.standing(family, own)
        if is_whole and not state.has_orders and state.workspace is not None:
            texts = self._orders(family, state)
            self.states.change(family, lambda state: loaded(state, texts, self._known(family)))
        return is_whole

    def _known(self, family: Family) -> Knowledge:
        return msgspec.structs.replace(
            self._base, earlier=lambda path, is_deep: self._known_elsewhere(family, path, is_deep=is_deep)
        )

    def hearing(self, family: Family, state: FamilyState) -> Hearing:
        """What a family has heard, to be asked."""
        known = self._known(family)
        return Hearing(known.earlier, known.is_secret, known.held, state.heard)

    def _orders(self, family: Family, state: FamilyState) -> dict[str, Loaded]:
        """What the agent itself read at the start, where other sessions wrote it or it is poisoned: no call tells of that."""
        user = state.home or str(Path.home())
        wanted = [(posixpath.join(state.workspace or "/", name), name) for name in _ORDERS]
        wanted += [(posixpath.join(user, name), f"~/{name}") for name in _USER_ORDERS]
        texts: dict[str, Loaded] = {}
        seen: set[str] = set()
        while wanted and len(seen) < _MOST_LOADED:
            path, name = wanted.pop(0)
            text = "" if path in seen else _text_of(path)
            seen.add(path)
            if not text:
                continue
            wanted += [(absolute_import(said, path, user), f"{name} @{said}") for said in imports(text)]
            if found := self._base.ordered(text):
                why = f"poisoned ({', '.join(sorted(found))}), {self._writer_of(path)}"
                texts[path] = Loaded(text, f"{name}, read at the start", why)
            elif not self._known_elsewhere(family, path, is_deep=False).taint.is_clean:
                texts[path] = Loaded(text, f"{name}, read at the start")
        return texts

    def _writer_of(self, path: str) -> str:
        """Who wrote a file, in words."""
        last = self.index.last_change(path, EVER_US)
        if last is None or last.is_outside or last.session is None:
            return "written by no recorded session"
        return f"written in {last.session[:12]}:{last.n}"

    # Who wrote a file -----------------------------------------------------------------------------------------------

    def provenance(self, asking: Asking, path: str, depth: int = 0) -> Provenance:
        """What is on record about a path, for the next call of a family."""
        _, state, hearing, before_us = asking
        with self._lock:
            taint = hearing.taint(path)
            made = state.files.made(path)
            if (
                depth and made is not None and made.is_gone
            ):  # what was copied from it, or what it is called now, remains
                made = made.was
            since_us = 0
            if made is not None:
                since_us = made.at_us
            other = self._other(asking, path, since_us)
            if other is not None:
                return msgspec.structs.replace(other, trust=taint.trust, is_sensitive=taint.is_sensitive)
            if made is None or made.is_gone:
                return Provenance(trust=taint.trust, is_sensitive=taint.is_sensitive, evidence=taint.sources[:2])
            author, evidence = self._author(asking, path, made, depth)
            digest, flat = made.digest, made.flat
            if digest is None:
                digest = self._seen(path, made, before_us)
            if digest is not None and state.is_loose(path, made.at_us):
                digest = flat = None
            return Provenance(
                maker=state.maker(made),
                author=author,
                is_new=made.is_new,
                session=made.session,
                digest=digest,
                flat=flat,
                is_download=state.files.is_download(path),
                trust=taint.trust,
                is_sensitive=taint.is_sensitive,
                evidence=(made.step, *evidence, *taint.sources[:2]),
            )

    def _seen(self, path: str, made: Made, before_us: int) -> str | None:
        """What a file was seen to hold after the call that changed it last."""
        last = self.index.last_change(path, before_us)
        if last is None or last.is_outside or not _steps(last):
            return None
        return last.digest if _steps(last)[0] == made.step else None

    def _author(self, asking: Asking, path: str, made: Made, depth: int) -> tuple[Maker, tuple[str, ...]]:
        """Who wrote what a file of the family holds: what was copied is whose it was, and so is what was only added to."""
        family, state, _, before_us = asking
        if not made.is_whole and not made.was_read:
            for one in self.index.makers(path, before_us):
                if self._families.family_of(one.session) != family and not _is_upkeep(one, path):
                    return Maker.OTHER_SESSION, (f"{one.session[:12]}:{one.n}",)
            for other in self._newest(path, family):
                if not other.is_generated:
                    return Maker.OTHER_SESSION, (other.step,)
        sources: Sequence[str] = ()
        if depth < _MOST_SOURCES:
            sources = made.sources[:_MOST_SOURCES]
        for source in sources:
            if source == path:
                continue
            found = self.provenance(asking, source, depth + 1)
            if found.author in _FOREIGN:
                return found.author, found.evidence[:2]
        return state.maker(made), ()

    def _other(self, asking: Asking, path: str, since_us: int) -> Provenance | None:
        """Who else changed a file after a time: a live session, one of the index, or no one whom the record knows."""
        family = asking.family
        last = self.index.last_change(path, asking.before_us)
        whose = None
        if last is not None and last.session is not None:
            whose = self._families.family_of(last.session)
        if last is not None and not last.is_outside and self.states.is_read(whose) and whose != family:
            last = None  # its own journals tell more
        for made in self._newest(path, family):
            if made.at_us > since_us and (last is None or made.at_us >= last.at_us):
                if made.is_generated:
                    author = Maker.UNKNOWN
                else:
                    author = Maker.OTHER_SESSION
                return msgspec.structs.replace(_of(Maker.OTHER_SESSION, made.session, (made.step,)), author=author)
        if last is None or last.at_us <= since_us or whose == family:
            return None
        if last.is_outside:
            return _of(Maker.OUTSIDE, None, _steps(last))
        found = _of(Maker.OTHER_SESSION, last.session, _steps(last))
        return msgspec.structs.replace(found, author=self._indexed_author(asking, path))

    def _indexed_author(self, asking: Asking, path: str) -> Maker:
        """Who wrote a file that another session changed last: programs that only keep it are passed over."""
        for one in self.index.makers(path, asking.before_us):
            if not _is_upkeep(one, path):
                if self._families.family_of(one.session) == asking.family:
                    return Maker.SESSION
                return Maker.OTHER_SESSION
        return Maker.UNKNOWN

    def _newest(self, path: str, family: Family) -> list[Made]:
        """What other live sessions did to a file last: one or none."""
        found = [
            made
            for _, state in self.states.others(family)
            if (made := state.files.made(path)) is not None and not made.is_gone
        ]
        return sorted(found, key=lambda made: made.at_us)[-1:]

    # Taint ----------------------------------------------------------------------------------------------------------

    def _known_elsewhere(self, family: Family, path: str, *, is_deep: bool) -> Found:
        """What other sessions made of a path, or of all below it. Of those that are live only whether it is a secret."""
        self._asked(path)
        with self._lock:
            taints = [own_taint(state.heard, path) for state in self.states.tainted(family)]
            found = self.index.taint(path, is_deep=is_deep)
        live = [taint for taint in taints if taint is not None and taint.is_sensitive]
        if not live:
            return found
        secret = joined([msgspec.structs.replace(taint, trust=Trust.TRUSTED) for taint in live])
        return msgspec.structs.replace(found, taint=joined([found.taint, secret]))

    # Approvals ------------------------------------------------------------------------------------------------------

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        with self._lock:
            live = (state for _, state in self.states.others(_NO_FAMILY))
            return any(digest in state.approved for state in live) or self.index.is_approved(digest)

    def is_approved_before(self, digest: str, asking: Asking) -> bool:
        """The same before an earlier moment."""
        with self._lock:
            return digest in asking.state.approved or self.index.is_approved(digest, asking.before_us)


class Asking(NamedTuple):
    """The family whose call is judged, what it has done, and what it has heard."""

    family: Family
    state: FamilyState
    hearing: Hearing
    before_us: int = EVER_US
    """Changes of files since then are not looked at."""


class Moment(NamedTuple):
    """An earlier moment of the record."""

    has: Callable[[Recorded], bool]
    """Whether an entry of a journal of the family was there."""
    at_us: int


class Before:
    """What was on record before one call."""

    def __init__(
        self, record: OnRecord, family: Family, state: FamilyState, *, is_whole: bool, at_us: int | None = None
    ) -> None:
        """`at_us` is the moment of the call; None: now."""
        self.is_whole = is_whole
        """Whether all that the session did is known: a long history of one that is resumed may still be read."""
        self.read = record.states.read_to(family)
        """How many entries of each journal of the family were read."""
        self._record = record
        self._at_us = at_us
        self._asking = Asking(family, state, record.hearing(family, state), EVER_US if at_us is None else at_us)
        self._is_caught_up = False
        self._past: Past | None = None
        self._known: dict[str, Provenance] = {}

    def past(self) -> Past:
        """What the session of the call has done so far."""
        if self._past is None:
            now_us = self._at_us or time.time_ns() // 1000
            self._past = past_of(self._asking.state, self._asking.hearing, now_us, self._record.leaving)
        return self._past

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        if not self._is_caught_up:
            self._is_caught_up = True
            self._record.states.catch_up(self._asking.family)
        if path not in self._known:
            self._known[path] = self._record.provenance(self._asking, path)
        return self._known[path]

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        if self._at_us is not None:
            return self._record.is_approved_before(digest, self._asking)
        return self._record.is_approved(digest)


def _text_of(path: str) -> str:
    """The beginning of a file; empty if none is there. A pipe is not waited for."""
    with contextlib.suppress(OSError, ValueError):
        if Path(path).is_file():
            with Path(path).open("rb") as file:
                return file.read(_MOST_ORDERS).decode("utf-8", "replace")
    return ""


def past_of(state: FamilyState, hearing: Hearing, now_us: int, leaving: Callable[[FamilyState], Leaves]) -> Past:
    """What policy is reported of what a session has done.

    Args:
        leaving: what is asked about what leaves, if a secret was read.
    """
    files, hosts = state.recent(now_us)
    markers: set[Marker] = set()
    if state.sensitive:
        markers.add(Marker.SENSITIVE_READ)
    if hearing.texts:
        markers.add(Marker.UNTRUSTED_READ)
    is_asked = state.sensitive or state.shown or state.taken
    return Past(
        markers=frozenset(markers),
        leaving=leaving(state) if is_asked else None,
        sensitive=state.sensitive,
        calls=state.calls,
        network_calls=state.network_calls,
        recent_file_calls=files,
        recent_network_calls=hosts,
        heard=hearing,
        workspace=state.workspace,
        home=state.home,
        hosts=state.hosts,
        granted=state.granted,
    )


def _of(maker: Maker, session: str | None, evidence: tuple[str, ...]) -> Provenance:
    return Provenance(maker=maker, author=maker, session=session, evidence=evidence)


def _is_upkeep(one: VersionMaker, path: str) -> bool:
    """Whether a version was made by a program that changes the file as it always does."""
    if one.command is None:
        return False
    read = effects(one.command, Environment(variables={}, folder=one.folder or None))
    touching = [intent for intent in read.intents if intent.target == path and intent.operation in PUTS]
    return bool(touching) and all(map(is_upkeep, touching))


def _steps(last: LastChange) -> tuple[str, ...]:
    if last.session is not None and last.n is not None:
        return (f"{last.session[:12]}:{last.n}",)
    return ()
