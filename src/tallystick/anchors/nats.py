"""A JetStream subject as an anchor: a server elsewhere that keeps messages, in a stream that deletes none.

Owns publishing heads, reading them back, and what the stream's own settings say of deleting. The client library comes with
the extra `nats`. Source: NATS documentation, JetStream, stream configuration (deny_delete, deny_purge).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from tallystick.anchors.kept import AnchorError, Guarded, Kept
from tallystick.errors import FormatError
from tallystick.seal.limits import NOTE_BYTES
from tallystick.seal.note import parse_note

if TYPE_CHECKING:
    from nats.js import JetStreamContext
    from nats.js.api import RawStreamMsg

_SECONDS = 10.0
_MOST_HEADS = 100_000
_STREAM = "TALLYSTICK"
_T = TypeVar("_T")


def default_subject(store_id: str) -> str:
    """The subject of a store's heads: `tallystick.heads.<store id>`."""
    return f"tallystick.heads.{store_id}"


class NatsAnchor:
    """One subject on one server."""

    def __init__(self, url: str, subject: str) -> None:
        """Speak with the server at `url`.

        Raises:
            AnchorError: the client library is not installed, or the subject is none.
        """
        try:
            import nats  # noqa: F401
        except ImportError as error:
            raise AnchorError("NATS needs a library", hint="pip install 'tallystick[nats]'") from error
        if not subject or any(sign in subject for sign in " *>\t\r\n"):
            raise AnchorError(f"{subject[:120]!r} is not a subject for publishing")
        self.url, self.subject = url, subject

    def put(self, note: bytes) -> Kept:
        """Publish a head, once the stream has said that it keeps it. A stream is made where none takes the subject.

        Raises:
            AnchorError: the server cannot be reached, or refuses.
        """

        async def publish() -> Kept:
            async with self._connected() as stream:
                await self._stream(stream, make=True)
                taken = await stream.publish(self.subject, note, timeout=_SECONDS)
                return await self._message(stream, taken.stream, taken.seq)

        return self._run(publish())

    def heads(self) -> list[Kept]:
        """All heads on the subject, oldest first. What is no head of ours is passed over. Raises AnchorError."""

        async def read() -> list[Kept]:
            async with self._connected() as stream:
                name = await self._stream(stream, make=False)
                if name is None:
                    return []
                return await self._all(stream, name)

        return self._run(read())

    def guarded(self) -> Guarded:
        """What the stream's settings say. Raises AnchorError."""

        async def look() -> Guarded:
            async with self._connected() as stream:
                name = await self._stream(stream, make=True)
                config = (await stream.stream_info(str(name))).config
                refuses = (
                    bool(config.deny_delete)
                    and bool(config.deny_purge)
                    and not config.max_age
                    and not _is_bounded(config)
                )
                if refuses:
                    return Guarded(
                        keeps=True, says=f"stream {name} deletes no message; its administrator can delete the stream"
                    )
                return Guarded(
                    keeps=False, says=f"stream {name} lets messages go: it wants deny_delete, deny_purge and no limits"
                )

        return self._run(look())

    # The server -------------------------------------------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        from nats.errors import Error

        try:
            return asyncio.run(asyncio.wait_for(work, 6 * _SECONDS))
        except (Error, OSError, TimeoutError, ValueError) as error:
            raise AnchorError(f"{self.url}, subject {self.subject}: {str(error) or type(error).__name__}") from error

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[JetStreamContext]:
        import nats

        async def silent(_: Exception) -> None:
            return None

        client = await nats.connect(
            self.url, connect_timeout=_SECONDS, max_reconnect_attempts=1, allow_reconnect=False, error_cb=silent
        )
        try:
            yield client.jetstream(timeout=_SECONDS)
        finally:
            await client.close()

    async def _stream(self, stream: JetStreamContext, *, make: bool) -> str | None:
        """The name of the stream that takes the subject."""
        from nats.js.api import StreamConfig
        from nats.js.errors import NotFoundError

        try:
            return await stream.find_stream_name_by_subject(self.subject)
        except NotFoundError:
            if not make:
                return None
        if self.subject.startswith("tallystick.heads."):
            subjects = ["tallystick.heads.>"]
        else:
            subjects = [self.subject]
        config = StreamConfig(name=_STREAM, subjects=subjects, deny_delete=True, deny_purge=True)
        return (await stream.add_stream(config)).config.name

    async def _message(self, stream: JetStreamContext, name: str, sequence: int) -> Kept:
        return _kept(name, await stream.get_msg(name, sequence))

    async def _all(self, stream: JetStreamContext, name: str) -> list[Kept]:
        from nats.js.errors import NotFoundError

        kept, sequence = list[Kept](), 1
        while len(kept) < _MOST_HEADS:
            try:
                found = await stream.get_msg(name, sequence, subject=self.subject, next=True)
            except NotFoundError:
                break
            if _is_head(found.data or b""):
                kept.append(_kept(name, found))
            sequence = (found.seq or sequence) + 1
        return kept


def _kept(name: str, found: RawStreamMsg) -> Kept:
    at = found.time
    return Kept(
        note=found.data or b"",
        receipt=f"{name} #{found.seq}",
        at=f"{at:%Y-%m-%dT%H:%M:%S.%f}Z" if at is not None else None,
    )


def _is_head(data: bytes) -> bool:
    try:
        parse_note(data[: NOTE_BYTES + 1])
    except FormatError:
        return False
    return True


def _is_bounded(config: Any) -> bool:
    """Whether the stream forgets the oldest messages when there are many."""
    limits = (config.max_msgs, config.max_bytes, config.max_msgs_per_subject)
    return any(limit is not None and limit > 0 for limit in limits)
