"""A small HTTP/1.1 server on loopback: requests in, whole; responses out. No framework, no routes, no state.

Owns connections and their limits: sizes, times, how many; keep-alive; who is refused before a body is read: a port of
loopback can be reached by every program and every web page of the machine, so the Host header (a page whose name was
pointed at 127.0.0.1 sends its own), Origin and Sec-Fetch-Site (a page of another site says so) and the bearer token
(another user has none) are looked at. The protocol's grammar is h11's. Must not know what is asked or answered.

    async def handler(request: Request) -> Response: ...

    listener = await serve("127.0.0.1", 0, handler, token=None)
    listener.port                     # the one that was free, if 0 was asked for
    await listener.close()            # requests under way are answered, for at most two seconds

* **Refused without the handler**: 403 another Host, Origin or site; 401 no token where one is wanted; 413 a body over
  `body_bytes`; 408 a request that does not arrive in time; 400 no HTTP; 503 too much waiting in all connections together
  (with `Retry-After`: clients of OTLP try again).
* **An error in the handler** is a 500 without details, and goes to the event loop's exception handler.
* **Only loopback.** Another host is refused by `serve` itself: nothing here would protect it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TypeAlias
from urllib.parse import urlsplit

import h11
import msgspec

from tallystick.errors import SourceError

_CHUNK = 1 << 16


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A whole request. `headers` have names in lower case; of a repeated one the values are joined with `, `."""

    method: str
    path: str
    """Up to the question mark, percent signs as they were sent."""
    query: str = ""
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A whole response; `content-length`, `connection` and `date` are not the handler's business."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much, how many, how long."""

    body_bytes: int = 64 << 20
    """The largest body of one request, as it is sent (compressed, if it is)."""
    waiting_bytes: int = 128 << 20
    """Bodies of all connections together that have arrived and are not answered."""
    head_bytes: int = 32 << 10
    connections: int = 256
    request_seconds: float = 30.0
    """From the first byte of a request to its last; and for the reader of a response."""
    idle_seconds: float = 120.0
    """Between two requests of a connection."""
    close_seconds: float = 2.0


class _RefusedError(Exception):
    """The request is answered without the handler, and the connection closed."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Listener:
    """An open port. Made by `serve`."""

    def __init__(self, host: str, handler: Handler, token: str | None, limits: Limits) -> None:
        self.host = host
        self.port = 0
        self.open_connections = 0
        self.waiting_bytes = 0
        self.handler, self.token, self.limits = handler, token, limits
        self._server: asyncio.Server
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.StreamWriter] = set()
        self._closing = False

    @property
    def url(self) -> str:
        """`http://host:port`."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    async def open(self, port: int) -> None:
        """Listen. Raises: OSError."""
        self._server = await asyncio.start_server(self._accept, self.host, port, limit=_CHUNK)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Take no more requests, answer those that are under way, end every connection."""
        self._closing = True
        self._server.close()
        for writer in self._idle:
            writer.close()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self.limits.close_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    @property
    def is_closing(self) -> bool:
        """Whether no more requests are wanted."""
        return self._closing

    @contextlib.contextmanager
    def idling(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        """While nothing of a request has arrived: closing may cut the connection."""
        self._idle.add(writer)
        try:
            yield
        finally:
            self._idle.discard(writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if self.open_connections >= self.limits.connections or self._closing or task is None:
            writer.close()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.open_connections += 1
        try:
            await _Connection(self, reader, writer).run()
        except (OSError, asyncio.CancelledError):
            pass  # it went away, or we do
        finally:
            self.open_connections -= 1
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()


async def serve(
    host: str, port: int, handler: Handler, *, token: str | None = None, limits: Limits | None = None
) -> Listener:
    """Listen on a loopback host; port 0 takes any that is free.

    Raises:
        SourceError: the host is not loopback, or the port cannot be had.
    """
    if not is_loopback(host):
        raise SourceError(f"{host} is not an address of this machine alone", hint="use 127.0.0.1")
    # the name has two addresses, and each a port 0
    if host.lower() == "localhost":
        host = "127.0.0.1"
    listener = Listener(host, handler, token, limits or Limits())
    try:
        await listener.open(port)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise SourceError(f"cannot listen on {host} port {port}: {why}", hint="choose another port") from error
    return listener


class _Connection:
    """One client, request after request."""

    def __init__(self, listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._listener, self._reader, self._writer = listener, reader, writer
        self._limits = listener.limits
        self._protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=self._limits.head_bytes)
        self._is_head = False

    async def run(self) -> None:
        """Answer until either side has had enough."""
        while await self._begins():
            held = _Held(self._listener)
            try:
                async with asyncio.timeout(self._limits.request_seconds):
                    request = await self._request(held)
                await self._send(await self._handle(request))
            except TimeoutError:
                await self._refuse(_RefusedError(408, "the request did not arrive in time"), held)
            except h11.RemoteProtocolError as error:
                await self._refuse(_RefusedError(error.error_status_hint, "not an HTTP request"), held)
            except _RefusedError as refused:
                await self._refuse(refused, held)
            finally:
                held.release()
            if self._protocol.our_state is not h11.DONE or self._protocol.their_state is not h11.DONE:
                return
            self._protocol.start_next_cycle()

    async def _begins(self) -> bool:
        """Wait for the first bytes of a request; False: none exists to come."""
        if self._listener.is_closing:
            return False
        if self._protocol.trailing_data[0]:
            return True
        with self._listener.idling(self._writer):
            try:
                async with asyncio.timeout(self._limits.idle_seconds):
                    data = await self._reader.read(_CHUNK)
            except TimeoutError:
                return False
        self._protocol.receive_data(data)
        return bool(data)

    # In -------------------------------------------------------------------------------------------------------------

    async def _next(self) -> h11.Request | h11.Data | h11.EndOfMessage | h11.ConnectionClosed:
        while True:
            event = self._protocol.next_event()
            if isinstance(event, h11.Request | h11.Data | h11.EndOfMessage | h11.ConnectionClosed):
                return event
            if self._protocol.they_are_waiting_for_100_continue:
                await self._write(h11.InformationalResponse(status_code=100, headers=[]))
            self._protocol.receive_data(await self._reader.read(_CHUNK))

    async def _request(self, held: _Held) -> Request:
        head = await self._next()
        if not isinstance(head, h11.Request):
            raise ConnectionResetError("no request")
        self._is_head = head.method == b"HEAD"
        headers = _joined(head)
        refused = refusal(headers, port=self._listener.port, token=self._listener.token)
        if refused is not None:
            raise _RefusedError(*refused)
        if int(headers.get("content-length", "0")) > self._limits.body_bytes:
            raise _RefusedError(413, f"a body has at most {self._limits.body_bytes} bytes")
        path, query = _path_and_query(head.target.decode("latin-1"))
        body = await self._body(held)
        return Request(method=head.method.decode("latin-1"), path=path, query=query, headers=headers, body=body)

    async def _body(self, held: _Held) -> bytes:
        chunks: list[bytes] = []
        while isinstance(event := await self._next(), h11.Data):
            held.take(len(event.data))
            chunks.append(bytes(event.data))
        if isinstance(event, h11.ConnectionClosed):
            raise ConnectionResetError("cut short")
        return b"".join(chunks)

    # Out ------------------------------------------------------------------------------------------------------------

    async def _handle(self, request: Request) -> Response:
        try:
            return await self._listener.handler(request)
        except Exception as error:
            said = {"message": f"error while answering {request.method}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(said)
            return Response(status=500, body=b"internal error\n")

    async def _send(self, response: Response, *, closing: bool = False) -> None:
        headers = [*response.headers.items(), ("content-length", str(len(response.body)))]
        if closing or self._listener.is_closing:
            headers.append(("connection", "close"))
        await self._write(h11.Response(status_code=response.status, headers=headers))
        if not self._is_head:
            await self._write(h11.Data(data=response.body))
        await self._write(h11.EndOfMessage())

    async def _write(self, event: h11.Event) -> None:
        self._writer.write(self._protocol.send(event) or b"")
        async with asyncio.timeout(self._limits.request_seconds):
            await self._writer.drain()

    async def _refuse(self, refused: _RefusedError, held: _Held) -> None:
        """Say no, and let the client read that before the connection goes: what it still sends is thrown away."""
        held.release()
        if self._protocol.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        extra = {401: {"www-authenticate": "Bearer"}, 503: {"retry-after": "1"}}.get(refused.status, {})
        headers = {"content-type": "text/plain; charset=utf-8", **extra}
        body = f"{refused}\n".encode()
        await self._send(Response(status=refused.status, headers=headers, body=body), closing=True)
        with contextlib.suppress(OSError, TimeoutError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
            async with asyncio.timeout(self._limits.close_seconds):
                while await self._reader.read(_CHUNK):
                    pass


class _Held:
    """What one request adds to the bytes that wait."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._size = 0

    def take(self, size: int) -> None:
        """Count bytes of a body. Raises: _RefusedError."""
        limits = self._listener.limits
        self._size += size
        self._listener.waiting_bytes += size
        if self._size > limits.body_bytes:
            raise _RefusedError(413, f"a body has at most {limits.body_bytes} bytes")
        if self._listener.waiting_bytes > limits.waiting_bytes:
            raise _RefusedError(503, "too much is waiting")

    def release(self) -> None:
        """It is answered."""
        self._listener.waiting_bytes -= self._size
        self._size = 0


def _path_and_query(target: str) -> tuple[str, str]:
    """Of a target in origin form; of one in absolute form (RFC 9112, 3.2.2) too, whose host counts for nothing here."""
    if not target.startswith("/") and "://" in target:
        target = "/" + target.split("://", 1)[1].partition("/")[2]
    path, _, query = target.partition("?")
    return path, query


def _joined(head: h11.Request) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in head.headers:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


_NAMES = frozenset(("localhost",))
_OURS = frozenset(("same-origin", "none"))  # `none`: a person typed the address


def is_loopback(host: str) -> bool:
    """Whether a host, as a name or an address without brackets, is this machine and no other."""
    if host.lower() in _NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal(headers: Mapping[str, str], *, port: int, token: str | None) -> tuple[int, str] | None:
    """The status and reason by which a request is refused; None lets it in.

    Args:
        headers: names in lower case. port: the one that is listened on. token: what `Authorization: Bearer` must hold.
    """
    if not _is_here(f"//{headers.get('host', '')}", port):
        return 403, "the Host header names another host"
    origin = headers.get("origin")
    if origin is not None and not (origin.startswith("http://") and _is_here(origin[len("http:") :], port)):
        return 403, "a page of another origin asked"
    if headers.get("sec-fetch-site", "none") not in _OURS:
        return 403, "a page of another site asked"
    if token is not None and not bears(headers, token):
        return 401, "the bearer token is missing or wrong"
    return None


def bears(headers: Mapping[str, str], token: str) -> bool:
    """Whether the `Authorization` header holds the token. Takes as long for a nearly right one as for any other."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _is_here(address: str, port: int) -> bool:
    """Whether `//host:port` is this listener."""
    try:
        parts = urlsplit(address)
        there = 80
        if parts.port is not None:
            there = parts.port
    except ValueError:
        return False
    return parts.hostname is not None and is_loopback(parts.hostname) and there == port and parts.username is None
