"""What a signer costs before a call with effects is let go: an intent made durable, against one that is under a head, too."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.measure import Figure
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.journal.signing import SignerAt, SignerPlace, write_signer_place
from tallystick.model.step import Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import SigningKey, did_key
from tallystick.signer.vault import make_vault
from tallystick.trust.signer import ask_status

_CALLS = 600
_AT_ONCE = 8


def figures(folder: Path) -> Iterator[Figure]:
    """Milliseconds that a call waits for the disk, without and with a signer in a process of its own."""
    folder.mkdir(parents=True)
    plain = _waits(_store(folder / "plain"))
    home = _store(folder / "signed")
    signer = _start(folder / "signer", home)
    try:
        signed = _waits(home)
        together = _together(home)
    finally:
        signer.terminate()
        signer.wait()
    down = _waits(home, calls=50)
    for name, share, most in (("p50", 0.5, 2.0), ("p99", 0.99, 10.0)):
        base, took = _at(plain, share), _at(signed, share)
        yield Figure(
            f"a signer adds before a call with effects, {name}",
            took - base,
            "ms",
            baseline=f"the intent on disk alone ({base:.2f} ms)",
            ratio=took / base,
            target=f"< {most:g} ms",
            met=took - base < most,
        )
    yield Figure(f"{_AT_ONCE} calls at once wait for their signature, p50 each", _at(together, 0.5), "ms")
    yield Figure("a call waits while the signer is down, p50", _at(down, 0.5), "ms")


def _at(waits: list[float], share: float) -> float:
    return sorted(waits)[int(len(waits) * share)] * 1000


def _store(folder: Path) -> Home:
    home = Home(folder)
    open_archive(home, make=True).close()
    return home


def _start(folder: Path, home: Home) -> subprocess.Popen[bytes]:
    folder.mkdir(mode=0o700)
    store, secret = read_store(home).store_id, os.urandom(32)
    make_vault(folder / f"{store}.log", store, secret, (os.getuid(),))
    path = folder / "socket"
    process = subprocess.Popen([sys.executable, "-m", "tallystick.signer", str(folder), str(path)])
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            ask_status(path)
            break
        except TallystickError:
            time.sleep(0.01)
    key = SigningKey(secret).public
    archive = open_archive(home)
    archive.ledger.append({"type": "key_add", "key": did_key(key)})
    archive.ledger.sign_together(SignerAt(SignerPlace(str(path), did_key(key))))
    archive.close()
    write_signer_place(home, path, key)
    return process


def _intent(session_writer: SessionWriter, session: str, n: int) -> float:
    """Record an intent, and how long it takes until its call may run."""
    values = {"content.args": {"command": f"make step-{n}"}}
    taken = session_writer.add("demo", Step(session=session, type="tool_call", meta={"tool": "Bash"}, values=values))
    began = time.perf_counter()
    settle = session_writer.before_effects(taken.session)
    if settle is not None:
        settle()
    return time.perf_counter() - began


def _waits(home: Home, calls: int = _CALLS) -> list[float]:
    with SessionWriter(home, aside=True) as session_writer:
        return [_intent(session_writer, "s", n) for n in range(calls)]


def _together(home: Home) -> list[float]:
    with SessionWriter(home, aside=True) as session_writer, ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda n: _intent(session_writer, f"s{n % _AT_ONCE}", n), range(_CALLS)))
