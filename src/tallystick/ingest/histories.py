"""Taking in the histories that agents keep on a machine: finding them, importing them, and keeping the index in step.

Owns which files are meant and which store they go to. What makes an import idempotent is import_.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tallystick.agents import Adapter
from tallystick.capture.discover import Found, Refused, discover, files_below, recognise
from tallystick.errors import TallystickError
from tallystick.graph.graph import Graph, GraphError, Mode
from tallystick.graph.journals import Depth
from tallystick.graph.lookup import Known, known_step
from tallystick.ingest.import_ import Importer, ImportReport, Progress
from tallystick.ingest.import_workers import ImportWorkers, Worker, start_workers
from tallystick.ingest.ledger_checks import LedgerReport, check_ledgers, seal_broken
from tallystick.ingest.shared_events import Place, SharedEvents
from tallystick.journal.home import Home
from tallystick.model.ids import SessionId
from tallystick.recording.store import init_store, local_zone, open_archive
from tallystick.workspace.index_writer import claim
from tallystick.workspace.indexing import bring_up_to_date, refresh_index

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Imported(msgspec.Struct, frozen=True):
    """What became of an import. `made_store`: there was no store before. `remarks` are about the index."""

    report: ImportReport
    made_store: bool
    ledgers: tuple[LedgerReport, ...] = ()
    remarks: tuple[str, ...] = ()


def find_histories(below: Path, paths: Sequence[Path], adapters: Mapping[str, Adapter]) -> list[Found | Refused]:
    """The history files among `paths`, or, if none exist, where agents keep theirs below a home folder."""
    return list(recognise(paths, adapters) if paths else discover(below, adapters))


def count_passed_over(paths: Sequence[Path], found: Sequence[Found | Refused]) -> int:
    """How many files in folders that a person named are not history of an agent."""
    known = {item.path for item in found}
    return sum(file not in known for path in paths for file in files_below(path))


class Reading(msgspec.Struct, frozen=True):
    """How files are read."""

    zone: tzinfo | None = None
    """By which times without a zone are read; None: this machine's."""
    again: bool = False
    """Whether they are read from the beginning even if nothing in them is new."""
    workers: ImportWorkers | None = None
    """The processes that help (`import_workers`). What is recorded is the same without."""


def import_histories(
    home: Home,
    found: Sequence[Found | Refused],
    adapters: Mapping[str, Adapter],
    reading: Reading | None = None,
    *,
    progress: Progress | None = None,
) -> Imported:
    """Import files into a store, which is made if it is not there, and bring its index up to date.

    Raises:
        JournalError: the store cannot be opened or written.
    """
    reading = reading or Reading()
    workers = reading.workers
    made = init_store(home)
    remarks: list[str] = []
    with closing(open_archive(home)) as archive, _index(home, remarks) or nullcontext() as graph:
        index = _Follower(home, graph, remarks)
        if workers is not None:
            index = _FarFollower(home, graph, remarks, workers.indexer)
        files = None
        if workers is not None:
            files = workers.files
        importer = Importer(archive, adapters, reading.zone or local_zone(), index, files)
        report = importer.run(found, again=reading.again, progress=progress)
        index.finish()
    ledgers = tuple(check_ledgers(report))
    seal_broken(home, ledgers)
    return Imported(report, made, ledgers, tuple(remarks))


def _index(home: Home, remarks: list[str]) -> Graph | None:
    try:
        return Graph(home.graph, Mode.WRITE)
    except GraphError as error:
        remarks.append(f"imported without the index: {error}; {error.hint}")
        return None


def import_workers(
    home: Home, found: Sequence[Found | Refused], adapters: Mapping[str, Adapter]
) -> AbstractContextManager[ImportWorkers | None]:
    """The processes for a large import, to be started before anything else is: threads, bars, the store. None: no need."""
    return start_workers(home, found, adapters, _keep_index) or nullcontext()


class _Follower:
    """The index beside an import. If it fails, the import goes on without it."""

    shared: SharedEvents | None = None

    def __init__(self, home: Home, graph: Graph | None, remarks: list[str]) -> None:
        self._home = home
        self._graph = graph
        self._remarks = remarks
        if graph is not None:
            self.project(None)

    def _try(self, use: Callable[[Graph], object]) -> object:
        if self._graph is None:
            return None
        try:
            return use(self._graph)
        except TallystickError as error:
            self._remarks.append(f"the index is behind: {error}; {error.hint or '`tally rebuild` makes it anew'}")
            self._graph = None
            return None

    def project(self, sids: Sequence[SessionId] | None) -> None:
        """Take in the steps of sessions that have grown; of none, what follows from all of them; of None, all there is."""
        self._try(lambda graph: self._refresh(graph, sids))

    def _refresh(self, graph: Graph, sids: Sequence[SessionId] | None) -> None:
        depth = Depth.STEPS if sids else Depth.TEXT
        with claim(self._home) as is_mine:
            if is_mine:
                bring_up_to_date(self._home, graph, sessions=sids, depth=depth)
                return
        refresh_index(self._home, sessions=sids, depth=depth)

    def elsewhere(self, agent: str, source_id: str) -> Place | None:
        """The entry that has the agent's event already, as far as the index knows."""
        found = self._try(lambda graph: known_step(graph, agent, source_id))
        if not isinstance(found, Known):
            return None
        return Place(SessionId(found.session), found.n, found.hash)

    def finish(self) -> None:
        """The import is over: what is made of all sessions together is made once."""
        self.project([])


class _FarFollower(_Follower):
    """The same, kept by another process. It is not waited for until the import is over."""

    def __init__(self, home: Home, graph: Graph | None, remarks: list[str], indexer: Worker) -> None:
        self.shared = SharedEvents()
        self._indexer = indexer
        self._due: dict[SessionId, None] = {}
        super().__init__(home, graph, remarks)

    def project(self, sids: Sequence[SessionId] | None) -> None:
        """Tell which sessions have grown; before the import, take all of them in here."""
        if sids is None:
            super().project(None)
            return
        self._due |= dict.fromkeys(sids)
        if self._graph is not None and self._indexer.takes_more():
            self._send(list(self._due))
            self._due = {}

    def finish(self) -> None:
        """Wait until the index has everything."""
        if self._graph is None:
            return
        self._send(list(self._due))
        self._send(None)
        try:
            self._remarks += self._indexer.connection.recv()
        except (EOFError, OSError):
            self._remarks.append(
                "the index is behind: the process that kept it has ended; the next question brings it on"
            )

    def _send(self, sids: list[SessionId] | None) -> None:
        with suppress(OSError):  # it has ended: `finish` says so
            self._indexer.connection.send(sids)


def _keep_index(home: Home, connection: Connection) -> None:
    """What the process of the index does: take in what has grown, until nothing will any more."""
    remarks: list[str] = []
    follower: _Follower | None = None
    is_over = False
    while not is_over:
        due: dict[SessionId, None] = {}
        while True:
            told = connection.recv()
            is_over = told is None
            due |= dict.fromkeys(told or ())
            if is_over or not connection.poll():
                break
        if follower is None:
            follower = _Follower(home, _index(home, remarks), remarks)
        if due:
            follower.project(list(due))
        if is_over:
            follower.finish()
    connection.send(remarks)
