r"""What hook.py and the recorder say to each other (docs/decisions/0010-hook-protocol.md).

Owns the bytes of a delivery and of its answer, and one connection to the recorder's socket: a line, perhaps a payload, an
answer. A spooled delivery has the same bytes. Must not know what is answered.

    TALLY1 LENGTH AGENT EVENT VERSION TIME_NS ID MONITOR\n   then LENGTH bytes: what stood on the hook's stdin
    EXIT_CODE STDOUT_LENGTH STDERR_LENGTH[ RECEIPT]\n    then the bytes of both

`-` stands for no event and no monitor. There is a receipt where the id asks for one (capture/receipts.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

import msgspec

from tallystick.agents.hooks import Reply
from tallystick.capture.peers import peer_of
from tallystick.errors import FormatError
from tallystick.live.delivery import Delivery

MOST_HEADER = 4096
MOST_DATA = 64 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TooLargeError(FormatError):
    """A payload that no one takes. Its hook knows, and leaves the line that announces it in the spool."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a delivery."""

    length: int
    agent: str
    event: str | None
    version: str
    time_ns: int
    id: str
    monitor: str | None
    peer: int | None = None
    """The process at the other end."""

    def delivery(self, data: bytes, *, spooled: bool = False) -> Delivery:
        """The delivery with this header."""
        return Delivery(
            agent=self.agent,
            data=data,
            event=self.event,
            id=self.id,
            received=moment(self.time_ns),
            monitor=self.monitor,
            spooled=spooled,
            peer=self.peer,
        )


def moment(time_ns: int) -> str:
    """Nanoseconds since 1970 as RFC 3339 in UTC; beyond year 9999 the clock is broken, and 1970 says so."""
    try:
        found = _EPOCH + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        found = _EPOCH
    return found.isoformat(timespec="microseconds")[:-6] + "Z"


def read_header(line: bytes) -> Header:
    """The header in a line.

    Raises:
        FormatError: it is none. TooLargeError: it announces more than 64 MiB.
    """
    words = [word.decode("utf-8", "replace") for word in line.split()]  # of text, other blanks would end a word, too
    if len(words) != 8 or words[0] != "TALLY1" or not (words[1].isdigit() and words[5].isdigit()):
        raise FormatError("not a hook delivery", hint="hook.py and the recorder are of different versions")
    if len(words[1]) < 12:
        length = int(words[1])
    else:
        length = MOST_DATA + 1
    if length > MOST_DATA:
        raise TooLargeError(
            f"a payload of {words[1]} bytes is over the limit of {MOST_DATA}", hint="nothing of it is kept"
        )
    return Header(
        length=length,
        agent=words[2],
        event=None if words[3] == "-" else words[3],
        version=words[4],
        time_ns=int(words[5][:19]),
        id=words[6][:80],
        monitor=None if words[7] == "-" else words[7],
    )


def written(reply: Reply, receipt: str | None = None) -> bytes:
    """The bytes of an answer."""
    head = f"{reply.exit_code} {len(reply.stdout)} {len(reply.stderr)}"
    if receipt is not None:
        head = f"{head} {receipt}"
    return head.encode() + b"\n" + reply.stdout + reply.stderr


READ_SECONDS = 10.0
_MOST_WAITING_BYTES = 128 << 20
_SMALL_BYTES = 64 << 10
_MOST_CONNECTIONS = 1024


class Answerer(Protocol):
    """What a connection needs of the server."""

    def told(self, line: bytes) -> bytes | None:
        """The answer to a line that is not a delivery; None if it is one."""
        ...

    def refused(self, error: FormatError) -> None:
        """Take note of a line that is neither."""
        ...

    def deliver(self, header: Header, data: bytes, answer: Callable[[bytes | None], None]) -> None:
        """Work on a delivery, and call `answer` with the bytes to be sent; None: with nothing."""
        ...


class Gate:
    """All open connections: how many there are, and how much of them waits. Larger payloads wait for room."""

    def __init__(self) -> None:
        self.open = 0
        self.waiting_bytes = 0
        self._paused: list[Connection] = []

    def is_full(self) -> bool:
        """Whether there are more connections than are served."""
        return self.open > _MOST_CONNECTIONS

    def has_room(self, size: int) -> bool:
        """Small ones need not wait for those that announce much and send nothing."""
        return size <= _SMALL_BYTES or self.waiting_bytes + size <= _MOST_WAITING_BYTES

    def pause(self, connection: Connection) -> None:
        """Have a connection go on when there is room again."""
        self._paused.append(connection)

    def give_back(self, size: int) -> None:
        """Say that bytes wait no more, and let others in."""
        self.waiting_bytes -= size
        paused, self._paused = self._paused, []
        for connection in paused:
            connection.go_on()


class Connection(asyncio.Protocol):
    """Anyone who connected, from the first byte to the last."""

    def __init__(self, server: Answerer, gate: Gate, used: Callable[[], None]) -> None:
        self._server, self._gate, self._used = server, gate, used
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle
        self._parts: list[bytes] = []
        self._size = 0
        self._header: Header | None = None
        self._taken = 0
        self._is_answering = False
        self._peer: int | None = None

    # What the event loop calls --------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Someone connected: this user, or no one who is talked to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._gate.open += 1
        self._timer = asyncio.get_running_loop().call_later(READ_SECONDS, transport.abort)
        is_us = False  # the folder keeps others out; this holds if it does not
        with contextlib.suppress(OSError):
            self._peer, user = peer_of(transport.get_extra_info("socket"))
            is_us = user == os.getuid()
        if self._gate.is_full() or not is_us:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        self._parts.append(data)
        self._size += len(data)
        if self._header is None and not self._is_answering:
            self._read_line()
        elif self._header is not None:
            self._read_payload()

    def connection_lost(self, error: Exception | None) -> None:
        """It is over."""
        self._timer.cancel()
        self._gate.open -= 1
        self._used()
        self._parts.clear()
        if self._taken and not self._is_answering:
            self._release()

    # In and out -----------------------------------------------------------------------------------------------------

    def _read_line(self) -> None:
        if len(self._parts) == 1:
            whole = self._parts[0]
        else:
            whole = b"".join(self._parts)
        line, end, rest = whole.partition(b"\n")
        if not end:
            self._parts = [whole]
            if len(whole) > MOST_HEADER:
                self._transport.abort()
            return
        answer = self._server.told(line + end)
        if answer is not None:
            self._is_answering = True
            self._send(answer)
            return
        self._parts, self._size = [rest], len(rest)
        self._take_header(line + end)

    def _take_header(self, line: bytes) -> None:
        try:
            self._header = msgspec.structs.replace(read_header(line), peer=self._peer)
        except TooLargeError:
            self._send(None)  # its hook decides alone, and tells of it through the spool
            return
        except FormatError as error:
            self._server.refused(error)
            self._send(None)  # a hook, if it is one, goes its slow way
            return
        if self._gate.has_room(self._header.length):
            self.go_on()
        else:
            self._transport.pause_reading()
            self._gate.pause(self)

    def go_on(self) -> None:
        """Read the payload, if there is room for it now."""
        if self._header is None or self._transport.is_closing():
            return
        if not self._gate.has_room(self._header.length):
            self._gate.pause(self)
            return
        self._taken = self._header.length
        self._gate.waiting_bytes += self._taken
        self._transport.resume_reading()
        self._read_payload()

    def _read_payload(self) -> None:
        header = self._header
        if header is None or self._is_answering or self._size < header.length:
            return
        self._is_answering = True
        self._timer.cancel()
        data = b"".join(self._parts)[: header.length]
        self._parts.clear()
        self._server.deliver(header, data, self._answer)

    def _answer(self, answer: bytes | None) -> None:
        self._release()
        self._send(answer)

    def _send(self, answer: bytes | None) -> None:
        if answer and not self._transport.is_closing():
            self._transport.write(answer)
        self._transport.close()

    def _release(self) -> None:
        taken, self._taken = self._taken, 0
        self._gate.give_back(taken)
