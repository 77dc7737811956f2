from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nats
import pytest

from tallystick import Recorder
from tallystick.errors import UsageError
from tallystick.plugins.nats import NatsPublisher, Publishing, payloads

pytestmark = pytest.mark.skipif(shutil.which("nats-server") is None, reason="there is no nats-server on PATH")

Messages = list[tuple[str, dict[str, str], dict[str, Any]]]


class Server:
    """A real server on a loopback port that stays the same when it is stopped and started."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        where = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder)]
        self.process = subprocess.Popen(["nats-server", *where], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                assert time.monotonic() < until, "the server does not start"
                time.sleep(0.02)
            else:
                return

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def stop(self) -> None:
        if self.process is not None:
            self.send(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "nats")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path / "store") as recorder:
        yield recorder


def received(server: Server, work: Callable[[], object], *, count: int) -> Messages:
    """What a subscriber gets while `work` is done."""
    found: Messages = []

    async def take(message: Any) -> None:
        found.append((message.subject, dict(message.headers), json.loads(message.data)))

    async def run() -> None:
        client = await nats.connect(server.url)
        await client.subscribe("tally.steps.>", cb=take)
        await client.flush()
        await asyncio.to_thread(work)
        await _until(lambda: len(found) >= count)
        await client.close()

    asyncio.run(run())
    return found


async def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until
        await asyncio.sleep(0.01)


def say(recorder: Recorder, name: str, count: int) -> str:
    """Record a session of so many answers; the journal's id."""
    session = recorder.session("demo", name)
    for number in range(count):
        session.step("assistant", content={"text": f"answer {number}"}, local={"source": {"path": "secret place"}})
    return session.id


def test_each_sealed_step_reaches_a_subscriber_once_and_in_order(server: Server, recorder: Recorder) -> None:
    with NatsPublisher(server.url) as publisher:
        recorder.on_step(publisher)
        messages = received(server, lambda: say(recorder, "s", 50), count=51)
    assert [int(headers["Tally-N"]) for _, headers, _ in messages] == list(range(51))
    steps = {step.n: step for sid, _ in recorder.home.sessions() for step in recorder.session("demo", "s")}
    for subject, headers, body in messages:
        step = steps[body["n"]]
        assert (body["hash"], headers["Tally-Hash"]) == (step.hash, step.hash)
        assert subject == f"tally.steps.{step.session}.{step.type}"
    assert "secret place" not in json.dumps([body for _, _, body in messages])
    assert (publisher.published, publisher.dropped) == (51, 0)


def test_without_content_only_names_of_values_leave(server: Server, recorder: Recorder) -> None:
    with NatsPublisher(server.url, Publishing(with_content=False)) as publisher:
        recorder.on_step(publisher)
        messages = received(server, lambda: say(recorder, "s", 1), count=2)
    assert messages[1][2]["withheld"] == ["content.text"]
    assert "answer" not in json.dumps(messages)


def test_a_hung_server_does_not_hold_up_the_agent_and_what_is_dropped_is_counted_and_can_be_caught_up(
    server: Server, recorder: Recorder
) -> None:
    publisher = NatsPublisher(server.url, Publishing(most_steps=20))
    recorder.on_step(publisher)
    first = recorder.session("demo", "before")
    assert publisher.flush()
    server.send(signal.SIGSTOP)
    session = say(recorder, "s", 200)  # the thread waits 2 s for each answer; an agent that waited would take minutes
    assert publisher.dropped >= 100
    server.send(signal.SIGCONT)
    assert publisher.flush(10)
    messages = received(server, lambda: first.step("assistant"), count=1)
    assert int(messages[0][1]["Tally-Dropped"]) == publisher.dropped
    publisher.close()
    assert publisher.published + publisher.dropped == 1 + 201 + 1
    missed = list(payloads(recorder.home, session, after=99))
    assert [n for n, _ in missed] == list(range(100, 201))
    assert json.loads(missed[0][1])["content"] == {"text": "answer 99"}


def test_steps_recorded_while_there_is_no_server_are_published_when_it_comes(
    server: Server, recorder: Recorder
) -> None:
    server.stop()
    with NatsPublisher(server.url, Publishing(stream="TALLY")) as publisher:
        recorder.on_step(publisher)
        say(recorder, "s", 5)
        assert not publisher.flush(0.3)
        server.start()
        assert publisher.flush(10)
        server.stop()
        say(recorder, "t", 5)
        server.start()
        assert publisher.flush(10)
    assert (publisher.published, publisher.dropped) == (12, 0)
    assert asyncio.run(_stored(server)) == 12


async def _stored(server: Server) -> int:
    client = await nats.connect(server.url)
    info = await client.jetstream().stream_info("TALLY")
    await client.close()
    return int(info.state.messages)


def test_a_step_that_is_too_large_for_the_server_goes_without_its_content(server: Server, recorder: Recorder) -> None:
    with NatsPublisher(server.url) as publisher:
        recorder.on_step(publisher)
        session = recorder.session("demo", "s")
        assert publisher.flush(10)  # or the beginning of the session may be the one message
        messages = received(server, lambda: session.step("assistant", content={"text": "x" * 2_000_000}), count=1)
    assert messages[-1][2]["withheld"] == ["content.text"]
    assert publisher.trimmed == 1


def test_what_waits_is_bounded_in_bytes_too(recorder: Recorder) -> None:
    publisher = NatsPublisher("nats://127.0.0.1:1", Publishing(most_bytes=100_000))
    recorder.on_step(publisher)
    session = recorder.session("demo", "s")
    for _ in range(10):
        session.step("assistant", content={"text": "x" * 30_000})
    assert publisher.waiting <= 4
    publisher.close(0)
    assert publisher.dropped == 11


def test_a_forked_child_publishes_what_it_records(server: Server, recorder: Recorder) -> None:
    publisher = NatsPublisher(server.url)
    recorder.on_step(publisher)
    session = recorder.session("demo", "s")
    assert publisher.flush()

    def fork() -> None:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                session.step("assistant", content={"text": "from the child"})
                code = 0 if publisher.flush() else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0

    messages = received(server, fork, count=1)
    assert messages[0][2]["content"] == {"text": "from the child"}
    publisher.close()


def test_a_missing_library_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(UsageError, match="not installed"):
        NatsPublisher("nats://127.0.0.1:1")
