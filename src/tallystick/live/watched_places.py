"""The files that agents are configured by, looked at again and again in a thread.

Owns that no one waits for it, and that files are read only where the file system says that they have changed. What is
kept of them is digests. What git says of the folder is looked at only when that is asked for. Must not know sessions.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tallystick.model.step import Json
from tallystick.recording.checkpoints.auto import LookAtGit
from tallystick.sessions.configuration import Digested
from tallystick.workspace.file_stat_key import Stamp, stamp_of

if TYPE_CHECKING:  # what reads the files is loaded in the thread: the recorder's start does not wait for it
    from tallystick.capture.surroundings import Surroundings
    from tallystick.live.instruction_changes import InstructionChanges, InstructionNews
    from tallystick.recording.run_config.gathered import Gathered

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 2.0
_LONGEST = 4096
_MOST_TICKETS = 1024
_SETTLED_S = 5.2
"""By then it is known whether a call wrote a file."""
_REST = 50
"""So many times as long as it took to read the files they are left alone."""

Gather = Callable[[str, "Surroundings"], "Gathered"]


def working_folder(said: str | None) -> str | None:
    """The folder that a session says it works in, if it is one that can be looked at."""
    if said is not None and said.startswith("/") and "\0" not in said and len(said) < _LONGEST:
        return said
    return None


class Place(msgspec.Struct, frozen=True):
    """Whose files, and where: sessions that share them are looked at once."""

    agent: str
    user: Path
    folder: str | None
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def where(self) -> Surroundings:
        """The same, for who reads the files."""
        from tallystick.capture.surroundings import Surroundings

        project = None
        if self.folder is not None:
            project = Path(self.folder)
        return Surroundings(user=self.user, environment=dict(self.variables), project=project)


class Found(msgspec.Struct, frozen=True):
    """What is in the files of a place, as they were last read."""

    digested: Digested
    looked_at: tuple[Path, ...] = ()
    stamp: Stamp = ()
    turn: int = 0
    """Another number each time that any are read."""
    rests_until: float = 0.0
    """By the monotonic clock: what takes long is not done often, though an agent writes to its files all the time."""
    git: Mapping[str, Json] | None = None
    """What git said of the folder when that was last asked for."""
    ticket: int = 0
    """For which asking that was; 0: for none."""
    news: tuple[InstructionNews, ...] = ()
    """Files of instructions that are new to their user."""


class Look(msgspec.Struct, frozen=True):
    """How a place is looked at: what reads the files of its agent and what asks git, and how often."""

    gather: Gather
    git: LookAtGit = lambda folder: None
    seconds: float = _LOOK_SECONDS
    authored: Callable[[Gathered], Gathered] = lambda gathered: gathered
    """Says of what was gathered who wrote it."""
    changes: InstructionChanges | None = None
    """Says what of it is new to its user."""


class Places:
    """Looks at the files of places, as long as someone wants to know."""

    def __init__(
        self, look: Look, key: Callable[[], bytes], *, failed: Callable[[Exception], object] = lambda error: None
    ) -> None:
        """Look at no place yet.

        Args:
            key: the store's, under which digests are made. failed: told of a place that could not be read.
        """
        self._gather = look.gather
        self._authored = look.authored
        self._changes = look.changes
        self._git = look.git
        self._key = key
        self._failed = failed
        self._look_seconds = look.seconds
        self._turns = itertools.count()
        self._wanted: frozenset[Place] = frozenset()
        self._found: dict[Place, Found] = {}
        self._asked = itertools.count(1)
        self._tickets: dict[Place, int] = {}
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None

    def want(self, places: Collection[Place]) -> None:
        """Look at these places from now on, and at no others."""
        with self._changed:
            if self._wanted == frozenset(places):
                return
            self._wanted = frozenset(places)
            self._found = {place: found for place, found in self._found.items() if place in self._wanted}
            if self._wanted and self._worker is None:
                self._worker = threading.Thread(target=self._look, name="tallystick-configuration", daemon=True)
                self._worker.start()
            self._changed.notify_all()

    def found(self, place: Place) -> Found | None:
        """What is in the files of a place; None: they were not read yet."""
        return self._found.get(place)

    def ask_git(self, place: Place) -> int:
        """Have git asked of a place from now on wanted. What is found with this ticket, or a later one, has its answer."""
        with self._changed:
            ticket = self._tickets[place] = next(self._asked)
            if len(self._tickets) > _MOST_TICKETS:
                self._tickets = {each: self._tickets[each] for each in (*self._wanted, place) if each in self._tickets}
            self._changed.notify_all()
            return ticket

    def wait(self, *, seconds: float) -> None:
        """Wait until all that is wanted was looked at, but not longer than so."""
        with self._changed:
            self._changed.wait_for(self._is_done, seconds)

    def _is_done(self) -> bool:
        found = (self._found.get(place) for place in self._wanted)
        asked = (self._tickets.get(place, 0) for place in self._wanted)
        return all(each is not None and each.ticket >= ticket for each, ticket in zip(found, asked, strict=True))

    def _look(self) -> None:
        """Look at all places in turn; the thread ends when none is wanted any more."""
        while True:
            with self._changed:
                wanted = self._wanted
                self._found = {place: found for place, found in self._found.items() if place in wanted}
                if not wanted:
                    self._worker = None
                    return
            for place in wanted:
                self._look_at(place)
            with self._changed:
                self._changed.notify_all()
                if self._is_done():
                    self._changed.wait(self._look_seconds)

    def _look_at(self, place: Place) -> None:
        ticket = self._tickets.get(place, 0)
        self._look_at_files(place, ticket)
        found = self._found.get(place)
        if found is not None and found.ticket < ticket:
            self._found[place] = replace(found, git=self._said_by_git(place.folder), ticket=ticket)

    def _look_at_files(self, place: Place, ticket: int) -> None:
        known = self._found.get(place)
        began = time.monotonic()
        if known is not None:
            rests = (
                began < known.rests_until and known.ticket >= ticket
            )  # a session that begins is told how they are now
            if rests or stamp_of(known.looked_at) == known.stamp:
                return
        turn = next(self._turns)
        try:
            gathered, news = self._gathered(place)
            found = gathered.under(self._key())
            rests_until = began + _REST * (time.monotonic() - began)
            if known is not None:
                git, ticket = known.git, known.ticket
            else:
                git, ticket = None, 0
            self._found[place] = Found(
                found, gathered.looked_at, gathered.stamp, turn, rests_until, git=git, ticket=ticket, news=news
            )
        except Exception as error:  # a fault of ours: what sessions say of themselves is recorded all the same
            _LOG.exception("what sessions of %s run under could not be gathered", place.agent)
            self._failed(error)
            self._found[place] = Found(Digested(), turn=turn)

    def _gathered(self, place: Place) -> tuple[Gathered, tuple[InstructionNews, ...]]:
        """What is in the files, who wrote it, and what is new to the user. News waits for who wrote it."""
        gathered = self._authored(self._gather(place.agent, place.where))
        if self._changes is None:
            return gathered, ()
        news = self._changes.look(gathered.given)
        if any(one.author.by == "unknown" for one in news):
            time.sleep(_SETTLED_S)
            gathered = self._authored(gathered)
            news = self._changes.look(gathered.given)
        return gathered, news

    def _said_by_git(self, folder: str | None) -> Mapping[str, Json] | None:
        try:
            if folder is None:
                return None
            return self._git(folder)
        except Exception:  # the files were read all the same
            _LOG.exception("what git says of a folder could not be read")
            return None
