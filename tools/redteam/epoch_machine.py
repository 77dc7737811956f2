"""A machine whose signer has epochs: a history over four of them, with an anchor in the newest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tallystick.journal.archive import system_clock
from tallystick.model.step import Step
from tallystick.model.verdict import Level, Require
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.anchors import Target, anchor
from tallystick.trust.external_evidence import outlook
from tallystick.trust.signer_program import interpreter
from tallystick.trust.signer_setup import plan, set_up, start
from tallystick.trust.verify import Demand, StoreEvidence, verify_store
from tallystick.trust.verify_named import live_epoch
from tools.redteam.machine import AGENT, SIGNER, Found, Machine, _found, give

_END = """
import sys, time; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tallystick.errors import JournalError
from tallystick.journal.archive import system_clock
from tallystick.signer.vault import Vault
(path,) = Path(sys.argv[2]).glob("*.log")
for _ in range(500):
    try:
        vault = Vault(path, system_clock, monotonic=iter((0.0, 1e9, 1e9)).__next__)
        break
    except JournalError:
        time.sleep(0.01)
vault.end_if_over()
"""


class EpochMachine(Machine):
    """One machine whose signer erases its keys."""

    ATTACKS = "tools.redteam.epoch_attacks"

    def __init__(self, base: Path, library: Path) -> None:
        self.library, self.is_guarded = library, True
        self._lay_out(base)
        user = base / "user"
        self._record("an old plan")
        self.noted = set_up(plan(self.home, user=str(SIGNER), places=self.places, epochs=3_600)).key
        self._make_remote()
        self._anchor()
        self.end_epoch()
        self._record("a plan of yesterday")
        shutil.copytree(self.home.folder, user / "yesterday", symlinks=True)
        shutil.copytree(self.places.folder, base / "yesterdays-signer")
        self.end_epoch()
        self._record("a plan of today")
        self.end_epoch()
        self._record("an anchored plan")
        self._anchor()
        self._record("a plan after the anchor")
        self._keep()

    def _record(self, text: str) -> None:
        with SessionWriter(self.home) as session_writer:
            session_writer.add("demo", Step(session=text.replace(" ", "-"), type="user", values={"content.text": text}))
        give(self.base / "user", AGENT)

    def _anchor(self) -> None:
        anchor(self.home, Target(kind="git", target=str(self.remote)), clock=system_clock)

    def end_epoch(self) -> None:
        """Have the signer erase its key now."""
        self._end_signer()
        words = [str(interpreter()), "-I", "-S", "-c", _END, str(self.places.program), str(self.places.folder)]
        subprocess.run(
            words, user=SIGNER, group=SIGNER, extra_groups=[], check=True
        )  # waits for the one that was killed
        start(self.places, SIGNER)

    def restore(self) -> None:
        """Put everything back. The signer stays ended: who comes next is root."""
        self._end_signer()
        for place in self._changing:
            shutil.rmtree(place)
            shutil.copytree(self.base / "kept" / place.name, place, symlinks=True)

    @property
    def _changing(self) -> list[Path]:
        return [*super()._changing, self.places.pins]

    def verify(self, level: str) -> Found:
        """What an auditor finds who has noted the first epoch's key; at A4 also what is kept off the machine."""
        around = outlook(self.home, pins=self.places.pins, with_anchors=level == "A4")
        verdict = verify_store(
            self.home,
            evidence=StoreEvidence(
                pinned=self.noted,
                known=tuple(head for head in around.heads if head.level <= Level(level)),
                live=live_epoch(around, at=system_clock(), is_noted=True),
                alarms=around.alarms,
            ),
            demand=Demand(require=Require(level)),
        )
        return _found(level, verdict)
