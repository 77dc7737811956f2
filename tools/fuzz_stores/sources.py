"""Sound stores to begin with: made here by the real recorder, importer and signer, and those of the golden vectors.

Each is small, so that one verification takes milliseconds. Where git is not installed none is anchored.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tallystick
from tallystick.agents import Adapter
from tallystick.ingest.adapters import adapters, only
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home
from tallystick.journal.signing import write_signer_place
from tallystick.model.step import Step
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import SigningKey
from tallystick.signer.server import Server, Signer
from tallystick.signer.vault import make_vault
from tallystick.trust.anchors import Target, anchor
from tallystick.trust.erase import Erasure, erase
from tools.redteam.remotes import bare
from tools.vectors.loading import read_vector, subject, vector_folders
from tools.vectors.maker import KEY_SECRET

_SECRET = bytes(range(1, 33))
_RECORD = ("ledger.jsonl", "heads", "journals", "blobs", "keys")


@dataclass(frozen=True)
class Source:
    """A sound store, and the secret keys of whoever owns it."""

    name: str
    store: Path
    secrets: tuple[bytes, ...] = ()
    pinned: str | None = None


def sources(folder: Path) -> list[Source]:
    """Make the stores below `folder`, and find those of the vectors."""
    made = [recorded(folder / "recorded"), imported(folder / "imported"), signed(folder / "signed")]
    if shutil.which("git") is not None:
        made.append(anchored(folder / "anchored"))
    return [*made, *golden()]


def recorded(folder: Path) -> Source:
    """Sessions of the Python API: a fork and a child, a value in a blob, one that is erased, one session left open."""
    with Recorder(folder) as recorder:
        session = recorder.session("demo", "alpha")
        session.prompt("Count the words")
        fork = session.fork("gamma")
        fork.prompt("x" * 70_000)
        fork.close()
        session.child(session="delta").close()
        session.close()
        recorder.session("demo", "beta").prompt("never mind")
    home = Home(folder)
    sid = next(sid for sid, path in home.sessions() if b"Count" in path.read_bytes())
    erase(home, sid, 1, Erasure(("content.text",), "the person asked"))
    return Source("recorded", folder, (_key_of(home),))


def imported(folder: Path) -> Source:
    """What agents keep of two small sessions and a fork of one."""
    samples = Path(tallystick.__path__[0]) / "samples" / "home"
    paths = [path for name in ("dot-codex", "dot-local/share") for path in sorted((samples / name).rglob("*.jsonl"))]
    known: dict[str, Adapter] = only(adapters(), ())
    import_histories(Home(folder), find_histories(samples, paths, known), known)
    return Source("imported", folder, (_key_of(Home(folder)),))


def signed(folder: Path) -> Source:
    """A store of which a signer signs the heads."""
    home, place = Home(folder), folder.with_name("signer")
    open_archive(home, make=True).close()
    place.mkdir(mode=0o700)
    store = read_store(home).store_id
    make_vault(place / f"{store}.log", store, _SECRET, (os.getuid(),))
    signer = Signer(place, system_clock)
    with Server(place / "socket", signer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        write_signer_place(home, place / "socket", SigningKey(_SECRET).public)
        _record(home, 3)
        server.shutdown()
        thread.join()
    signer.close()
    return Source("signed", folder, (_SECRET,))


def anchored(folder: Path) -> Source:
    """A store whose head a git repository has."""
    home = Home(folder)
    _record(home, 2)
    remote = bare(folder.with_name("remote.git"), is_guarded=True)
    anchor(home, Target(kind="git", target=str(remote)), clock=system_clock)
    return Source("anchored", folder, (_key_of(home),))


def golden() -> Iterator[Source]:
    """The sound stores of the vectors: epochs, forks, rotated keys, retention, crashes."""
    for folder in vector_folders():
        vector = read_vector(folder)
        if vector["subject"] == "store" and folder.parent.name == "accept":
            yield Source(folder.name, subject(folder, vector), (KEY_SECRET,), vector["pinned"])


def copy(source: Source, folder: Path) -> None:
    """Put the record of a source into `folder`: what is no part of it stays behind."""
    folder.mkdir(parents=True)
    for name in _RECORD:
        path = source.store / name
        if path.is_dir():
            shutil.copytree(path, folder / name)
        elif path.exists():
            shutil.copyfile(path, folder / name)


def _record(home: Home, sessions: int) -> None:
    with SessionWriter(home) as session_writer:
        for n in range(sessions):
            for k in range(2):
                values = {"content.text": f"step {k}"}
                session_writer.add("demo", Step(session=f"s{n}", type="user", values=values))
            session_writer.seal()


def _key_of(home: Home) -> bytes:
    return bytes.fromhex(home.key.read_text("ascii"))
