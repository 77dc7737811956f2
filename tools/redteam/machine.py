"""A machine to attack: a store with a history, a signer and an anchor, an attacker who is a real second user.

Everything is below one folder of its own; what runs is stopped by its id.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.model.step import Step
from tallystick.model.verdict import Level, Require, Verdict
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.anchors import Target, anchor
from tallystick.trust.external_evidence import outlook
from tallystick.trust.signer_program import Places, copy_program, interpreter
from tallystick.trust.signer_setup import plan, set_up, start
from tallystick.trust.verify import Demand, StoreEvidence, verify_file, verify_store
from tallystick.trust.verify_named import verdict_on_no_files
from tools.redteam.prepared import Prepared
from tools.redteam.remotes import bare
from tools.redteam.running import RESTARTED

AGENT, SIGNER = 64_102, 64_101 + 2 * (os.getpid() % 400)
"""Users of these numbers need not be known by name. Each process of tests has a signer's user of its own, to end it by."""
CODE = Path(__file__).parent
LEVELS = ("A1", "A2", "A3", "A4")


Table = dict[str, dict[str, object]]


def missing() -> str | None:
    """What a machine to attack needs and this one does not have."""
    if os.getuid() != 0:
        return "only root can be another user"
    if shutil.which("git") is None:
        return "git is not installed"
    try:
        interpreter()
    except JournalError as error:
        return str(error)
    return None


def kept_table(path: Path, attacks: Collection[str]) -> Iterator[Table]:
    """What was found, written down where somebody asks for it: REDTEAM_TABLE=1."""
    found: Table = {}
    yield found
    if os.environ.get("REDTEAM_TABLE") and found.keys() == set(attacks):
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


class Found(msgspec.Struct, frozen=True):
    """What verification at one level says after an attack."""

    level: str
    exit_code: int
    why: str

    @property
    def is_found(self) -> bool:
        return self.exit_code in (2, 4)


def record(home: Home, sessions: int, steps: int) -> None:
    with SessionWriter(home) as session_writer:
        for n in range(sessions):
            for k in range(steps):
                values = {"content.text": f"a secret plan, part {k}"}
                session_writer.add("demo", Step(session=f"s{n}", type="user", values=values))
            session_writer.seal()


def give(folder: Path, user: int) -> None:
    for place in (folder, *folder.rglob("*")):
        os.chown(place, user, user, follow_symlinks=False)


class Machine:
    """One machine. `is_guarded`: its store has a signer and an anchor."""

    ATTACKS = "tools.redteam.running"
    _prepared: Prepared | None = None

    def __init__(self, base: Path, library: Path, *, is_guarded: bool) -> None:
        self.library, self.is_guarded = library, is_guarded
        self._lay_out(base)
        user = base / "user"
        record(self.home, 3, 4)
        give(user, AGENT)
        if is_guarded:
            set_up(plan(self.home, user=str(SIGNER), places=self.places))
            self._make_remote()
            anchor(self.home, Target(kind="git", target=str(self.remote)), clock=lambda: "2026-11-22T00:00:00.000000Z")
        shutil.copytree(self.home.folder, user / "yesterday", symlinks=True)
        if is_guarded:
            shutil.copytree(self.places.folder, base / "yesterdays-signer")
        record(self.home, 4, 3)
        if is_guarded:
            anchor(self.home, Target(kind="git", target=str(self.remote)), clock=lambda: "2026-11-22T01:00:00.000000Z")
        give(user, AGENT)
        self._keep()

    def _lay_out(self, base: Path) -> None:
        self.base = base
        base.chmod(0o755)
        (base / "user").mkdir()
        self.home = Home(base / "user" / "store")
        self.places = Places(
            program=base / "program",
            folder=base / "signer",
            socket=base / "run" / "socket",
            pins=base / "etc",
            unit=base / "unit",
            systemd=base / "no-systemd",
        )
        self.remote = base / "anchor.git"

    def _keep(self) -> None:
        """Remember everything as it is, the signer's memory too."""
        kept = self.base / "kept"
        for place in self._changing:
            shutil.copytree(place, kept / place.name, symlinks=True)

    @property
    def _changing(self) -> list[Path]:
        return [self.base / "user", *((self.places.folder, self.remote) if self.is_guarded else ())]

    def restore(self) -> None:
        """Put everything back, and start the signer again."""
        if self.is_guarded:
            self._end_signer()
        for place in self._changing:
            shutil.rmtree(place)
            shutil.copytree(self.base / "kept" / place.name, place, symlinks=True)
        give(self.base / "user", AGENT)
        if self.is_guarded:
            self.start_signer()

    def start_signer(self) -> None:
        """Start the signer on its own files."""
        give(self.places.folder, SIGNER)
        self.places.folder.chmod(0o700)
        start(self.places, SIGNER)

    def _end_signer(self) -> None:
        subprocess.run(["pkill", "-KILL", "-u", str(SIGNER)], check=False)
        self.places.socket.unlink(missing_ok=True)

    def _make_remote(self) -> None:
        bare(self.remote, is_guarded=True)

    def attack(self, name: str, seed: int, user: int = AGENT) -> subprocess.CompletedProcess[str]:
        """Run an attack as the agent's user, or as another one."""
        if user == 0 and self.is_guarded:
            self._end_signer()
        done = self._attack(name, seed, user)
        if name in RESTARTED and self.is_guarded:
            self._end_signer()
            start(self.places, SIGNER)
        if user == 0 and self.is_guarded:
            give(self.base / "user", AGENT)
            self.start_signer()
        return done

    def _attack(self, name: str, seed: int, user: int) -> subprocess.CompletedProcess[str]:
        if self._prepared is None:
            self._prepared = Prepared(interpreter(), self.library)
        guarded = (self.places.program, self.places.folder, self.places.pins, self.places.socket.parent)
        return self._prepared.run(
            self.ATTACKS,
            (name, str(self.home.folder), str(seed)),
            user=user,
            environment={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "HOME": str(self.base / "user"),
                "REDTEAM_GUARDED": os.pathsep.join(map(str, guarded)),
                "REDTEAM_REMOTE": str(self.remote),
                "REDTEAM_SIGNER": str(self.places.folder),
                "REDTEAM_PINS": str(self.places.pins),
            },
            folder=self.base / "user",
        )

    def verify(self, level: str) -> Found:
        """What an auditor finds who has what a level gives: with A1 the files alone, with A4 all that others remember."""
        unread = verdict_on_no_files(self.home)
        if unread is not None:
            return _found(level, unread)
        if level == "A1":
            return _worst([verify_file(path, require=Require.A1) for _, path in self.home.sessions()])
        known = (Target(kind="git", target=str(self.remote)),)  # who audits at A4 knows where the anchor is
        around = outlook(self.home, pins=self.places.pins, with_anchors=level == "A4", further=known)
        with_others = level in ("A3", "A4")
        pinned = around.key if with_others else None
        verdict = verify_store(
            self.home,
            evidence=StoreEvidence(
                pinned=pinned,
                known=tuple(head for head in around.heads if head.level <= Level(level)) if with_others else (),
                alarms=around.alarms if with_others else (),
            ),
            demand=Demand(require=Require(level)),
        )
        return _found(level, verdict)

    def close(self) -> None:
        if self._prepared is not None:
            self._prepared.close()
        if self.is_guarded:
            self._end_signer()
        shutil.rmtree(self.base, ignore_errors=True)


def _found(level: str, verdict: Verdict) -> Found:
    return Found(level, verdict.exit_code, verdict.defects[0].why if verdict.defects else verdict.completeness.value)


def _worst(verdicts: list[Verdict]) -> Found:
    bad = [verdict for verdict in verdicts if verdict.exit_code in (2, 4)]
    return _found("A1", bad[0]) if bad else Found("A1", 0, "each file is sound by itself")


def library(folder: Path) -> Path:
    """The attacker's copy of the program, with the attacks beside it."""
    copy_program(folder, "tallystick.recording.session_writer")
    beside = folder / "tools" / "redteam"
    beside.mkdir(parents=True)
    for name in (
        "anchor_attacks.py",
        "attacks.py",
        "epoch_attacks.py",
        "forging.py",
        "prepared.py",
        "running.py",
        "signer_attacks.py",
    ):
        shutil.copyfile(CODE / name, beside / name)
        (beside / name).chmod(0o644)
    # Root compiles it once: the agent's user, who runs it again and again, may not write there.
    imports = f"import sys; sys.path[:0] = [{str(folder)!r}]; import tools.redteam.running, tools.redteam.epoch_attacks"
    subprocess.run([str(interpreter()), "-I", "-S", "-c", imports], check=True)
    return folder
