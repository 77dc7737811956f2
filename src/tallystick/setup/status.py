"""Where a store stands: who it is, what it holds, what is pending.

Owns reading that; only the index is brought up to date by it. It is not a verification: what it says is what the files
say.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from tallystick.capture import recorder
from tallystick.errors import FormatError, JournalError
from tallystick.graph.checkpoints import MarkCounts, mark_counts
from tallystick.graph.graph import Graph, GraphError
from tallystick.graph.queries import SessionFilter, SessionRow, list_sessions, outdated_sessions
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.signing import signer_place
from tallystick.live.silences import read_silences, standing
from tallystick.model.moments import write_time
from tallystick.model.recorded import Recorded
from tallystick.recording.checkpoints.write import Rules, read_rules
from tallystick.recording.own_session import RECORDER
from tallystick.recording.store_identity import StoreIdentity, read_store
from tallystick.trust.anchors import targets
from tallystick.trust.external_evidence import outlook
from tallystick.trust.tamper_signals import kept_alarms, open_alarms
from tallystick.workspace.indexing import open_index
from tallystick.workspace.ledger import ledger_entries, sealed_sizes

_LIVE = timedelta(minutes=30)


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes on disk, and how many files of some kinds there are."""

    journals: int
    blobs: int
    blob_files: int
    ledger: int
    index: int
    torn_files: int


class LiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is open, and in which something happened within the last half hour."""

    session: str
    agent: str
    last: str
    steps: int
    title: str | None
    cwd: str | None


class CheckpointStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say of checkpoints, and how many there are; None: the settings are damaged."""

    rules: Rules | None
    by_trigger: dict[str, int] = {}
    replaced: int = 0
    pruned: int = 0


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """Who else remembers the store, as files here say; `tally verify --require A3` asks them."""

    signer: str | None = None
    """Where its signer listens, if it has one."""
    epochs: str | None = None
    """Where the epochs of its key stand, if it has some."""
    anchors: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    """Signs of tampering, of now and of before where no one found them to be over."""
    evidence: int = 0
    """Of how many alarms evidence is kept, of those that are over, too."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """Where a store stands.

    `ledger_size` counts the ledger's entries, `signed_size` those under its newest head (None: none exists). `unsealed`
    counts entries of sessions that no head covers. `sessions` and `steps` are by agent. `index` is `current`, `stale`,
    how many sessions it has by rules of before, or what is wrong with it.
    """

    folder: Path
    store: StoreIdentity
    made: str | None
    ledger_size: int
    signed_size: int | None
    sessions: dict[str, int]
    steps: dict[str, int]
    entries: int
    unsealed: int
    erasures: int
    sizes: Sizes
    index: str
    live: tuple[LiveSession, ...] = ()
    recorder: dict[str, Any] | None = None
    """What the recorder says of itself; None if none runs."""
    checkpoints: CheckpointStatus
    by_status: dict[str, int] = {}
    """Sessions, by how they stand."""
    alerts: int = 0
    attributions: int = 0
    bundles: dict[str, int]
    """What was taken in and handed out, as the ledger says: `import` and `export` entries."""
    guard: Guard
    silences: tuple[str, ...] = ()
    """What the recorder noticed of what it does not hear: hooks that are gone, deliveries that are in no record."""


def store_status(home: Home, *, now: datetime | None = None) -> Status:
    """Where a store stands, as its files say, and what its recorder says.

    Raises:
        NotFoundError: there is no store. FormatError: its ledger begins with something else.
    """
    identity = read_store(home)
    state, rows, counted = _indexed(home)
    ledger = list(ledger_entries(home))
    sealed = sealed_sizes(home)
    by_agent = Counter[str]()
    steps = Counter[str]()
    for row in rows:
        by_agent[row.agent] += 1
        steps[row.agent] += row.steps
    return Status(
        folder=home.folder,
        store=identity,
        made=_recorded(ledger),
        ledger_size=len(ledger),
        signed_size=_signed_size(home),
        sessions=dict(sorted(by_agent.items())),
        steps=dict(sorted(steps.items())),
        entries=sum(row.size for row in rows),
        unsealed=sum(max(row.size - sealed.get(row.session, 0), 0) for row in rows),
        erasures=sum(entry.type == "erasure" for entry in ledger),
        sizes=_sizes(home),
        index=state,
        live=tuple(_live(rows, now or datetime.now(UTC))),
        recorder=recorder.status(home.folder),
        checkpoints=CheckpointStatus(
            rules=_rules(home),
            by_trigger=counted.by_trigger,
            replaced=counted.replaced,
            pruned=counted.pruned,
        ),
        by_status=dict(sorted(Counter(row.status for row in rows).items())),
        alerts=counted.alerts,
        attributions=counted.attributions,
        guard=_guard(home, (now or datetime.now(UTC)).timestamp()),
        silences=tuple(one.said for one in standing(read_silences(home.folder / "run"), now or datetime.now(UTC))),
        bundles={kind: sum(entry.type == kind for entry in ledger) for kind in ("import", "export")},
    )


def _guard(home: Home, now: float) -> Guard:
    try:
        place = signer_place(home)
    except JournalError as error:
        return Guard(signer=str(error))
    around = outlook(home, now=now)
    epochs = None
    if around.signer is not None:
        epochs = around.signer.epochs
    return Guard(
        signer=place.socket if place is not None else None,
        epochs=epochs.told(write_time(datetime.fromtimestamp(now, UTC))) if epochs is not None else None,
        anchors=tuple(target.name for target in targets(home)),
        alarms=open_alarms(home, around),
        evidence=sum(1 for _ in kept_alarms(home)),
    )


def _rules(home: Home) -> Rules | None:
    try:
        return read_rules(home)
    except FormatError:
        return None


def _live(rows: tuple[SessionRow, ...], now: datetime) -> Iterator[LiveSession]:
    for row in rows:
        if row.status != "active" or row.agent == RECORDER or row.last is None:
            continue
        if now - datetime.fromisoformat(row.last) < _LIVE:
            yield LiveSession(
                session=row.session, agent=row.agent, last=row.last, steps=row.steps, title=row.title, cwd=row.cwd
            )


def _recorded(ledger: list[Recorded]) -> str | None:
    found = None
    if ledger:
        found = ledger[0].meta.get("recorded")
    if isinstance(found, str):
        return found
    return None


def _signed_size(home: Home) -> int | None:
    try:
        note = read_note(home)
    except JournalError:
        return None
    if note is None:
        return None
    return note.size


def _indexed(home: Home) -> tuple[str, tuple[SessionRow, ...], MarkCounts]:
    """How the index is, in a word, what it knows of the sessions, and how many marks and alerts it has."""
    try:
        with Graph(home.graph) as graph:
            old = len(outdated_sessions(graph))
            if old:  # said, not done: the recorder does it when it is quiet, or anyone who asks next
                rows = list_sessions(graph, SessionFilter(limit=None))
                return (
                    f"{old:,} of {_sessions(len(rows))} to project again with the current rules",
                    rows,
                    mark_counts(graph),
                )
    except GraphError:
        pass  # it is made or repaired below
    try:
        with open_index(home) as index:
            rows = list_sessions(index.graph, SessionFilter(limit=None))
            return ("stale" if index.remarks else "current"), rows, mark_counts(index.graph)
    except GraphError as error:
        return str(error), (), MarkCounts()


def _sessions(number: int) -> str:
    return f"{number:,} session{'' if number == 1 else 's'}"


def _sizes(home: Home) -> Sizes:
    blobs = [size for _, size in _files(home.blobs)]
    index = [size for path, size in _files(home.folder) if path.name.startswith(home.graph.name)]
    return Sizes(
        journals=sum(path.stat().st_size for _, path in home.sessions()),
        blobs=sum(blobs),
        blob_files=len(blobs),
        ledger=home.ledger.stat().st_size,
        index=sum(index),
        torn_files=len(list(_files(home.torn))),
    )


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """All files below a folder and their sizes. Those that go away meanwhile are passed over."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            with contextlib.suppress(FileNotFoundError):
                yield path, path.stat().st_size
