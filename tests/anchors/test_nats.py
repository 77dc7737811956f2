from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tallystick.anchors.kept import AnchorError
from tallystick.anchors.nats import NatsAnchor, default_subject
from tallystick.seal.keys import SigningKey
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note
from tests.support.cases import each

pytestmark = pytest.mark.skipif(shutil.which("nats-server") is None, reason="there is no nats-server on PATH")

STORE = "ab" * 16
KEY = SigningKey(b"\x01" * 32)


def note(size: int) -> bytes:
    return sign_note(STORE, size, merkle_root([n.to_bytes(32, "big") for n in range(size)]), [KEY])


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = ["-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(tmp_path_factory.mktemp("nats"))]
    process = subprocess.Popen(["nats-server", *where], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.02)
    yield f"nats://127.0.0.1:{port}"
    process.kill()
    process.wait()


def test_heads_are_kept_in_order_in_a_stream_that_deletes_none(url: str) -> None:
    place = NatsAnchor(url, default_subject(STORE))
    assert place.heads() == []
    kept = [place.put(note(size)) for size in (1, 4, 9)]
    assert NatsAnchor(url, default_subject(STORE)).heads() == kept
    assert all(each.at for each in kept)
    assert place.guarded().keeps is True
    assert "administrator can delete" in place.guarded().says


def test_another_stores_heads_and_other_messages_are_passed_over(url: str) -> None:
    other = NatsAnchor(url, default_subject("cd" * 16))
    other.put(note(2))
    other.put(b"no head of anybody")
    assert [kept.note for kept in other.heads()] == [note(2)]


def test_a_stream_that_lets_messages_go_does_not_guard(url: str) -> None:
    import nats
    from nats.js.api import StreamConfig

    async def make() -> None:
        client = await nats.connect(url)
        await client.jetstream().add_stream(StreamConfig(name="LOOSE", subjects=["loose.heads"]))
        await client.close()

    asyncio.run(make())
    place = NatsAnchor(url, "loose.heads")
    assert place.guarded().keeps is False
    place.put(note(1))
    assert [kept.note for kept in place.heads()] == [note(1)]


@each("subject", ["", "a b", "a.*", "a.>", "a\r\nPUB x"])
def test_what_is_no_subject_is_refused(url: str, subject: str) -> None:
    with pytest.raises(AnchorError, match="is not a subject"):
        NatsAnchor(url, subject)


def test_a_server_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AnchorError):
        NatsAnchor("nats://127.0.0.1:1", default_subject(STORE)).put(note(1))
