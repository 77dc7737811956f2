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

from tallystick.agents.hooks import SILENT, Reply
from tallystick.capture.place import SOCKET, Place
from tallystick.capture.recorder import STATUS, STOP
from tallystick.errors import FormatError, TallystickError
from tallystick.hook import VERSION
from tallystick.operations.live import Delivery, Live, Unfinished
from tallystick.service.spool import deliveries
from tallystick.service.unfinished import read_unfinished, write_unfinished
from tallystick.service.wire import MOST_HEADER, read_header, written

if TYPE_CHECKING:
    from tallystick.capture.http import Listener

_LOG = logging.getLogger(__name__)
_DISK_THREADS = 8
_TICK_SECONDS = 0.5
_PORT_SECONDS = 0.1
_READ_SECONDS = 10.0
_MOST_WAITING_BYTES = 128 << 20
_MOST_CONNECTIONS = 512


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

    # Life -----------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Answer until nobody needs a recorder any more, or somebody says stop."""
        self._stopping, self._room = asyncio.Event(), asyncio.Condition()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopping.set)
        server = await asyncio.start_unix_server(self._serve, sock=self._listen(), limit=1 << 20)
        try:
            self.live.resume(read_unfinished(self.place.unfinished))
            self._take_spooled()
            await self._open_port()
            while not self._stopping.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), _TICK_SECONDS)
                if self._tick():
                    self._last_use = time.monotonic()
                if self._is_idle() or not self.place.socket.exists():
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
        listening.listen(_MOST_CONNECTIONS)
        listening.setblocking(False)
        return listening

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
        for path, delivery in deliveries(self.place.spool, self.place.torn):
            if isinstance(delivery, FormatError):
                self.live.note_gap({"reason": "bad-spool"}, {"content.error": str(delivery)})
                continue
            lost = self.live.counts.lost
            self.live.take(delivery)
            if self.live.counts.lost > lost:
                return  # the store cannot be written: it stays in the spool
            with contextlib.suppress(TallystickError):
                self.live.scribe.sync()
                path.unlink(missing_ok=True)

    # Connections ----------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if _is_us(writer.get_extra_info("socket")):
                await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # whoever connected went away, or talks nonsense
        finally:
            self._open -= 1
            self._last_use = time.monotonic()
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await asyncio.wait_for(reader.readline(), _READ_SECONDS)
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
        except FormatError as error:
            self.live.note_gap({"reason": "bad-delivery"}, {"content.error": str(error)})
            writer.write(written(SILENT))
            return
        async with self._room:
            await self._room.wait_for(lambda: self._waiting_bytes + header.length <= _MOST_WAITING_BYTES)
            self._waiting_bytes += header.length
        try:
            data = await asyncio.wait_for(reader.readexactly(header.length), _READ_SECONDS)
            reply = await self.take(header.delivery(data))
        finally:
            async with self._room:
                self._waiting_bytes -= header.length
                self._room.notify_all()
        writer.write(written(reply))
        if header.version != VERSION:
            self._stopping.set()  # another version was installed: the next hook starts that one

    def used(self) -> None:
        """Somebody needs a recorder."""
        self._last_use = time.monotonic()

    async def take(self, delivery: Delivery) -> Reply:
        """Have a delivery recorded and answered. Others are worked on while this one waits for the disk."""
        began = self._last_use = time.monotonic()
        self.last_delivery = delivery.received
        try:
            reply, settle = self.live.begin(delivery)
        except Exception:  # a fault of ours: the agent goes on, and the log has it
            _LOG.exception("a delivery of %s failed", delivery.agent)
            self.live.counts.lost += 1
            return SILENT
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
