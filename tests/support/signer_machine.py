"""A machine below one folder on which a store gets a signer, for the tests that root runs.

Owns its places, and the users, who have a number and no name. The signer's program that it runs is made by
tests/trust/conftest.py, unless it is to have one of its own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.errors import JournalError, TallystickError
from tallystick.journal.home import Home
from tallystick.model.step import Step
from tallystick.model.verdict import Require
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust import signer_setup
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.external_evidence import ExternalEvidence, outlook
from tallystick.trust.signer import ask_status
from tallystick.trust.signer_program import Places, interpreter
from tallystick.trust.signer_setup import Plan, plan, set_up
from tallystick.trust.verify import Demand, StoreEvidence, verify_store

ALICE, BOB = 64_112, 64_113
SIGNER = 64_901 + os.getpid() % 90


def _missing() -> str | None:
    if os.getuid() != 0:
        return "only root can give a store a signer of another user"
    try:
        interpreter()
    except JournalError as error:
        return str(error)
    return None


needs_root = pytest.mark.skipif(_missing() is not None, reason=_missing() or "")


class Machine:
    """A machine below one folder. `program`: a copy of the signer's program that is there already."""

    def __init__(self, base: Path, program: Path | None = None) -> None:
        self.base = base
        self.places = Places(
            program=program or base / "program",
            folder=base / "signer",
            socket=base / "run" / "socket",
            pins=base / "etc",
            unit=base / "unit",
            systemd=base / "no-systemd",
            plist=base / "no-launchd" / "plist",
        )

    def user(self, uid: int, name: str) -> Path:
        """A user's home folder."""
        folder = self.base / name
        folder.mkdir()
        os.chown(folder, uid, uid)
        return folder

    def store(self, uid: int, name: str) -> Home:
        """A user's store, with a session in it."""
        home = Home(self.user(uid, name) / ".tally")
        record(home, uid, "before")
        return home

    def plan(self, home: Home, user: int | str = SIGNER) -> Plan:
        return plan(home, user=str(user), places=self.places)

    def set_up(self, home: Home, told: Callable[[signer_setup.Step], object] = lambda _: None) -> None:
        set_up(self.plan(home), told=told)

    def outlook(self, home: Home) -> ExternalEvidence:
        return outlook(home, pins=self.places.pins)

    def is_guarded(self, home: Home) -> bool:
        """Whether a store is sound at A3."""
        around = self.outlook(home)
        verdict = verify_store(
            home,
            evidence=StoreEvidence(pinned=around.key, known=around.heads, alarms=around.alarms, notes=around.notes),
            demand=Demand(require=Require.A3),
        )
        return verdict.exit_code == 0

    def end(self) -> None:
        """End its signer."""
        try:
            _, said = ask_status(self.places.socket)
        except TallystickError:
            return
        os.kill(int(str(said["pid"])), signal.SIGKILL)
        self.places.socket.unlink(missing_ok=True)


def record(home: Home, uid: int, name: str) -> None:
    def work() -> str:
        with SessionWriter(home) as session_writer:
            session_writer.add("demo", Step(session=name, type="user", values={"content.text": "x"}))
        return ""

    as_user(uid, work)


def guarded(machine: Machine) -> Home:
    """The store of a user, with a signer of another, and with a session."""
    home = machine.store(ALICE, "alice")
    machine.set_up(home)
    record(home, ALICE, "first")
    return home


def foreign(folder: Path, uid: int) -> list[Path]:
    """What below a folder belongs to somebody else."""
    return [place for place in (folder, *folder.rglob("*")) if place.lstat().st_uid != uid]
