"""The recorder's process: connections in, deliveries one after another to `live.hook_pipeline`, answers out.

Owns the socket, what is checked of anyone who connects, idling and ending. Deliveries are worked on in the thread that
reads them, in the order in which they came: a second thread costs more in waiting for the interpreter's lock than it
saves. Only the disk is waited for elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tallystick.agents.hooks import Reply
from tallystick.capture.place import Place, listen
from tallystick.capture.receipts import Deliveries
from tallystick.capture.recorder import STATUS, STOP, WORKING
from tallystick.errors import FormatError, JournalError, TallystickError
from tallystick.hook import VERSION
from tallystick.journal.archive import system_clock
from tallystick.journal.keys import spool_key
from tallystick.live.delivery import Delivery, Unfinished
from tallystick.live.hook_pipeline import Done, HookPipeline, Settle, Then
from tallystick.service.deciders import Deciders
from tallystick.service.guarding import Guarding
from tallystick.service.indexing import Indexing
from tallystick.service.noticing import Noticing
from tallystick.service.shadowing import Shadowing
from tallystick.service.spool import deliveries, late_answers, read_unfinished, set_aside, write_unfinished
from tallystick.service.wire import Connection, Gate, Header, written

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.capture.http import Listener

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
_DISK_THREADS = 8
_QUICK_SECONDS = 0.0005
_DISK_MEMORY = 16
"""Over how many waits the time that the disk takes is averaged."""
_TICK_SECONDS = 0.5
_SOON_SECONDS = 0.005
_QUIET_SECONDS = 0.3
_PORT_SECONDS = 0.1
_BACKLOG = 512
_SPOOL_SECONDS = 0.05
_SPOOL_AGAIN_SECONDS = 5.0
_MOST_FAILURES = 16


class Chores(msgspec.Struct, frozen=True):
    """What a recorder does besides answering on its socket, most of it while no one waits."""

    indexing: Indexing
    """Has another process bring the index up to date, and drop the old."""
    guarding: Guarding
    """Looks around the store."""
    deciders: Deciders
    """Judges calls."""
    warm: Callable[[], None]
    """Loads what the first session would otherwise wait for."""
    http: bool
    """Whether it listens on a loopback port too."""
    shadowing: Shadowing | None = None
    """Compares sessions that have ended with their transcripts."""
    noticing: Noticing | None = None
    """Looks for what is not heard of."""


class Server:
    """One recorder while it runs."""

    def __init__(
        self,
        place: Place,
        live: HookPipeline,
        chores: Chores,
        *,
        idle_seconds: float,
    ) -> None:
        """A recorder that ends after `idle_seconds` without use."""
        self.place = place
        self._warm = chores.warm
        self._indexing = chores.indexing
        self._guarding = chores.guarding
        self._deciders = chores.deciders
        self._shadowing = chores.shadowing
        self._noticing = chores.noticing
        self._at_work: asyncio.Future[None] | None = None
        self._looks: asyncio.Future[None] | None = None
        self._has_port = chores.http
        self._listener: Listener | None = None
        self.live = live
        self.began = time.time()
        self._kept: list[Unfinished] = []
        self._changes = 0
        self.last_delivery: str | None = None
        self._idle_seconds = idle_seconds
        self._disk = ThreadPoolExecutor(_DISK_THREADS, thread_name_prefix="tallystick-disk")
        self._last_use = time.monotonic()
        self._last_delivered = float("-inf")
        self._disk_seconds = _QUICK_SECONDS * 2
        """How long the disk took lately."""
        self._gate = Gate()
        self._stopping: asyncio.Event
        self._took_ms: deque[float] = deque(maxlen=2000)
        self._is_more_spooled = False
        self._spool_not_before = 0.0
        self._spool_key: bytes | None = None
        self._deliveries: Deliveries | None = None
        self._socket_id: tuple[int, int] | None = None

    # Life -----------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Answer until no one needs a recorder any more, or someone says stop."""
        self._stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopping.set)
        await self._attempt("what hooks note", self._give_receipts)
        server = await loop.create_unix_server(
            lambda: Connection(self, self._gate, self.used), sock=self._listen(), backlog=_BACKLOG
        )
        try:
            self._deciders.start()
            await self._attempt("what another recorder left", self._resume)
            await self._attempt("the spool", self._take_spooled)
            await self._open_port()
            while not self._stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(
                        self._stopping.wait(), _SOON_SECONDS if self._is_more_spooled else _TICK_SECONDS
                    )
                if await self._attempt("time passing", self._tick):
                    self._last_use = time.monotonic()
                await self._attempt("asking the indexer", self._ask_indexer)
                await self._attempt("what is done in quiet moments", self._work_when_quiet)
                await self._attempt("looking for what is not heard of", self._notice)
                if self._is_idle() or not self._is_found() or self.live.session_writer.is_poisoned:
                    break
            self._note_stranger(self.place.other_listener())
        finally:
            server.close()
            if self._listener is not None:
                await self._listener.close()
            await self._settle()
            await self._deciders.close()
            self._disk.shutdown()
            if self._shadowing is not None:
                self._shadowing.close()
            self._finish()

    async def _attempt(self, what: str, work: Callable[[], Awaitable[_T]]) -> _T | None:
        """Do something beside answering. Whatever is wrong with it, hooks are answered."""
        try:
            return await work()
        except Exception as error:
            self._note_fault(what, error)
            return None

    def _note_fault(self, what: str, error: Exception) -> None:
        _LOG.error("%s: a fault of Tallystick", what, exc_info=error)
        self.live.counts.last_error = f"{what}: {type(error).__name__}: {error}"

    async def _give_receipts(self) -> None:
        """Have hooks note what they deliver, before the first is answered. Without a key no one could tell our receipts."""
        try:
            self._spool_key = spool_key(self.live.session_writer.home)
            self._deliveries = Deliveries(self.place.run, self.place.spool, self._spool_key)
            self._deliveries.begin()
        except (JournalError, OSError):  # and nothing in the spool is known as our hook's
            self._deliveries = None
            with contextlib.suppress(OSError):
                self.place.deliveries.unlink()
        if self._noticing is not None:
            self._noticing.deliveries = self._deliveries

    def _note_stranger(self, pid: int | None) -> None:
        if pid is not None:
            self.live.own_alerts.stranger(pid)

    async def _resume(self) -> None:
        self.live.resume(read_unfinished(self.place.unfinished))
        if self.place.killed is not None:
            self.live.own_alerts.killed(self.place.killed)
        self._note_stranger(self.place.stranger)

    async def _open_port(self) -> None:
        """Only now: hooks that wait for the start need the socket, and the port's modules take a while to load."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), _PORT_SECONDS)
            return  # it is to end already: nothing needs to be loaded
        try:
            await asyncio.get_running_loop().run_in_executor(self._disk, self._warm)
        except Exception as error:  # the first call loads what this did not
            self._note_fault("loading before the first call", error)
        finally:
            gc.enable()
        gc.freeze()  # what was loaded stays: it is not looked through again and again while someone waits
        if not self._has_port or self._stopping.is_set():
            return
        try:
            from tallystick.service import http

            self._listener = await http.listen(
                self.place, http.Served(self.status, self.take, self.used, self.live.session_writer)
            )
        except TallystickError as error:
            self.live.counts.last_error = str(error)
        except Exception as error:
            self._note_fault("opening the port", error)

    def _listen(self) -> socket.socket:
        """The socket of the store."""
        listening = listen(self.place.socket)
        self._socket_id = self._socket_now()
        return listening

    def _socket_now(self) -> tuple[int, int] | None:
        try:
            status = self.place.socket.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _is_found(self) -> bool:
        """Whether hooks still reach this process: the socket, or all of `run/`, may have been removed, or rebuilt."""
        return self._socket_now() == self._socket_id

    def _is_idle(self) -> bool:
        if self._gate.open or self.live.is_busy:
            return False
        return time.monotonic() - self._last_use > self._idle_seconds

    async def _ask_indexer(self) -> None:
        self._indexing.tick()

    async def _work_when_quiet(self) -> None:
        """Look around the store or have sessions compared with their transcripts, if no delivery came lately."""
        is_busy = self._at_work is not None and not self._at_work.done()
        is_quiet = not self._gate.open and time.monotonic() - self._last_delivered > _QUIET_SECONDS
        due = next((work for work in (self._guarding, self._shadowing) if work is not None and work.is_due), None)
        if due is not None and is_quiet and not is_busy:
            self._at_work = asyncio.get_running_loop().run_in_executor(self._disk, due.work)

    async def _notice(self) -> None:
        """Look for what is not heard of, busy or not: it is little, and waits for no quiet moment."""
        is_looking = self._looks is not None and not self._looks.done()
        if self._noticing is not None and self._noticing.is_due and not is_looking:
            self._looks = asyncio.get_running_loop().run_in_executor(self._disk, self._noticing.work)

    async def _settle(self) -> None:
        """Let deliveries that have arrived be answered."""
        until = time.monotonic() + 2
        while self._gate.open and time.monotonic() < until:
            await asyncio.sleep(0.01)

    async def _tick(self) -> bool:
        await self._take_spooled()
        try:
            was_new = self.live.tick()
        except Exception:
            _LOG.exception("transcripts could not be read")
            return False
        self._keep_unfinished()
        return was_new

    def _keep_unfinished(self) -> None:
        unfinished = self.live.unfinished
        if unfinished != self._kept:
            with contextlib.suppress(TallystickError):
                write_unfinished(self.place.unfinished, unfinished)
                self._kept = unfinished

    def _finish(self) -> None:
        self._indexing.close()
        with contextlib.suppress(TallystickError):
            self.live.close()
        self._keep_unfinished()

    async def _take_spooled(self) -> None:
        """Record for a moment what waits in the spool, and no longer: callers wait for answers meanwhile."""
        self._is_more_spooled = False
        if time.monotonic() < self._spool_not_before:
            return
        self.live.undecided.add(late_answers(self.place.spool), system_clock())
        until, taken, failed = time.monotonic() + _SPOOL_SECONDS, {}, 0
        for path, delivery in deliveries(self.place.spool, self.place.torn, self._spool_key):
            if isinstance(delivery, FormatError):
                self.live.note_gap({"reason": "bad-spool"}, {"content.error": str(delivery)})
                self._settle_kept({path: "-"})
            elif await self._take_back(path, delivery):
                taken[path] = delivery.agent
            else:
                failed += 1
            self._is_more_spooled = time.monotonic() > until
            if failed >= _MOST_FAILURES or self._is_more_spooled:
                break
        if failed:  # the store cannot be written: they stay where they are
            self._spool_not_before = time.monotonic() + _SPOOL_AGAIN_SECONDS
        with contextlib.suppress(TallystickError, OSError):
            if taken:
                self.live.session_writer.sync()
                self._settle_kept(taken)
            for path in taken:
                path.unlink(missing_ok=True)

    def _settle_kept(self, agents: Mapping[Path, str]) -> None:
        """Say of deliveries that were kept, with the agent of each, that they are recorded."""
        if self._deliveries is not None:
            self._deliveries.settle({path.name.partition(".")[0]: agent for path, agent in agents.items()})

    async def _take_back(self, path: Path, delivery: Delivery) -> bool:
        """Record one spooled delivery; False if that has to wait."""
        done = await self._worked_on(delivery)
        if isinstance(done, JournalError):
            self.live.counts.last_error = str(done)
            return False
        if isinstance(done, Exception):  # it would fail the next time, too, and end this process each time
            _LOG.error("a spooled delivery of %s failed: %s", delivery.agent, path.name, exc_info=done)
            set_aside(path, self.place.torn)
            self.live.note_gap({"reason": "unrecordable"}, {"content.error": f"kept as torn/{path.name}"})
        elif done.settle is not None:
            self.live.settled(done.settle)
        return True

    # Connections ----------------------------------------------------------------------------------------------------

    def told(self, line: bytes) -> bytes | None:
        """The answer to a line that is not a delivery; None if it is one."""
        if line == STATUS:
            return json.dumps(self.status()).encode()
        if line == WORKING:
            return json.dumps(self.live.working()).encode()
        if line == STOP:
            self._stopping.set()
            return b""
        return None

    def refused(self, error: FormatError) -> None:
        """Take note of a line that is neither."""
        self.live.note_gap({"reason": "bad-delivery"}, {"content.error": str(error)})

    def deliver(self, header: Header, data: bytes, answer: Callable[[bytes | None], None]) -> None:
        """Work on a delivery, and call `answer` with the bytes to be sent, once what it waits for is on disk."""
        began = time.monotonic()

        def ended(reply: Reply | None) -> None:
            self._took(began)
            answer(None if reply is None else written(reply, self._receipt_of(header.id)))
            if header.version != VERSION:
                self._stopping.set()  # another version was installed: the next hook starts that one

        def recorded(done: Done | Exception) -> None:
            if isinstance(done, Exception):
                self._note_fault(f"a delivery of {header.agent}", done)
                ended(None)
            elif (waiting := self._settled(done.settle)) is None:
                ended(done.reply)
            else:
                waiting.add_done_callback(lambda _: ended(done.reply))

        self._begin(header.delivery(data), recorded)

    def _receipt_of(self, id_: str) -> str | None:
        if self._deliveries is None:
            return None
        return self._deliveries.receipt_of(id_)

    def used(self) -> None:
        """Someone needs a recorder."""
        self._last_use = time.monotonic()

    async def take(self, delivery: Delivery) -> Reply | None:
        """Have a delivery recorded and answered. Others are worked on while this one waits for the disk.

        None: a fault of ours. Anyone who delivered it must not take that for leave to act.
        """
        began = time.monotonic()
        done = await self._worked_on(delivery)
        if isinstance(done, Exception):
            self._note_fault(f"a delivery of {delivery.agent}", done)
            return None
        waiting = self._settled(done.settle)
        if waiting is not None:
            await waiting
        self._took(began)
        return done.reply

    async def _worked_on(self, delivery: Delivery) -> Done | Exception:
        """How a delivery ended."""
        ended: asyncio.Future[Done | Exception] = asyncio.get_running_loop().create_future()

        def end(done: Done | Exception) -> None:
            if not ended.done():
                ended.set_result(done)

        self._begin(delivery, end)
        return await ended

    def _settled(self, settle: Settle | None) -> asyncio.Future[None] | None:
        """Make a delivery durable: at once where the disk is quick, for a thread costs more than that; else in a thread."""
        if settle is None:
            return None
        if self._disk_seconds > _QUICK_SECONDS:
            return asyncio.get_running_loop().run_in_executor(self._disk, self._settle_timed, settle)
        self._settle_timed(settle)
        return None

    def _settle_timed(self, settle: Settle) -> None:
        began = time.monotonic()
        self.live.settled(settle)
        self._disk_seconds += (time.monotonic() - began - self._disk_seconds) / _DISK_MEMORY

    def _begin(self, delivery: Delivery, then: Then) -> None:
        self._last_use = self._last_delivered = time.monotonic()
        self.last_delivery = delivery.received
        try:
            self.live.begin(delivery, then)
        except Exception as error:
            then(error)

    def _took(self, began: float) -> None:
        if self.live.changes != self._changes:
            self._changes = self.live.changes
            asyncio.get_running_loop().call_soon(self._keep_unfinished)  # after the answer
        self._took_ms.append((time.monotonic() - began) * 1000)

    # What it says of itself -----------------------------------------------------------------------------------------

    def _marks(self) -> dict[str, Any]:
        """How automatic checkpoints fared."""
        counts = self.live.checkpoints.counts
        said = {"made": counts.made, "refused": counts.refused, "failed": counts.failed}
        if counts.last_error is None:
            return said
        return {**said, "last_error": counts.last_error}

    def status(self) -> dict[str, Any]:
        """The recorder's state and counts; times in milliseconds over the last 2,000 deliveries."""
        took = sorted(self._took_ms)
        counts = self.live.counts
        return {
            "pid": os.getpid(),
            "version": VERSION,
            "since": datetime.fromtimestamp(self.began, UTC).isoformat(timespec="seconds"),
            "killed_before": self.place.killed,
            "last_delivery": self.last_delivery,
            "deliveries": counts.deliveries,
            "repeated": counts.repeated,
            "refused": counts.refused,
            "spooled": counts.spooled,
            "lost": counts.lost,
            "unrecorded": self.live.unrecorded,
            "decisions": counts.decisions,
            "undecided_last_hour": self.live.undecided.count(system_clock()),
            "decider": {"pid": self._deciders.pid, "replaced": self._deciders.replaced},
            "agreement": self.live.agreement.told(),
            "checkpoints": self._marks(),
            "last_error": counts.last_error,
            "anchoring_problem": self._guarding.problem,
            "signing_problem": None if (problem := self.live.session_writer.signing_problem) is None else str(problem),
            "indexer": self._indexing.told(),
            "shadower": None if self._shadowing is None else self._shadowing.told(),
            "port": None if self._listener is None else self._listener.port,
            "open_connections": self._gate.open,
            "waiting_bytes": self._gate.waiting_bytes,
            "answer_ms": {"p50": _at(took, 0.5), "p99": _at(took, 0.99), "max": _at(took, 1.0)},
        }


def _at(values: list[float], share: float) -> float | None:
    if values:
        return round(values[min(int(len(values) * share), len(values) - 1)], 3)
    return None
