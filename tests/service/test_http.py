"""The recorder's port: hooks over HTTP are answered as hooks are, and nobody else is."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tallystick.capture import recorder
from tallystick.capture.loopback import Loopback, read_loopback
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tests.service.conftest import pre_tool_use
from tests.service.test_server import calls, wait_for
from tests.support import recorders


@pytest.fixture
def port(home: Home) -> tuple[int, str]:
    recorders.start(home.folder)
    wait_for(lambda: (recorder.status(home.folder) or {}).get("port"))
    found = read_loopback(Place(home.folder))
    assert found is not None
    return found.port, found.token


def ask(port: tuple[int, str], path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    allowed = {"authorization": f"Bearer {port[1]}", **headers}
    request = urllib.request.Request(f"http://127.0.0.1:{port[0]}{path}", data, allowed)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_a_hook_over_http_is_recorded_and_silent(home: Home, port: tuple[int, str]) -> None:
    assert ask(port, "/hook/claude-code", pre_tool_use(7)) == (200, b"")
    assert calls(home) == ["toolu_0007"]


@pytest.mark.parametrize(
    "headers",
    [{"authorization": "Bearer wrong"}, {"host": "example.com"}, {"origin": "https://example.com"}],
    ids=["token", "host", "origin"],
)
def test_nobody_else_is_answered(home: Home, port: tuple[int, str], headers: dict[str, str]) -> None:
    status, body = ask(port, "/hook/claude-code", pre_tool_use(7), **headers)
    assert status in (401, 403)
    assert b"toolu" not in body
    assert calls(home) == []


def test_port_and_token_stay_the_same_from_start_to_start(home: Home, port: tuple[int, str]) -> None:
    recorder.stop(home.folder)
    recorders.start(home.folder)
    wait_for(lambda: (recorder.status(home.folder) or {}).get("port"))
    assert read_loopback(Place(home.folder)) == Loopback(*port)
    assert Place(home.folder).http.stat().st_mode & 0o777 == 0o600


def test_it_says_how_it_is(home: Home, port: tuple[int, str]) -> None:
    ask(port, "/hook/claude-code", pre_tool_use(7))
    status, body = ask(port, "/healthz")
    assert (status, json.loads(body)["ok"]) == (200, True)
    assert b'tallystick_decisions_total{effect="allow"} 1\n' in ask(port, "/metrics")[1]
    assert json.loads(ask(port, "/status")[1])["deliveries"] == 1
    assert ask(port, "/nothing")[0] == 404


@pytest.mark.parametrize(("header", "kind"), [("5e551011", "child"), ("", "root"), ("$TALLY_SESSION", "root")])
def test_an_agent_under_a_monitor_says_so_in_a_header(
    home: Home, port: tuple[int, str], header: str, kind: str
) -> None:
    ask(port, "/hook/claude-code", pre_tool_use(7), **{"x-tally-session": header})
    [journal] = list((home.folder / "journals").rglob("*.jsonl"))
    first = json.loads(journal.read_bytes().split(b"\n")[0])
    assert first["fields"]["meta"]["kind"] == kind


def test_a_hook_is_answered_while_much_telemetry_is_taken_in(home: Home, port: tuple[int, str]) -> None:
    (recorded,) = (Path(__file__).parents[1] / "recordings" / "otlp").glob("codex-[0-9]*.jsonl")
    told = [
        line for text in recorded.read_text("utf-8").splitlines() if (line := json.loads(text))["path"] == "/v1/logs"
    ]
    much = {"resourceLogs": [resource for line in told for resource in line["body"]["resourceLogs"]] * 150}
    ask(port, "/hook/claude-code", pre_tool_use(6))
    ended: list[float] = []

    def export() -> None:
        assert ask(port, "/v1/logs", much, **{"content-type": "application/json"})[0] == 200
        ended.append(time.monotonic())

    exporting = threading.Thread(target=export)
    exporting.start()
    time.sleep(0.05)
    assert ask(port, "/hook/claude-code", pre_tool_use(7)) == (200, b"")
    answered = time.monotonic()
    exporting.join()
    assert answered < ended[0]
