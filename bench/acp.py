"""The ACP tap: what it adds to a message, to a large one, and to an agent's start.

A message goes through `cat` and back, so it crosses the tap twice; the child alone, and the bare relay, are what it is held
against. The tap does all its work meanwhile: it parses, records, seals.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.measure import Figure

_ROUNDS = 2000
_LARGE = 20 << 20
_RELAY = "import sys; from tallystick.capture.relay import relay; sys.exit(relay(sys.argv[1:]).returncode)"


def figures(folder: Path) -> Iterator[Figure]:
    """Added time per message, quiet and under load; throughput; and the start."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), "TALLY_HOME": str(folder / "store")}
    tally = str(Path(sys.executable).with_name("tally"))
    alone = _round_trips(["cat"], environment)
    bare = _round_trips([sys.executable, "-c", _RELAY, "cat"], environment)
    tapped = _round_trips([tally, "acp", "--", "cat"], environment)
    for name, at in (("median", 0.5), ("99th percentile", 0.99)):
        times = [_at(found, at) for found in (alone, bare, tapped)]
        added = (times[2] - times[0]) / 2 * 1000
        ratio = (times[2] - times[0]) / max(times[1] - times[0], 1e-9)
        target = ("< 1", added < 1) if at == 0.5 else ("", None)
        yield Figure(f"tally acp, added per message, {name}", added, "ms", "the bare relay", ratio, *target)
    seconds = [_through(command, environment) for command in (["cat"], [tally, "acp", "--", "cat"])]
    rate = _LARGE / seconds[1] / 1e6
    yield Figure("tally acp, one line of 20 MB", rate, "MB/s", "the time of the child alone", seconds[1] / seconds[0])
    starts = [_start(command, environment) for command in (["cat"], [tally, "acp", "--", "cat"])]
    yield Figure("tally acp, until the agent can be heard", (starts[1] - starts[0]) * 1000, "ms")


def _message(number: int) -> bytes:
    """An update as agents send them all the time."""
    content = {"type": "text", "text": "a few words of an answer "}
    update = {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": f"m{number // 50}"}
    params = {"sessionId": "bench", "update": update}
    return msgspec.json.encode({"jsonrpc": "2.0", "method": "session/update", "params": params}) + b"\n"


def _round_trips(command: list[str], environment: dict[str, str]) -> list[float]:
    """Seconds from writing a message to reading it again, sorted."""
    with _running(command, environment) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        times = []
        for number in range(_ROUNDS):
            message = _message(number)
            began = time.perf_counter()
            child.stdin.write(message)
            child.stdin.flush()
            child.stdout.readline()
            times.append(time.perf_counter() - began)
        child.stdin.close()
        child.wait(60)
    return sorted(times[100:])


def _at(times: list[float], part: float) -> float:
    return times[int(len(times) * part)]


def _through(command: list[str], environment: dict[str, str]) -> float:
    data = b'{"x":"' + b"y" * _LARGE + b'"}\n'
    with _running(command, environment) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
        child.stdout.readline()
        began = time.perf_counter()
        pid = os.fork()
        if not pid:  # a writer of its own: neither side can wait for the other
            child.stdin.write(data)
            child.stdin.flush()
            os._exit(0)
        child.stdout.readline()
        seconds = time.perf_counter() - began
        os.waitpid(pid, 0)
        child.stdin.close()
        child.wait(60)
    return seconds


def _start(command: list[str], environment: dict[str, str]) -> float:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        with _running(command, environment) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"\n")
            child.stdin.flush()
            child.stdout.readline()
            times.append(time.perf_counter() - began)
            child.stdin.close()
            child.wait(60)
    return sorted(times)[2]


def _running(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
