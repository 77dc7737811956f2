"""Sealed steps to NATS as they are recorded, for those who watch agents from elsewhere.

    publisher = NatsPublisher("nats://127.0.0.1:4222")
    recorder.on_step(publisher)

Owns a bounded queue and the thread that empties it: an agent never waits for a broker, let alone for a subscriber. What
does not fit is dropped and counted; anyone who finds a number missing reads that step from the journal (`payloads`).
The client library comes with the extra `nats`, and is imported when the first publisher is made.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any

import msgspec

from tallystick.errors import UsageError
from tallystick.exports.jsonl import write
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_log = logging.getLogger("tallystick")
_BATCH = 256
_RETRY_SECONDS = 0.2
_ANSWER_SECONDS = 2.0
_ENVELOPE_BYTES = 1024
"""What headers and subject may take of the largest message a server accepts."""


class Publishing(msgspec.Struct, frozen=True, kw_only=True):
    """What is published, where to, and how much of it may wait."""

    subject: str = "tally.steps"
    """What the subjects of all messages begin with."""
    stream: str | None = None
    """A JetStream stream to publish into, made if it is not there; None: plain publishing."""
    with_content: bool = True
    """False: only who did what when; no words, arguments, outputs, names."""
    most_steps: int = 10_000
    """So many steps may wait; the oldest is dropped for the newest."""
    most_bytes: int = 64 << 20


_AS_USUAL = Publishing()


class NatsPublisher:
    """Publishes each step to `SUBJECT.SESSION.TYPE`, as one JSON object (the form of `tally export --format jsonl`).

    Each message has the headers `Tally-Session`, `Tally-N` (the step's number: from 0, without gaps in the journal),
    `Tally-Hash`, `Tally-Dropped` (how many steps this publisher had dropped before), and `Nats-Msg-Id`, by which JetStream
    recognises a message that was sent twice. Delivery is at least once, in order within a session. `local.*` values never
    leave. A step larger than the server accepts goes without its content.

    Attributes:
        published, dropped, trimmed: steps that the server took; that did not fit into the queue; that went without content.
    """

    def __init__(
        self,
        servers: str | list[str],
        publishing: Publishing = _AS_USUAL,
        **options: Any,
    ) -> None:
        """Begin to connect; that goes on in the background for as long as it takes.

        Args:
            options: further arguments of `nats.connect`: credentials, TLS.

        Raises:
            UsageError: the client library is not installed.
        """
        try:
            self._nats = importlib.import_module("nats")
        except ImportError as error:
            raise UsageError("nats-py is not installed", hint="pip install 'tallystick[nats]'") from error
        self.published = self.dropped = self.trimmed = 0
        self._servers = servers
        self._publishing = publishing
        self._options = options
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._waiting: deque[tuple[Recorded, int]] = deque()
        self._bytes = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._is_closing = False
        self._gives_up_at = float("inf")
        self._thread = threading.Thread(target=self._run, name="tallystick-nats", daemon=True)
        self._thread.start()

    def __call__(self, step: Recorded) -> None:
        """Take a step to publish. Never waits."""
        if self._pid != os.getpid():
            self._begin()  # a forked child has no copy of the thread, and of what waits its parent has its own
        weight = _weight(step.values) + sum(map(len, step.raw.values()))
        with self._lock:
            if self._is_closing:
                self.dropped += 1
                return
            self._waiting.append((step, weight))
            self._bytes += weight
            while len(self._waiting) > self._publishing.most_steps or (
                self._bytes > self._publishing.most_bytes and len(self._waiting) > 1
            ):
                self._bytes -= self._waiting.popleft()[1]
                self.dropped += 1
        self._news.set()

    @property
    def waiting(self) -> int:
        """How many steps are not with the server yet."""
        return len(self._waiting) + self._under_way

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything was published; whether that was so within `timeout` seconds."""
        until = time.monotonic() + timeout
        while self.waiting and time.monotonic() < until:
            time.sleep(0.005)
        return not self.waiting

    def close(self, timeout: float = 5.0) -> None:
        """Publish what waits, for at most `timeout` seconds; what is left then counts as dropped."""
        if self._pid != os.getpid():
            return
        self._gives_up_at = time.monotonic() + timeout
        with self._lock:
            self._is_closing = True
        self._news.set()
        self._thread.join(timeout + 2 * _ANSWER_SECONDS)
        with self._lock:
            self.dropped += len(self._waiting)
            self._waiting.clear()

    def __enter__(self) -> NatsPublisher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The thread -----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._work())

    def _is_over(self) -> bool:
        return self._is_closing and (not self._waiting or time.monotonic() >= self._gives_up_at)

    async def _work(self) -> None:
        client: Any = None
        try:
            while not self._is_over():
                if client is None or client.is_closed:
                    client = await self._connected()
                elif not client.is_connected:
                    await asyncio.sleep(_RETRY_SECONDS / 4)
                elif self._waiting:
                    await self._send_some(client)
                else:
                    self._news.clear()
                    if not self._waiting and not self._is_closing:
                        await asyncio.to_thread(self._news.wait, 0.5)
        finally:
            if client is not None:
                with suppress(Exception):
                    await asyncio.wait_for(client.close(), _ANSWER_SECONDS)

    async def _connected(self) -> Any:
        """A connection, or None so far."""
        options: dict[str, Any] = {
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": _RETRY_SECONDS,
            "pending_size": -1,  # what cannot be sent waits in our queue, where it is counted
            "error_cb": _ignore,
            "allow_reconnect": True,
            "connect_timeout": 1,
            "ping_interval": 5,
            **self._options,
        }
        client = self._nats.NATS()
        try:
            await asyncio.wait_for(client.connect(self._servers, **options), _ANSWER_SECONDS)
            if self._publishing.stream is not None:
                await self._make_stream(client)
        except Exception as error:
            _log.debug("no connection to NATS yet: %s", error)
            with suppress(Exception):
                await client.close()
            await asyncio.sleep(_RETRY_SECONDS)
            return None
        return client

    async def _make_stream(self, client: Any) -> None:
        context = client.jetstream(timeout=_ANSWER_SECONDS)
        try:
            await context.stream_info(self._publishing.stream)
        except self._nats.js.errors.NotFoundError:
            await context.add_stream(name=self._publishing.stream, subjects=[f"{self._publishing.subject}.>"])

    async def _send_some(self, client: Any) -> None:
        """Send a batch. If the server does not confirm it, it waits on, as the oldest: it will be sent again."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            self._bytes -= sum(weight for _, weight in batch)
            self._under_way = len(batch)
        try:
            await self._send(client, [step for step, _ in batch])
        except Exception as error:
            _log.debug("NATS did not take %d steps: %s", len(batch), error)
            with self._lock:
                self._waiting.extendleft(reversed(batch))
                self._bytes += sum(weight for _, weight in batch)
            await asyncio.sleep(_RETRY_SECONDS)
        else:
            self.published += len(batch)
        finally:
            self._under_way = 0

    async def _send(self, client: Any, steps: list[Recorded]) -> None:
        context = None
        if self._publishing.stream is not None:
            context = client.jetstream(timeout=_ANSWER_SECONDS)
        if context is not None:
            publish = context.publish
        else:
            publish = client.publish
        sending = [
            publish(
                f"{self._publishing.subject}.{step.session}.{step.type}",
                self._payload(step, client),
                headers=self._headers(step),
            )
            for step in steps
        ]
        if context is not None:
            await asyncio.wait_for(asyncio.gather(*sending), 2 * _ANSWER_SECONDS)
            return
        for message in sending:
            await asyncio.wait_for(message, _ANSWER_SECONDS)
        await client.flush(timeout=_ANSWER_SECONDS)

    def _payload(self, step: Recorded, client: Any) -> bytes:
        payload = payload_of(step, with_content=self._publishing.with_content)
        if len(payload) + _ENVELOPE_BYTES > client.max_payload:
            self.trimmed += 1
            payload = payload_of(step, with_content=False)
        return payload

    def _headers(self, step: Recorded) -> dict[str, str]:
        return {
            "Nats-Msg-Id": f"{step.session}:{step.n}",
            "Tally-Session": step.session,
            "Tally-N": str(step.n),
            "Tally-Hash": step.hash,
            "Tally-Dropped": str(self.dropped),
        }


async def _ignore(error: Exception) -> None:
    _log.debug("NATS: %s", error)


def _weight(value: Json) -> int:
    """About how many bytes a value takes."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_weight(item) for item in value.values()) + 16 * len(value)
    if isinstance(value, list):
        return sum(_weight(item) for item in value) + 16
    return 16


def payload_of(step: Recorded, *, with_content: bool = True) -> bytes:
    """What is published of a step."""
    return next(write([step], session=step.session, with_content=with_content)).rstrip(b"\n")


def payloads(home: Home, session: str, *, after: int = -1, with_content: bool = True) -> Iterator[tuple[int, bytes]]:
    """What was or would have been published of a session, from the journal: for a subscriber who missed something.

    Args:
        session: the journal's id. after: the number of the last step that arrived.

    Raises:
        NotFoundError: there is no such session. FormatError: its journal cannot be read.
    """
    for step in read_session(home, session):
        if step.n > after:
            yield step.n, payload_of(step, with_content=with_content)
