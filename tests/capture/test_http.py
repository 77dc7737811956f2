"""The HTTP server: what it takes, what it refuses before the handler is asked, and how its connections end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from tallystick.capture.http import Handler, Limits, Listener, Request, Response, serve
from tallystick.errors import SourceError
from tests.support.cases import each_case

SMALL = Limits(body_bytes=1000, waiting_bytes=1500, connections=4)
"""Little of everything but time: a machine that is busy must not make of any other answer one that says *too late*."""
HASTY = Limits(
    body_bytes=1000, waiting_bytes=1500, connections=4, request_seconds=0.3, idle_seconds=0.3, close_seconds=0.3
)
"""For a client that says nothing more, which is what is waited for."""


class Seen(list[Request]):
    """A handler that answers with what it was asked."""

    async def __call__(self, request: Request) -> Response:
        self.append(request)
        return Response(headers={"content-type": "text/plain"}, body=b"got " + request.body)


@contextlib.asynccontextmanager
async def listening(handler: Handler, *, token: str | None = None, limits: Limits = SMALL) -> AsyncIterator[Listener]:
    listener = await serve("127.0.0.1", 0, handler, token=token, limits=limits)
    try:
        yield listener
    finally:
        await listener.close()


async def ask(listener: Listener, *parts: bytes, pause: float = 0.0) -> bytes:
    """All that comes back for bytes sent, until the connection ends. PORT in them is the listener's port."""
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    try:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                writer.write(part.replace(b"PORT", str(listener.port).encode()))
                await writer.drain()
                await asyncio.sleep(pause)
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def post(body: bytes, *lines: str, host: str = "127.0.0.1:PORT", close: bool = True) -> bytes:
    head = ["POST /v1/logs?x=1 HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *lines]
    return "\r\n".join([*head, *(["Connection: close"] if close else []), "", ""]).encode() + body


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 20))


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_a_request_reaches_the_handler_whole() -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen) as listener:
            answer = await ask(listener, post(b"hello", "X-A: 1", "x-a: 2"))
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n\r\ngot hello")
        (request,) = seen
        assert (request.method, request.path, request.query) == ("POST", "/v1/logs", "x=1")
        assert request.body == b"hello"
        assert request.headers["x-a"] == "1, 2"

    run(test)


def test_one_connection_takes_many_requests_even_sent_at_once() -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen) as listener:
            answer = await ask(listener, post(b"1", close=False) + post(b"2", close=False) + post(b"3"))
        assert [request.body for request in seen] == [b"1", b"2", b"3"]
        assert answer.count(b"HTTP/1.1 200 ") == 3

    run(test)


def test_a_body_in_chunks_and_one_that_waits_for_leave_arrive() -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen) as listener:
            head = b"POST / HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: close\r\n"
            chunked = await ask(listener, head + b"Transfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n0\r\n\r\n")
            waited = await ask(listener, head + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", b"ok", pause=0.05)
        assert [request.body for request in seen] == [b"abc", b"ok"]
        assert status(chunked) == 200
        assert waited.startswith(b"HTTP/1.1 100 ")

    run(test)


def test_a_head_request_is_answered_without_a_body() -> None:
    async def test() -> None:
        async with listening(Seen()) as listener:
            answer = await ask(listener, b"HEAD / HTTP/1.1\r\nHost: [::1]:PORT\r\nConnection: close\r\n\r\n")
        assert status(answer) == 200
        assert answer.endswith(b"\r\n\r\n")

    run(test)


@pytest.mark.parametrize(
    ("request_bytes", "code"),
    [
        (post(b"x", host="evil.example:PORT"), 403),
        (post(b"x", host="127.0.0.1"), 403),  # another port: another server's cookie, not ours
        (post(b"x", "Origin: https://evil.example"), 403),
        (post(b"x", "Origin: null"), 403),
        (post(b"x", "Sec-Fetch-Site: cross-site"), 403),
        (post(b"x" * 1001), 413),
        (b"not http at all\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX: " + b"y" * 400_000 + b"\r\n\r\n", 431),
    ],
)
def test_what_must_not_come_in_is_refused_and_the_handler_not_asked(request_bytes: bytes, code: int) -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen) as listener:
            answer = await ask(listener, request_bytes)
            await until(lambda: listener.waiting_bytes == 0)
        assert status(answer) == code
        assert seen == []

    run(test)


def test_a_request_that_does_not_arrive_in_time_is_refused_and_the_handler_not_asked() -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen, limits=HASTY) as listener:
            half = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 5\r\n\r\nab"
            answer = await ask(listener, half)
            await until(lambda: listener.waiting_bytes == 0)
        assert status(answer) == 408
        assert seen == []

    run(test)


def test_a_body_of_unknown_length_is_cut_off_at_the_limit() -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen) as listener:
            head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: chunked\r\n\r\n"
            chunk = b"200\r\n" + b"x" * 512 + b"\r\n"
            reader, writer = await asyncio.open_connection(listener.host, listener.port)
            writer.write(head.replace(b"PORT", str(listener.port).encode()) + chunk)
            await until(lambda: listener.waiting_bytes == 512)
            writer.write(chunk)
            answer = await reader.read()
            writer.close()
        assert status(answer) == 413
        assert seen == []

    run(test)


@each_case("line, code")
def test_with_a_token_only_its_bearer_comes_in(line: str, code: int) -> None:
    async def test() -> None:
        async with listening(Seen(), token="right") as listener:
            assert status(await ask(listener, post(b"x", line))) == code

    run(test)


def test_a_page_of_the_listener_itself_may_ask() -> None:
    async def test() -> None:
        async with listening(Seen()) as listener:
            answer = await ask(listener, post(b"x", "Origin: http://localhost:PORT", "Sec-Fetch-Site: same-origin"))
            assert status(answer) == 200

    run(test)


def test_too_much_waiting_in_all_connections_together_is_put_off() -> None:
    async def test() -> None:
        free = asyncio.Event()

        async def slow(request: Request) -> Response:
            await free.wait()
            return Response()

        async with listening(slow) as listener:
            first = asyncio.create_task(ask(listener, post(b"x" * 1000)))
            await until(lambda: listener.waiting_bytes == 1000)
            second = await ask(listener, post(b"x" * 600))
            free.set()
            assert status(await first) == 200
        assert status(second) == 503
        assert b"retry-after: 1" in second

    run(test)


def test_an_error_in_the_handler_is_a_500_and_is_not_told_to_the_client() -> None:
    async def test() -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: told.append(said))

        async def broken(request: Request) -> Response:
            raise RuntimeError("secret path")

        async with listening(broken) as listener:
            answer = await ask(listener, post(b"x"))
        assert status(answer) == 500
        assert b"secret" not in answer
        assert [type(said["exception"]) for said in told] == [RuntimeError]

    run(test)


def test_more_connections_than_allowed_are_closed_and_the_earlier_ones_go_on() -> None:
    async def test() -> None:
        async with listening(Seen(), limits=Limits(connections=1, idle_seconds=5)) as listener:
            reader, writer = await asyncio.open_connection(listener.host, listener.port)
            await until(lambda: listener.open_connections == 1)
            assert await ask(listener, post(b"x")) == b""
            writer.write(post(b"earlier", close=False).replace(b"PORT", str(listener.port).encode()))
            assert (await reader.readuntil(b"got earlier")).startswith(b"HTTP/1.1 200 ")
            assert await ask(listener, post(b"x")) == b""
            assert listener.open_connections == 1
            writer.close()
            await until(lambda: listener.open_connections == 0)
            assert status(await ask(listener, post(b"x"))) == 200

    run(test)


def test_an_idle_connection_is_closed_in_time() -> None:
    async def test() -> None:
        async with listening(Seen(), limits=HASTY) as listener:
            reader, writer = await asyncio.open_connection(listener.host, listener.port)
            assert await asyncio.wait_for(reader.read(), 15) == b""
            writer.close()

    run(test)


def test_closing_answers_what_is_under_way_and_cuts_what_is_idle() -> None:
    async def test() -> None:
        free = asyncio.Event()

        async def slow(request: Request) -> Response:
            await free.wait()
            return Response(body=b"done")

        listener = await serve("127.0.0.1", 0, slow, limits=Limits(close_seconds=5))
        idle, writer = await asyncio.open_connection(listener.host, listener.port)
        asked = asyncio.create_task(ask(listener, post(b"x", close=False)))
        await until(lambda: listener.waiting_bytes == 1 and listener.open_connections == 2)
        closing = asyncio.create_task(listener.close())
        assert await idle.read() == b""
        free.set()
        answer = await asked
        await closing
        writer.close()
        assert answer.endswith(b"done")
        assert b"connection: close" in answer.lower()

    run(test)


@pytest.mark.parametrize("host", ["0.0.0.0", "example.org", "::"])
def test_only_loopback_is_listened_on(host: str) -> None:
    async def test() -> None:
        with pytest.raises(SourceError, match="this machine alone"):
            await serve(host, 0, Seen())

    run(test)


def test_a_port_that_is_taken_is_an_error_of_ours() -> None:
    async def test() -> None:
        async with listening(Seen()) as listener:
            with pytest.raises(SourceError, match="cannot listen on"):
                await serve("127.0.0.1", listener.port, Seen())

    run(test)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0" * 100,
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: [\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:99999\r\n\r\n",
        b"GET http://[:/x HTTP/1.1\r\nHost: evil\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 5\r\n\r\n",
    ],
)
def test_nonsense_is_answered_or_cut_and_the_next_client_served(nonsense: bytes) -> None:
    async def test() -> None:
        told: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: told.append(said))
        seen = Seen()
        async with listening(seen, limits=HASTY) as listener:
            answer = await ask(listener, nonsense)
            assert answer == b"" or status(answer) >= 400
            assert status(await ask(listener, post(b"x"))) == 200
            await until(lambda: listener.open_connections == 0 and listener.waiting_bytes == 0)
        assert [request.body for request in seen] == [b"x"]
        assert told == []

    run(test)


def test_the_host_of_an_absolute_target_counts_for_nothing() -> None:
    async def test() -> None:
        seen = Seen()
        async with listening(seen) as listener:
            await ask(listener, b"GET http://evil/a?b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n")
        assert [(request.path, request.query) for request in seen] == [("/a", "b")]

    run(test)
