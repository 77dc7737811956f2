"""What is recorded live: payloads of hooks, exports by OTLP, and the traffic between an editor and an agent (ACP).

Owns how recordings are played to the real commands, each in a process of its own whose clock stands. When the recorder
flushes depends on the machine, so what is compared is what its entries say: not their seeds and hashes, nor the ledger.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from tools.same.frozen import NOW_NS
from tools.same.stream import Emit, without

_FROZEN = (
    "import runpy, sys; from tools.same import frozen; frozen.freeze(); frozen.restart(sys.argv[1]); "
    "sys.argv[:] = ['tally', *sys.argv[2:]]; runpy.run_module('tallystick', run_name='__main__', alter_sys=True)"
)
_AGENT = (
    "import json, sys\n"
    "for line in open(sys.argv[1], encoding='utf-8'):\n"
    "    entry = json.loads(line)\n"
    "    if entry['from'] == 'editor':\n"
    "        sys.stdin.readline()\n"
    "    else:\n"
    "        print(json.dumps(entry['line']), flush=True)\n"
    "sys.stdin.read()\n"
)
_NO_PROCESS = 99_999_999
_SECONDS = 120.0
_VERSION = re.compile(r"-\d[\w.]*$")


def live_facts(tree: Path, folder: Path, emit: Emit, *, sample: int = 1) -> str:
    """Play all recordings; how many messages there were."""
    recordings = tree / "tests" / "recordings"
    messages = 0
    for kind, play in (("hooks", _play_hooks), ("otlp", _play_otlp), ("acp", _play_acp)):
        for path in sorted((recordings / kind).glob("*.jsonl"))[::sample]:
            name = f"{kind}/{path.stem}"
            store = folder / name.replace("/", "_")
            messages += play(path, store, name, emit)
            _entry_facts(store, name, emit)
    return f"{messages:,} messages"


# Commands that go on -------------------------------------------------------------------------------------------------


@contextmanager
def _running(store: Path, words: list[str], name: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A command of the tree; it is ended as by Ctrl-C."""
    home = store.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "TALLY_HOME": str(store)}
    command = [sys.executable, "-c", _FROZEN, name, *words]
    process = subprocess.Popen(command, env=environment, cwd=home, stderr=subprocess.DEVNULL, **more)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        process.wait(_SECONDS)


def _play_hooks(path: Path, store: Path, name: str, emit: Emit) -> int:
    agent = _VERSION.sub("", path.stem)
    lines = path.read_text("utf-8").splitlines()
    with _running(store, ["service", "run", "--idle", "0"], name):
        _wait_until_it_answers(store)
        for number, line in enumerate(lines):
            said = json.loads(line)
            data = json.dumps(said["payload"]).encode()
            at = NOW_NS + number * 1_000_000_000
            header = f"TALLY1 {len(data)} {agent} {said['event'] or '-'} 0.1.0 {at} {_NO_PROCESS}.{number} -\n"
            emit(f"reply {name} {number}", _answer(_ask(store, header.encode() + data)))
    return len(lines)


def _ask(store: Path, request: bytes) -> bytes:
    before = Path.cwd()
    os.chdir(store / "run")  # a socket's path has room for 100 bytes only
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_SECONDS)
            connection.connect("recorder.sock")
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))
    finally:
        os.chdir(before)


def _answer(answer: bytes) -> Any:
    head, _, rest = answer.partition(b"\n")
    with contextlib.suppress(ValueError):
        return {"head": head.split()[:1][0].decode(), "said": json.loads(rest)}
    return {"head": head.decode(), "said": rest.decode(errors="replace")}


def _play_otlp(path: Path, store: Path, name: str, emit: Emit) -> int:
    lines = path.read_text("utf-8").splitlines()
    port = _free_port()
    with _running(store, ["otlp", "--port", str(port)], name, stdout=subprocess.DEVNULL):
        _wait_for_port(port)
        for number, line in enumerate(lines):
            said = json.loads(line)
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}{said['path']}",
                json.dumps(said["body"]).encode(),
                {"content-type": "application/json"},
            )
            try:
                with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                    emit(f"reply {name} {number}", {"status": answer.status, "said": answer.read().decode()})
            except urllib.error.HTTPError as error:
                emit(f"reply {name} {number}", {"status": error.code})
    return len(lines)


def _play_acp(path: Path, store: Path, name: str, emit: Emit) -> int:
    """Be the editor of a recording; the agent is a script that plays the other side, each waiting for the other."""
    agent = store.parent / "agent.py"
    store.parent.mkdir(parents=True, exist_ok=True)
    agent.write_text(_AGENT, "utf-8")
    words = ["acp", "--", sys.executable, str(agent), str(path)]
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with _running(store, words, name, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, entry in enumerate(lines):
            if entry["from"] == "editor":
                process.stdin.write(json.dumps(entry["line"]).encode() + b"\n")
                process.stdin.flush()
            else:
                relayed = json.loads(process.stdout.readline() or b"null")
                emit(f"relayed {name} {number}", _without_sizes(_hidden(relayed, {})))
        process.stdin.close()
        process.stdout.read()
        process.wait(_SECONDS)
    return len(lines)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_until_it_answers(store: Path) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            _ask(store, b"")
            return
        time.sleep(0.01)


def _wait_for_port(port: int) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.01)


# Entries -------------------------------------------------------------------------------------------------------------


def _entry_facts(store: Path, name: str, emit: Emit) -> None:
    """What each entry of each journal says, with the hashes of entries and ids of sessions taken out.

    Checkpoints are passed over: when the recorder has read an agent's configuration depends on the machine.
    """
    journals = {path.stem: path for path in (store / "journals").rglob("*.jsonl")}
    entries = {sid: [json.loads(line) for line in path.open(encoding="utf-8")] for sid, path in journals.items()}
    names = {sid: _identity(found[0]["fields"]) for sid, found in entries.items()}
    numbers = {sid: _numbers(found) for sid, found in entries.items()}
    known = dict(names)
    for sid, found in entries.items():
        for before, after in pairwise(found):
            known[after["entry"]["prev"]] = f"{names[sid]} {numbers[sid].get(before['entry']['n'])}"
    for sid in sorted(entries, key=lambda sid: names[sid]):
        for entry in entries[sid]:
            number = numbers[sid].get(entry["entry"]["n"])
            if number is not None:
                said = _hidden(_renumbered(entry["fields"], numbers[sid]), known)
                emit(f"says {name} {names[sid]} {number}", said)


def _numbers(entries: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Number of an entry → its number where there are no checkpoints."""
    kept = [entry["entry"]["n"] for entry in entries if entry["fields"].get("meta", {}).get("type") != "checkpoint"]
    return {n: number for number, n in enumerate(kept)}


def _renumbered(fields: Mapping[str, Any], numbers: Mapping[int, int]) -> dict[str, Any]:
    """An entry's fields, where what names an entry by its number names it by its new one."""
    meta = dict(fields.get("meta", {}))
    if isinstance(meta.get("request"), int):
        meta["request"] = numbers.get(meta["request"])
    for name in ("source_id", "corr"):
        found = re.fullmatch(r"hook/(\d+)(/.*)?", str(meta.get(name)))
        if found is not None:
            meta[name] = f"hook/{numbers.get(int(found[1]))}{found[2] or ''}"
    return {**fields, "meta": meta}


def _without_sizes(message: Any) -> Any:
    """A message without how much of a session is sealed yet."""
    if isinstance(message, dict):
        return {name: _without_sizes(item) for name, item in message.items() if name != "sealed"}
    return [_without_sizes(item) for item in message] if isinstance(message, list) else message


def _identity(fields: Mapping[str, Any]) -> str:
    meta = fields.get("meta", {})
    return f"{meta.get('agent')}:{meta.get('source_session')}"


def _hidden(value: Any, known: dict[str, str]) -> Any:
    """A value without what depends on seeds: what is known by name gets it, other hashes are only said to be there."""
    text = json.dumps(value, ensure_ascii=False)
    text = re.sub(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b", lambda match: known.get(match[0], "HASH"), text)
    return without(json.loads(text), {})
