"""Connections to the recorder's socket: how many are served, how much of them waits, and what becomes of the others."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import FormatError
from tallystick.service import connection as limits
from tallystick.service.connection import Connection, Gate
from tallystick.service.wire import MOST_HEADER, Header

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Answering:
    """A server that says back what it was given, when it is told to."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.free = asyncio.Event()
        self.free.set()
        self.taken: list[bytes] = []
        self.bad: list[str] = []
        self.uses = 0

    def told(self, line: bytes) -> bytes | None:
        return b"well" if line == b"STATUS\n" else None

    def refused(self, error: FormatError) -> None:
        self.bad.append(str(error))

    def deliver(self, header: Header, data: bytes, answer: Callable[[bytes | None], None]) -> None:
        self.taken.append(data)
        asyncio.get_running_loop().create_task(self._answer(data, answer))

    async def _answer(self, data: bytes, answer: Callable[[bytes | None], None]) -> None:
        await self.free.wait()
        answer(b"took %d" % len(data))

    def used(self) -> None:
        self.uses += 1


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Answering, Callable[[], Coroutine[Any, Any, Streams]]]]:
    """A socket with such a server behind it, and how to connect to it."""
    answering = Answering()
    path = str(folder / "s")
    server = await asyncio.get_running_loop().create_unix_server(
        lambda: Connection(answering, answering.gate, answering.used), path
    )
    try:
        yield answering, lambda: asyncio.open_unix_connection(path)
    finally:
        server.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A short name for a socket: a path may be too long for one."""
    monkeypatch.chdir(tmp_path)
    return Path()


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 30))


def delivery(data: bytes) -> bytes:
    return b"TALLY1 %d claude-code - 1 1 1.1 -\n" % len(data) + data


async def answer_of(streams: Streams, *parts: bytes) -> bytes:
    """All that comes back until the other side closes; nothing where it hangs up."""
    reader, writer = streams
    try:
        for part in parts:
            writer.write(part)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.002)


def test_those_over_the_limit_are_hung_up_on_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_MOST_CONNECTIONS", 3)

    async def test() -> None:
        async with serving(folder) as (server, connect):
            earlier = [await connect() for _ in range(3)]
            await until(lambda: server.gate.open == 3)
            for _ in range(2):
                assert await answer_of(await connect(), delivery(b"too many")) == b""
            assert server.taken == []
            assert not server.gate.is_full()
            for number, streams in enumerate(earlier):
                assert await answer_of(streams, delivery(b"x" * number)) == b"took %d" % number
            await until(lambda: server.gate.open == 0)
            assert await answer_of(await connect(), delivery(b"again")) == b"took 5"
        assert server.taken == [b"", b"x", b"xx", b"again"]

    run(test)


def test_the_limit_is_that_of_the_documentation(folder: Path) -> None:
    gate = Gate()
    gate.open = 1024
    assert not gate.is_full()
    gate.open += 1
    assert gate.is_full()
    page = (Path(__file__).parents[2] / "docs" / "live.md").read_text("utf-8")
    assert "1,024 connections are served at once" in " ".join(page.split())


def test_large_payloads_wait_for_room_and_small_ones_do_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_WAITING_BYTES", 1000)
    monkeypatch.setattr(limits, "_SMALL_BYTES", 10)

    async def test() -> None:
        async with serving(folder) as (server, connect):
            server.free.clear()
            first = asyncio.create_task(answer_of(await connect(), delivery(b"1" * 600)))
            await until(lambda: server.gate.waiting_bytes == 600)
            second = asyncio.create_task(answer_of(await connect(), delivery(b"2" * 401)))
            await until(lambda: server.gate.open == 2)
            fitting = asyncio.create_task(answer_of(await connect(), delivery(b"3" * 400)))
            await until(lambda: server.gate.waiting_bytes == 1000)
            small = asyncio.create_task(answer_of(await connect(), delivery(b"4" * 10)))
            await until(lambda: server.gate.waiting_bytes == 1010)
            assert [data[:1] for data in server.taken] == [b"1", b"3", b"4"]
            assert not second.done()
            server.free.set()
            assert await asyncio.gather(first, second, fitting, small) == [
                b"took 600",
                b"took 401",
                b"took 400",
                b"took 10",
            ]
            assert (server.gate.waiting_bytes, server.gate.open) == (0, 0)

    run(test)


def test_one_that_goes_away_gives_its_room_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_WAITING_BYTES", 1000)
    monkeypatch.setattr(limits, "_SMALL_BYTES", 10)

    async def test() -> None:
        async with serving(folder) as (server, connect):
            _, silent = await connect()
            silent.write(delivery(b"1" * 900)[:100])
            await until(lambda: server.gate.waiting_bytes == 900)
            waiting = asyncio.create_task(answer_of(await connect(), delivery(b"2" * 500)))
            await until(lambda: server.gate.open == 2)
            silent.close()
            assert await waiting == b"took 500"
            await until(lambda: server.gate.open == 0)
            assert server.gate.waiting_bytes == 0
            assert server.uses == 2

    run(test)


def test_one_that_says_nothing_is_ended_in_time_and_one_that_waits_for_its_answer_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "READ_SECONDS", 0.2)

    async def test() -> None:
        async with serving(folder) as (server, connect):
            server.free.clear()
            asked = asyncio.create_task(answer_of(await connect(), delivery(b"slow")))
            await until(lambda: server.taken == [b"slow"])
            assert await answer_of(await connect(), b"") == b""
            assert await answer_of(await connect(), delivery(b"half of it")[:-5]) == b""
            server.free.set()
            assert await asked == b"took 4"

    run(test)


@pytest.mark.parametrize(
    ("said", "is_noted"),
    [
        (b"x" * (MOST_HEADER + 1), False),
        (b"nonsense\n", True),
        (b"TALLY1 %d claude-code - 1 1 1.1 -\n" % ((64 << 20) + 1), False),
    ],
    ids=["no end", "nonsense", "too large"],
)
def test_what_is_no_delivery_is_closed_without_an_answer(folder: Path, said: bytes, is_noted: bool) -> None:
    async def test() -> None:
        async with serving(folder) as (server, connect):
            assert await answer_of(await connect(), said) == b""
            assert (len(server.bad), server.taken) == (is_noted, [])
            assert await answer_of(await connect(), b"STA", b"TUS\n") == b"well"

    run(test)


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the other end's user is asked for in another way")
def test_a_process_of_another_user_is_hung_up_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(folder) as (server, connect):
            with monkeypatch.context() as patch:
                patch.setattr(os, "getuid", lambda: 12345)
                assert await answer_of(await connect(), b"STATUS\n") == b""
            assert await answer_of(await connect(), b"STATUS\n") == b"well"
            await until(lambda: server.gate.open == 0)

    run(test)
