"""`tally otlp` as a process: it says where it listens, records what is sent there, and tells what it did when it is ended."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tally

RECORDINGS = Path(__file__).parents[2] / "recordings" / "otlp"


class Server:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self.process = process
        self.url = json.loads(process.stderr.readline())["listening"]

    def post(self, path: str, body: bytes, **headers: str) -> int:
        named = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        request = urllib.request.Request(self.url + path, data=body, headers=named, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def end(self) -> Any:
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, err
        return json.loads(out)["data"]


@contextmanager
def serving(user: Path, *words: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "tallystick", "otlp", "--port", "0", "--json", *words]
    process = subprocess.Popen(
        command, env={"HOME": str(user)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Server(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_an_agent_s_telemetry_is_in_the_record_when_it_ends(user: Path, tally: Tally) -> None:
    with serving(user) as server:
        lines = [json.loads(line) for line in (RECORDINGS / "copilot-1.0.102.jsonl").read_text("utf-8").splitlines()]
        for line in lines:
            packed = gzip.compress(json.dumps(line["body"]).encode())
            assert server.post(line["path"], packed, content_encoding="gzip") == 200
        told = server.end()
    assert told["requests"] == len(lines)
    assert told["steps"]["recorded"] == 10
    shown = tally("log")
    assert "Create out.txt and note.txt" in shown.output
    assert tally("verify").exit_code == 0


def test_pages_and_strangers_are_kept_out(user: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n", "utf-8")
    with serving(user, "--token-file", str(token)) as server:
        assert server.post("/v1/logs", b"{}") == 401
        assert server.post("/v1/logs", b"{}", authorization="Bearer secret") == 200
        assert server.post("/v1/logs", b"{}", authorization="Bearer secret", origin="https://example.org") == 403
        assert server.post("/v2", b"{}", authorization="Bearer secret") == 404
        assert server.end()["refused"] == 1


@pytest.mark.parametrize("words", [("--host", "0.0.0.0"), ("--host", "192.0.2.1")])
def test_it_listens_nowhere_but_on_this_machine(tally: Tally, words: tuple[str, ...]) -> None:
    result = tally("otlp", *words)
    assert result.exit_code == 1
    assert "this machine alone" in result.output


def test_an_empty_token_file_is_no_token(tally: Tally, tmp_path: Path) -> None:
    empty = tmp_path / "token"
    empty.write_text("\n", "utf-8")
    assert tally("otlp", "--token-file", empty).exit_code == 64
    assert tally("otlp", "--token-file", tmp_path / "none").exit_code == 64
