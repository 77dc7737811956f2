"""What is said on the socket may be anything, and as much as anybody likes: the recorder goes on answering."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.capture import recorder
from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.model.step import Json
from tallystick.service import wire as limits
from tallystick.service.wire import MOST_DATA, MOST_HEADER, Connection, Gate, Header, read_header
from tests.service import faults
from tests.service.faults import answers, before, call_ids, connect, gaps, run_hook, send, wait_for, wait_for_calls
from tests.support import hooks, recorders
from tests.support.laws import examples

_WORD = st.text(st.characters(codec="utf-8", exclude_categories=("Zs", "Cc")), max_size=20).map(str.encode)
_HEADER = st.lists(
    st.one_of(_WORD, st.sampled_from([b"TALLY1", b"0", b"7", b"-", b"claude-code", b"1" * 30])), max_size=9
)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A recorder for many examples."""
    store = Home(tmp_path_factory.mktemp("standing") / "store")
    recorders.start(store.folder)
    yield store
    recorder.stop(store.folder)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300), st.builds(lambda words, rest: b" ".join(words) + b"\n" + rest, _HEADER, st.binary())
    )
)
def test_whatever_is_said_on_the_socket_the_recorder_goes_on_answering(standing: Home, said: bytes) -> None:
    with connect(standing) as connection, contextlib.suppress(OSError):
        connection.sendall(said)
        connection.shutdown(1)
        while connection.recv(1 << 16):
            pass
    assert recorder.status(standing.folder) is not None


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)),
    max_leaves=12,
)
_MEMBERS = st.sampled_from(
    [
        "session_id",
        "hook_event_name",
        "tool_name",
        "tool_input",
        "tool_use_id",
        "cwd",
        "transcript_path",
        "hook",
        "timestamp",
    ]
)
_EVENTS = st.sampled_from(["PreToolUse", "PostToolUse", "BeforeTool", "SessionStart", "UserPromptSubmit", "tool_call"])


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([*faults.AGENTS, "opencode", "pi", "gptme", "hermes", "cline", "cursor", "nobody", "../x"]),
    st.dictionaries(_MEMBERS, _JSON),
    _EVENTS,
)
def test_a_payload_with_anything_in_it_is_answered(
    standing: Home, agent: str, said: dict[str, Json], event: str
) -> None:
    data = json.dumps({"session_id": "s", "hook_event_name": event, **said}).encode()
    assert send(standing, data, agent).startswith((b"0 ", b"2 ")), "a fault of ours is no answer"


LARGE = 1 << 20
"""What hook and recorder take in a test of it. With their own 64 MiB it takes the processor a minute; `make soak` does it."""
_TAKEN = pytest.mark.parametrize("most", [LARGE, pytest.param(None, marks=pytest.mark.soak)], ids=["1", "64"])


@_TAKEN
@pytest.mark.parametrize("share", [0.8, 1.02])
def test_a_payload_of_many_megabytes_is_answered(home: Home, most: int | None, share: float) -> None:
    recorders.start(home.folder, most=most)
    said = before("claude-code", 1, command="echo " + "x" * int((most or MOST_DATA) * share))
    assert run_hook(home.folder, said, hook=hooks.hook(most=most)).returncode == 0
    if share < 1:
        wait_for_calls(home, 1, seconds=60)
    else:
        wait_for(lambda: gaps(home) == ["bad-spool"], 60)
        assert call_ids(home) == []
    assert answers(home, 2)


@_TAKEN
def test_a_payload_that_is_too_large_does_not_get_around_policy(home: Home, most: int | None) -> None:
    recorders.start(home.folder, most=most)
    said = before("claude-code", 1, command=f"rm -rf {home.folder}")
    said["tool_input"] = {**said["tool_input"], "description": "x" * ((most or MOST_DATA) + 1)}
    done = run_hook(home.folder, said, hook=hooks.hook(most=most))
    assert b'"deny"' in done.stdout or b'"ask"' in done.stdout


def test_five_hundred_silent_connections_keep_nobody_waiting(home: Home) -> None:
    recorders.start(home.folder)
    with contextlib.ExitStack() as stack:
        for number in range(500):
            connection = stack.enter_context(connect(home))
            if number % 2:
                connection.sendall(b"TALLY1 60000000 claude-code - 0.1.0 1 a -\n{")  # announces much, and stops
        for number in range(1, 6):  # while the others are still silent
            assert answers(home, number)
        assert (recorder.status(home.folder) or {})["open_connections"] >= 400


def test_more_connections_than_it_bears_are_sent_away_and_hooks_go_their_slow_way(home: Home) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this user may not open 4,096 files")
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    recorders.start(home.folder)
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(1040):
                stack.enter_context(connect(home))
            assert run_hook(home.folder, before("claude-code", 1)).returncode == 0
        wait_for_calls(home, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_later_protocol_is_not_answered_so_that_its_hook_does_not_take_it_for_leave(home: Home) -> None:
    recorders.start(home.folder)
    with connect(home) as connection:
        connection.sendall(b"TALLY2 something of later times\n")
        assert connection.recv(100) == b""
    assert gaps(home) == ["bad-delivery"]


@given(st.binary(max_size=200))
def test_a_line_is_a_header_or_refused(line: bytes) -> None:
    with contextlib.suppress(FormatError):
        read_header(line)


def test_words_of_a_header_may_hold_blanks_of_other_scripts() -> None:
    header = read_header("TALLY1 3 pi - 0.1.0 1795293860746000000 7.7 a\u2003b\n".encode())
    assert (header.agent, header.event, header.monitor) == ("pi", None, "a\u2003b")


# Connections ----------------------------------------------------------------------------------------------------------

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
            assert list(await asyncio.gather(first, second, fitting, small)) == [
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
    mine = os.getuid()

    async def test() -> None:
        async with serving(folder) as (server, connect):
            with monkeypatch.context() as patch:
                patch.setattr(os, "getuid", lambda: mine + 1)
                assert await answer_of(await connect(), b"STATUS\n") == b""
            assert await answer_of(await connect(), b"STATUS\n") == b"well"
            await until(lambda: server.gate.open == 0)

    run(test)
