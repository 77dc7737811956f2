"""Noticing what is not heard of, while the recorder runs: lost deliveries, strangers in its place, hooks that are gone.

Owns when is looked, in a thread, and that what was found is reported once. Must not know how it is found.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.capture.receipts import Deliveries
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import TallystickError
from tallystick.journal.read import read_session
from tallystick.live.heard import Heard
from tallystick.live.own_alerts import OwnAlerts
from tallystick.policy.alert import UNHEARD, UNHOOKED
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.settings import read_setting

if TYPE_CHECKING:  # loaded in the thread: the recorder's start does not wait for them
    from tallystick.setup.missing_hooks import MissingHooks
    from tallystick.setup.unheard import Unheard

_LOG = logging.getLogger(__name__)
_FIRST_SECONDS = 1.0
_EVERY_SECONDS = 5.0
_AGAIN_SECONDS = 1.0
_REST = 50
"""So many times as long as a look took none is done."""
_LONGEST_REST_SECONDS = 20.0
_KEEP_SECONDS = 30.0
_MOST_LOGGED = 8
_MOST_STRANGERS = 16
_HEARD_AGAIN_SECONDS = 3600.0
_OTHER_WAYS = ("acp", "sdk")
"""What else records a session while it runs; an import or a transcript tells of it afterwards."""


class Noticing:
    """One store, looked at again and again."""

    def __init__(self, writer: SessionWriter, heard: Heard, alerts: OwnAlerts, user: Surroundings) -> None:
        """Look at nothing yet. user: whose agents are meant."""
        self._writer = writer
        self._home = writer.home
        self._heard = heard
        self._alerts = alerts
        self._user = user
        self._began = time.time()
        self._due = time.monotonic() + _FIRST_SECONDS
        self._hooks: MissingHooks | None = None
        self._unheard: Unheard | None = None
        self._looks = 0
        self._logged: tuple[str, ...] = ()
        self._kept = self._looked = 0.0
        self._unheard_at: dict[str, float] = {}
        self.deliveries: Deliveries | None = None
        """What hooks note; None: they note nothing that could be told from lies."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        return time.monotonic() >= self._due

    def work(self) -> None:
        """Look, and tell. Never raises."""
        began = time.monotonic()
        self._due = began + _EVERY_SECONDS
        for look in (self._strangers, self._unrecorded):
            self._attempt(look)
        if self._looks:  # not the first time: what is loaded for it would keep the first calls waiting
            for look in (self._unhooked, self._works_unheard):
                self._attempt(look)
        self._looks += 1
        took = time.monotonic() - began
        self._due = max(self._due, time.monotonic() + min(_REST * took, _LONGEST_REST_SECONDS))
        if self._is_unsure():
            self._due = time.monotonic() + _AGAIN_SECONDS

    def _is_unsure(self) -> bool:
        """Whether something may be missing, which another look tells."""
        in_doubt = self._hooks is not None and self._hooks.is_unsure
        return in_doubt or (self.deliveries is not None and self.deliveries.is_unsure)

    def _attempt(self, look: Callable[[], None]) -> None:
        try:
            look()
        except (TallystickError, OSError) as error:
            self._log(logging.WARNING, error)
        except Exception as error:
            self._log(logging.ERROR, error)

    def _log(self, level: int, error: Exception) -> None:
        """Write down what went wrong, once while it stays the same."""
        if str(error) not in self._logged:
            self._logged = (*self._logged[-_MOST_LOGGED:], str(error))
            _LOG.log(level, "what is not heard of could not be looked for", exc_info=error)

    # What hooks delivered ---------------------------------------------------------------------------------------------

    def _strangers(self) -> None:
        """Whom hooks found in the recorder's place and told nothing."""
        for path in sorted((self._home.folder / "spool").glob("*.stranger"))[:_MOST_STRANGERS]:
            if path.stem.isdigit():
                self._alerts.stranger(int(path.stem[:12]))
            with contextlib.suppress(OSError):
                path.unlink()

    def _unrecorded(self) -> None:
        if self.deliveries is None:
            return
        found = self.deliveries.look()
        if found is not None:
            self._alerts.unrecorded(found)
            self.deliveries.settle(found.agents)
        if self.deliveries.was_removed:
            self.deliveries.was_removed = False
            self._alerts.alarm("the file in which hooks note what they deliver was removed, cut or filled up")

    # Agents that are not heard ----------------------------------------------------------------------------------------

    def _watched_hooks(self) -> MissingHooks:
        if self._hooks is None:
            from tallystick.setup.missing_hooks import MissingHooks

            self._hooks = MissingHooks(self._home, self._user)
        return self._hooks

    def _unhooked(self) -> None:
        found = self._watched_hooks().look()
        for agent, said in found.items():
            self._alerts.unhooked(agent, said)
        for agent in self._alerts.silences.open(UNHOOKED):
            if agent not in found and not self._watched_hooks().is_doubtful(agent):
                self._alerts.silences.over(UNHOOKED, agent)

    def _works_unheard(self) -> None:
        now = time.time()
        since = self._looked or self._heard.looked or self._began
        self._looked = now
        found = {}
        if read_setting(self._home, "hooks.unheard") == "on":
            found = self._watched_files().look(self._watched_hooks().installed(), since=since, now=now)
        self._unheard_at |= dict.fromkeys(found, now)
        for agent, path in found.items():
            self._alerts.unheard(agent, str(path))
        for agent in self._alerts.silences.open(UNHEARD):
            if now - self._unheard_at.setdefault(agent, now) > _HEARD_AGAIN_SECONDS:
                self._alerts.silences.over(UNHEARD, agent)
        if now - self._kept >= _KEEP_SECONDS:
            self._kept = now
            self._heard.keep(now)

    def _watched_files(self) -> Unheard:
        if self._unheard is None:
            from tallystick.setup.unheard import Unheard

            self._unheard = Unheard(self._user.user, self._heard.spoke, self._is_recorded)
        return self._unheard

    def _is_recorded(self, agent: str, path: Path) -> bool:
        """Whether an editor's protocol, or the agent's own program, records the session of a file while it runs."""
        from tallystick.setup.unheard import names_in

        archive = self._writer.writer.archive
        archive.look_anew()
        found = [sid for name in names_in(path) if (sid := archive.find(agent, name)) is not None]
        openings = (next(iter(read_session(self._home, sid)), None) for sid in found)
        return any(step is not None and step.meta.get("source") in _OTHER_WAYS for step in openings)
