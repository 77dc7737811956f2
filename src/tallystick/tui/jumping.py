"""Jumps: to what a step belongs to, to the next of a kind, to a number, to a checkpoint; and back.

Owns where each key leads, the way back, and how a checkpoint looks as a row to choose from. Must not know how what is
jumped to is found.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

import msgspec

from tallystick.display.facts import short
from tallystick.display.text import one_line
from tallystick.errors import NotFoundError, UsageError
from tallystick.graph.checkpoints import CheckpointEntry, CheckpointFilter, list_checkpoints
from tallystick.graph.timeline import Spot, began_at, by_hash, matching, nearest, size_of
from tallystick.review import browse
from tallystick.review.browse import Reader
from tallystick.tui.model import SessionModel, spot_named
from tallystick.tui.theme import BAD, BOLD, DIM, GOOD, NOTE, PLAIN, Piece, fitted

_MOST = 1_000


class Marked(msgspec.Struct, frozen=True):
    """A checkpoint. `holds`: the entry at its position has the hash that it says."""

    entry: CheckpointEntry
    holds: bool


def marks_of(reader: Reader, session: str) -> list[Marked]:
    """The checkpoints of a session, the newest first. Raises GraphError."""
    found = list_checkpoints(reader.graph, CheckpointFilter(session=session, limit=_MOST))
    marks = []
    for entry in found:
        spot = by_hash(reader.graph, session, entry.position_hash)
        marks.append(Marked(entry, spot is not None and spot.n == entry.position))
    return marks


def mark_pieces(mark: Marked) -> list[Piece]:
    """Whether it holds, where it is, what made it, its id, its label."""
    entry = mark.entry
    label = "(deleted by retention)"
    if not entry.is_pruned:
        label = one_line(entry.label or "")
    verdict = (" ✔ ", GOOD)
    if not mark.holds:
        verdict = (" ✕ broken: another entry is there ", BAD)
    return [
        verdict,
        (f"at {entry.position:>5}  ", PLAIN),
        (f"{fitted(one_line(entry.trigger), 14)}  ", DIM),
        (f"{entry.hash[:8]}  ", DIM),
        (label, BOLD),
    ]


_MOST_PLACES = 100
_KINDS = {"failed": browse.FAILED, "decided": browse.DECIDED, "prompt": browse.PROMPTS}
_KIND_WORDS = {"failed": "failure", "decided": "decision", "prompt": "prompt"}


class Jumping(SessionModel):
    """The keys that jump."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._places: list[Spot] = []

    @property
    def here(self) -> Spot | None:
        """Where one is."""
        if self.session is None:
            return None
        return Spot(self.session, self.timeline.step)

    async def jump(self, spot: Spot | None, *, nowhere: str) -> None:
        """Go somewhere; it can be gone back from."""
        here = self.here
        if spot is None or spot == here:
            self.say(nowhere, NOTE)
            return
        if here is not None:
            self._places = [*self._places[-_MOST_PLACES + 1 :], here]
        await self._go(spot)

    async def _go(self, spot: Spot) -> None:
        if spot.session == self.session and (spot.n is None or self.choose(spot.n)):
            self.redraw()
            return
        await self.open(spot.session, spot.n)

    def action_return(self) -> None:
        """Back to where the last jump began."""
        if not self._places:
            self.say("no jump to go back from", NOTE)
            return
        self.begin("jump", self._go(self._places.pop()))

    def _jump_from(self, find: Callable[[Reader, str, int], Spot | None], nowhere: str) -> None:
        """Jump to what is found from the chosen step."""
        here = self.here
        if here is None or here.n is None:
            return
        session, n = here.session, here.n

        async def go() -> None:
            await self.jump(await self.rows_lane.ask(lambda reader: find(reader, session, n)), nowhere=nowhere)

        self.begin("jump", go())

    # What it belongs to
    # -----------------------------------------------------------------------------------------------

    def action_parent(self) -> None:
        """The step that this one follows from."""
        self._jump_from(browse.parent_of, "it is the first step: it follows from none that is recorded")

    def action_cause(self) -> None:
        """What this step was for."""
        self._jump_from(browse.cause_of, "nothing is recorded of what it was for")

    def action_above(self) -> None:
        """Where the session began in another one."""
        self._jump_from(lambda reader, session, _: began_at(reader.graph, session), "this session has no parent")

    def action_child(self) -> None:
        """The session that the step began."""
        row = None
        if self.timeline.count:
            row = self.timeline.get(self.timeline.row)
        if row is None or not row.sessions:
            self.say("no session began at this step; those that did are marked ↳", NOTE)
            return
        self.begin("jump", self.jump(Spot(row.sessions[0], 0), nowhere=""))

    def action_session(self, by: int) -> None:
        """The session before or after this one in the list."""
        self.sessions.go(self.sessions.row + by)

    # The next of a kind ---------------------------------------------------------------------------------------------

    def action_next(self, kind: str, by: int) -> None:
        """The next step of a kind, among those that are shown."""
        wanted, numbers = _KINDS[kind], self.timeline.numbers

        def find(reader: Reader, session: str, n: int) -> Spot | None:
            if numbers is None:
                found = nearest(reader.graph, session, n, wanted, step=by)
            else:
                shown = sorted(set(numbers) & set(matching(reader.graph, session, wanted)))
                if by > 0:
                    at = bisect_right(shown, n)
                else:
                    at = bisect_left(shown, n) - 1
                found = None
                if 0 <= at < len(shown):
                    found = shown[at]
            if found is None:
                return None
            return Spot(session, found)

        self._jump_from(find, f"no {_KIND_WORDS[kind]} {'after' if by > 0 else 'before'} this step")

    def action_marks(self) -> None:
        """The checkpoints of the session, to choose one of."""
        if self.session is not None:
            self.begin("jump", self._choose_mark(self.session))

    async def _choose_mark(self, session: str) -> None:
        from tallystick.tui.jumping import mark_pieces, marks_of
        from tallystick.tui.pages import Choice

        marks = await self.rows_lane.ask(lambda reader: marks_of(reader, session))

        def chosen(row: int | None) -> None:
            if row is not None:
                spot = Spot(session, marks[row].entry.position)
                self.begin("jump", self.jump(spot, nowhere="this step is already selected"))

        title = f"Checkpoints of session {short(session)}"
        empty = "no checkpoints: create one with `tally checkpoint create`"
        self.push_screen(Choice(title, [mark_pieces(mark) for mark in marks], empty=empty), chosen)

    # By name --------------------------------------------------------------------------------------------------------

    async def go_to(self, text: str) -> None:
        """A step of this session by its number, or any step or session by what a person calls it.

        Raises:
            UsageError: nothing was typed, or it names nothing. NotFoundError, AmbiguousError: it names none, or several.
        """
        name = text.strip().removeprefix("#")
        session = self.session
        if not name:
            raise UsageError("type a number, SESSION:N or a hash")
        if name.isascii() and name.isdigit() and session is not None and len(name) < 10:
            n, size = int(name), await self.rows_lane.ask(lambda reader: size_of(reader.graph, session) or 0)
            if n < size:
                await self.jump(Spot(session, n), nowhere="this step is already selected")
                return
            missing = NotFoundError(f"step {n} does not exist", hint=f"session {short(session)} has 0 to {size - 1}")
        else:
            missing = None
        try:
            spot = await self.rows_lane.ask(lambda reader: spot_named(reader, name))
        except NotFoundError as error:
            raise missing or error from None
        await self.jump(spot, nowhere="this step is already selected")
