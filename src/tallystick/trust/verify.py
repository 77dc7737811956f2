"""Verifying what is on disk: a store, one session, or a file that someone sent.

Owns gathering lines, notes and blobs for seal.verify, over all cores when there is much to do. The verdict is computed
from journals; the index is compared with it and never trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tallystick.errors import NotFoundError
from tallystick.journal.blobs import blob_reader
from tallystick.journal.home import Home
from tallystick.journal.lines import JudgedLines
from tallystick.journal.opening import open_elsewhere, read_start
from tallystick.model.ids import SESSION_ID
from tallystick.model.verdict import Defect, Require, Rule, Verdict
from tallystick.seal.epochs import LiveEpoch
from tallystick.seal.keys import parse_did_key
from tallystick.seal.ledger import LedgerView
from tallystick.seal.ledgercheck import KnownHead, LedgerCheck, Outside, check_ledger
from tallystick.seal.limits import NOTE_BYTES
from tallystick.seal.redact import Redaction
from tallystick.seal.verify import (
    Said,
    SessionCheck,
    check_lone,
    check_session,
    conclude,
    contained,
    ledger_with_foreign_parents,
    two_files,
    wanted_entries,
    with_foreign_parents,
)
from tallystick.trust.worker_pool import cores, in_processes

Progress = Callable[[int], None]
"""Called with how many bytes more were verified."""

_WORTH_PROCESSES = 24 << 20
"""Below this many bytes, starting processes costs more than it gains."""


class _Job(msgspec.Struct, frozen=True):
    """One session to check, as sent to a worker process."""

    sid: str
    path: Path | None
    blobs: Path
    view: LedgerView
    tail: LedgerView
    is_signed: bool


class StoreEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a store from elsewhere than its files."""

    pinned: str | None = None
    """did:key to trust instead of the keys that the ledger names."""
    remembered: bytes | None = None
    """A head of this ledger that the caller kept from earlier."""
    known: Sequence[KnownHead] = ()
    """What others remember of it."""
    live: LiveEpoch | None = None
    """What its signer says of its epochs, if it has some."""
    alarms: Sequence[str] = ()
    """Signs of tampering that were found around the store: each is a defect of its ledger."""
    notes: Sequence[str] = ()
    """Why someone who should know something of it does not count."""
    index: Sequence[tuple[str, int, str]] = ()
    """Sessions as the index has them: (session, size, hash of the last entry), compared and only remarked on."""


class Demand(msgspec.Struct, frozen=True):
    """What a store is held to."""

    require: Require = Require.A2
    since: str | None = None
    """The newest head of who guards the store at the required level (A3, A4) is to be no older than this."""


_FILES_ALONE = StoreEvidence()
_A2 = Demand()


def verify_store(
    home: Home,
    *,
    sessions: Sequence[str] | None = None,
    evidence: StoreEvidence = _FILES_ALONE,
    demand: Demand = _A2,
    progress: Progress = lambda _: None,
) -> Verdict:
    """The verdict on a store.

    Args:
        sessions: only these sessions; None: all, and those that the ledger knows but the disk does not.

    Raises: NotFoundError: there is no store. FormatError: the pinned key is not a did:key.
    """
    if not home.folder.is_dir():
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    ledger = _ledger(home, evidence)
    paths: dict[str, list[Path]] = {}
    for sid, path in home.sessions():
        paths.setdefault(sid, []).append(path)
    wanted = sorted({*paths, *ledger.view.heads, *ledger.view.dropped} if sessions is None else sessions)
    twice = {sid: len(found) for sid, found in paths.items() if len(found) > 1}
    jobs = [_job(home, sid, paths, ledger) for sid in wanted if sid not in twice]
    checks = list(_checked(jobs, progress))
    checks += [two_files(sid, twice[sid], ledger.view, is_signed=ledger.is_signed) for sid in wanted if sid in twice]
    entries = _known_entries(home, wanted_entries(checks, ledger), twice.keys())
    ledger = ledger_with_foreign_parents(ledger, entries)
    checks = [with_foreign_parents(check, entries, ledger.view.dropped) for check in checks]
    ledger = _alarmed(ledger, evidence.alarms)
    remarks = (*_index_remarks(checks, evidence.index), *evidence.notes)
    return conclude(ledger, checks, require=demand.require, since=demand.since, remarks=remarks)


def _ledger(home: Home, evidence: StoreEvidence) -> LedgerCheck:
    """The check of a store's ledger, as far as it is there."""
    ledger = note = pinned = None
    if home.ledger.exists():
        ledger = JudgedLines(home.ledger)
    if home.note.exists():
        note = read_start(home.note, NOTE_BYTES + 1)
    if evidence.pinned is not None:
        pinned = parse_did_key(evidence.pinned)
    return check_ledger(
        ledger,
        note,
        Outside(pinned=pinned, remembered=evidence.remembered, known=evidence.known, live=evidence.live),
        read_blob=blob_reader(home.blobs),
    )


def _alarmed(ledger: LedgerCheck, alarms: Sequence[str]) -> LedgerCheck:
    found = tuple(Defect(ledger.store_id, None, Rule.HEAD, alarm) for alarm in alarms)
    if found:
        return msgspec.structs.replace(ledger, defects=(*ledger.defects, *found))
    return ledger


def _job(home: Home, sid: str, paths: dict[str, list[Path]], ledger: LedgerCheck) -> _Job:
    found = paths.get(sid)
    view, tail = ledger.view.only(sid), ledger.tail.only(sid)
    return _Job(sid, found[0] if found else None, home.blobs, view, tail, ledger.is_signed)


def _checked(jobs: Sequence[_Job], progress: Progress) -> Iterator[SessionCheck]:
    """Check sessions, over all cores if there is enough to do, in the order of the jobs."""
    sizes = [job.path.stat().st_size if job.path is not None else 0 for job in jobs]
    if cores() == 1 or len(jobs) == 1 or sum(sizes) < _WORTH_PROCESSES:
        for job, size in zip(jobs, sizes, strict=True):
            yield check_job(job)
            progress(size)
        return
    found: dict[int, SessionCheck] = {}
    for index, check in in_processes(f"{__name__}:check_job", jobs, sizes):
        found[index] = check
        progress(sizes[index])
    yield from (found[index] for index in range(len(jobs)))


def check_job(job: _Job) -> SessionCheck:
    """Check one session: what a worker process does."""
    return check_session(
        job.sid,
        JudgedLines(job.path) if job.path is not None else None,
        Said(job.view, job.is_signed, job.tail),
        read_blob=blob_reader(job.blobs),
    )


def _known_entries(
    home: Home, wanted: Mapping[str, frozenset[str]], twice: Collection[str]
) -> dict[str, frozenset[str]]:
    """Which of the entries that others refer to are there. A session with two files speaks for none of them."""
    known: dict[str, frozenset[str]] = {}
    for sid, digests in wanted.items():
        path = None
        if sid not in twice:
            path = home.journal(sid)
        if path is not None:
            known[sid] = contained(JudgedLines(path), digests)
    return known


def _index_remarks(checks: Sequence[SessionCheck], index: Iterable[tuple[str, int, str]]) -> Iterator[str]:
    """Where the index has something else than the journals: `stale` (behind) or `differs`."""
    by_session = {check.verdict.session: check for check in checks}
    for sid, size, last in index:
        check = by_session.get(sid)
        if check is None or check.verdict.defect is not None:
            continue
        steps = check.verdict.steps
        if size < steps:
            yield f"{sid[:8]}: the index is stale, it has {size} of {steps} steps"
        elif size > steps or last != check.last:
            yield f"{sid[:8]}: the index differs from the journal; `tally rebuild` rebuilds it"


def verify_file(
    path: Path,
    *,
    redaction: Redaction | None = None,
    require: Require = Require.A1,
) -> Verdict:
    """The verdict on a lone journal file.

    Args:
        redaction: the level that the file promises to keep to.

    Raises:
        NotFoundError: there is no such file.
    """
    if not path.is_file():
        raise NotFoundError(f"{path} is not a file")
    stem = path.name.removesuffix(".jsonl")
    folders = [path.parent / "blobs"]
    if len(path.parents) > 3:
        folders.append(path.parents[3] / "blobs")
    return check_lone(
        JudgedLines(path, opener=open_elsewhere),
        file_sid=stem if SESSION_ID.match(stem) else None,
        redaction=redaction,
        read_blob=blob_reader(*folders),
        require=require,
    )
