"""The recorder's process: connections in, deliveries one after another to `operations.live`, answers out.

Owns the socket, what is checked of whoever connects, idling and ending. Deliveries are worked on in the thread that reads
them, in the order in which they came: a second thread costs more in waiting for the interpreter's lock than it saves. Only
the disk is waited for elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import struct
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tallystick.agents.hooks import Reply
from tallystick.capture.place import SOCKET, Place
from tallystick.capture.recorder import STATUS, STOP
from tallystick.errors import FormatError, JournalError, TallystickError
from tallystick.hook import VERSION
from tallystick.operations.live import Delivery, Live, Unfinished
from tallystick.service.spool import deliveries, set_aside
from tallystick.service.unfinished import read_unfinished, write_unfinished
from tallystick.service.wire import MOST_HEADER, TooLargeError, read_header, written

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.capture.http import Listener

_LOG = logging.getLogger(__name__)
_DISK_THREADS = 8
_TICK_SECONDS = 0.5
_SOON_SECONDS = 0.005
_PORT_SECONDS = 0.1
_READ_SECONDS = 10.0
_MOST_WAITING_BYTES = 128 << 20
_SMALL_BYTES = 64 << 10
_MOST_CONNECTIONS = 1024
_BACKLOG = 512
_SPOOL_SECONDS = 0.05
_SPOOL_AGAIN_SECONDS = 5.0
_MOST_FAILURES = 16


class Server:
    """One recorder while it runs."""

    def __init__(self, place: Place, live: Live, *, idle_seconds: float, http: bool = False) -> None:
        """A recorder that ends after `idle_seconds` without use; `http`: it listens on a loopback port too."""
        self.place = place
        self._http = http
        self._listener: Listener | None = None
        self.live = live
        self.began = time.time()
        self._kept: list[Unfinished] = []
        self._changes = 0
        self.last_delivery: str | None = None
        self._idle_seconds = idle_seconds
        self._disk = ThreadPoolExecutor(_DISK_THREADS, thread_name_prefix="tallystick-disk")
        self._last_use = time.monotonic()
        self._open = 0
        self._waiting_bytes = 0
        self._room: asyncio.Condition
        self._stopping: asyncio.Event
        self._took_ms: deque[float] = deque(maxlen=2000)
        self._is_more_spooled = False
        self._spool_not_before = 0.0
        self._socket_id: tuple[int, int] | None = None

    # Life -----------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Answer until nobody needs a recorder any more, or somebody says stop."""
        self._stopping, self._room = asyncio.Event(), asyncio.Condition()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopping.set)
        server = await asyncio.start_unix_server(self._serve, sock=self._listen(), limit=1 << 20, backlog=_BACKLOG)
        try:
            self.live.resume(read_unfinished(self.place.unfinished))
            self._take_spooled()
            await self._open_port()
            while not self._stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(
                        self._stopping.wait(), _SOON_SECONDS if self._is_more_spooled else _TICK_SECONDS
                    )
                if self._tick():
                    self._last_use = time.monotonic()
                if self._is_idle() or not self._is_found():
                    break
        finally:
            server.close()
            if self._listener is not None:
                await self._listener.close()
            await self._settle()
            self._disk.shutdown()
            self._finish()

    async def _open_port(self) -> None:
        """Only now: hooks that wait for the start need the socket, and the port's modules take a while to load."""
        if not self._http:
            return
        await asyncio.sleep(_PORT_SECONDS)
        from tallystick.service.http import listen

        try:
            self._listener = await listen(self)
        except TallystickError as error:
            self.live.counts.last_error = str(error)

    def _listen(self) -> socket.socket:
        """The socket of the store. Its path may be too long for a socket, a name in the working directory is not."""
        os.chdir(self.place.run)
        with contextlib.suppress(FileNotFoundError):
            self.place.socket.unlink()  # the claim is ours, so this is a dead recorder's
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listening.bind(SOCKET)
        finally:
            os.umask(before)
        listening.setblocking(False)
        self._socket_id = self._socket_now()
        return listening

    def _socket_now(self) -> tuple[int, int] | None:
        try:
            status = self.place.socket.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _is_found(self) -> bool:
        """Whether hooks still reach this process: the socket, or all of `run/`, may have been removed, or made anew."""
        return self._socket_now() == self._socket_id

    def _is_idle(self) -> bool:
        if self._open or self.live.is_busy:
            return False
        return time.monotonic() - self._last_use > self._idle_seconds

    async def _settle(self) -> None:
        """Let deliveries that have arrived be answered."""
        until = time.monotonic() + 2
        while self._open and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def _tick(self) -> bool:
        self._take_spooled()
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
        with contextlib.suppress(TallystickError):
            self.live.close()
        self._keep_unfinished()

    def _take_spooled(self) -> None:
        """Take in what waits in the spool, for a moment: whoever waits for an answer meanwhile waits no longer than that."""
        self._is_more_spooled = False
        if time.monotonic() < self._spool_not_before:
            return
        until, taken, failed = time.monotonic() + _SPOOL_SECONDS, [], 0
        for path, delivery in deliveries(self.place.spool, self.place.torn):
            if isinstance(delivery, FormatError):
                self.live.note_gap({"reason": "bad-spool"}, {"content.error": str(delivery)})
            elif self._take_back(path, delivery):
                taken.append(path)
            else:
                failed += 1
            self._is_more_spooled = time.monotonic() > until
            if failed >= _MOST_FAILURES or self._is_more_spooled:
                break
        if failed:  # the store cannot be written: they stay where they are
            self._spool_not_before = time.monotonic() + _SPOOL_AGAIN_SECONDS
        with contextlib.suppress(TallystickError, OSError):
            if taken:
                self.live.scribe.sync()
            for path in taken:
                path.unlink(missing_ok=True)

    def _take_back(self, path: Path, delivery: Delivery) -> bool:
        """Record one spooled delivery; False if that has to wait."""
        try:
            self.live.take(delivery)
        except JournalError as error:
            self.live.counts.last_error = str(error)
            return False
        except Exception:  # it would fail the next time, too, and end this process each time
            _LOG.exception("a spooled delivery of %s failed: %s", delivery.agent, path.name)
            set_aside(path, self.place.torn)
            self.live.note_gap({"reason": "unrecordable"}, {"content.error": f"kept as torn/{path.name}"})
        return True

    # Connections ----------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= _MOST_CONNECTIONS and _is_us(writer.get_extra_info("socket")):
                await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # whoever connected went away, or talks nonsense
        finally:
            self._open -= 1
            self._last_use = time.monotonic()
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_READ_SECONDS):  # not wait_for: that starts a task
            line = await reader.readline()
        if line == STATUS:
            writer.write(json.dumps(self.status()).encode())
        elif line == STOP:
            self._stopping.set()
        elif 0 < len(line) <= MOST_HEADER:
            await self._deliver(line, reader, writer)
        await writer.drain()

    async def _deliver(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            header = read_header(line)
        except TooLargeError:
            return  # its hook decides alone, and tells of it through the spool
        except FormatError as error:
            self.live.note_gap({"reason": "bad-delivery"}, {"content.error": str(error)})
            return  # without an answer: a hook, if it is one, goes its slow way
        if not self._has_room(header.length):
            async with self._room:
                await self._room.wait_for(lambda: self._has_room(header.length))
        self._waiting_bytes += header.length
        try:
            async with asyncio.timeout(_READ_SECONDS):
                data = await reader.readexactly(header.length)
            reply = await self.take(header.delivery(data))
        finally:
            self._waiting_bytes -= header.length
            if header.length > _SMALL_BYTES:
                await self._make_room()
        if reply is not None:
            writer.write(written(reply))
        if header.version != VERSION:
            self._stopping.set()  # another version was installed: the next hook starts that one

    async def _make_room(self) -> None:
        async with self._room:
            self._room.notify_all()

    def _has_room(self, size: int) -> bool:
        """Small ones need not wait for those that announce much and send nothing."""
        return size <= _SMALL_BYTES or self._waiting_bytes + size <= _MOST_WAITING_BYTES

    def used(self) -> None:
        """Somebody needs a recorder."""
        self._last_use = time.monotonic()

    async def take(self, delivery: Delivery) -> Reply | None:
        """Have a delivery recorded and answered. Others are worked on while this one waits for the disk.

        None: a fault of ours. Whoever delivered it must not take that for leave to act.
        """
        began = self._last_use = time.monotonic()
        self.last_delivery = delivery.received
        try:
            reply, settle = self.live.begin(delivery)
        except Exception as error:
            _LOG.exception("a delivery of %s failed", delivery.agent)
            self.live.counts.last_error = f"{type(error).__name__}: {error}"
            return None
        loop = asyncio.get_running_loop()
        if settle is not None:
            await loop.run_in_executor(self._disk, self.live.settled, settle)
        if self.live.changes != self._changes:
            self._changes = self.live.changes
            loop.call_soon(self._keep_unfinished)  # after the answer
        self._took_ms.append((time.monotonic() - began) * 1000)
        return reply

    # What it says of itself -----------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """The recorder's state and counts; times in milliseconds over the last 2,000 deliveries."""
        took = sorted(self._took_ms)
        counts = self.live.counts
        return {
            "pid": os.getpid(),
            "version": VERSION,
            "since": datetime.fromtimestamp(self.began, UTC).isoformat(timespec="seconds"),
            "last_delivery": self.last_delivery,
            "deliveries": counts.deliveries,
            "repeated": counts.repeated,
            "refused": counts.refused,
            "spooled": counts.spooled,
            "lost": counts.lost,
            "unrecorded": self.live.unrecorded,
            "decisions": counts.decisions,
            "last_error": counts.last_error,
            "port": None if self._listener is None else self._listener.port,
            "open_connections": self._open,
            "waiting_bytes": self._waiting_bytes,
            "answer_ms": {"p50": _at(took, 0.5), "p99": _at(took, 0.99), "max": _at(took, 1.0)},
        }


def _at(values: list[float], share: float) -> float | None:
    return round(values[min(int(len(values) * share), len(values) - 1)], 3) if values else None


def _is_us(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's. The folder keeps others out; this holds if it does not."""
    if hasattr(socket, "SO_PEERCRED"):
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", peer)[1] == os.getuid())
    # macOS: struct xucred of LOCAL_PEERCRED begins with version and uid.
    peer = connection.getsockopt(0, 1, 76)
    return bool(struct.unpack("2I", peer[:8])[1] == os.getuid())
