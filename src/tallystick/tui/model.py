"""What is open: the sessions, the steps of one of them, the detail of one of those; and keeping the index up to date.

Owns the way from choosing something to seeing it. Must not know other ways to choose than moving.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from array import array
from collections.abc import Sequence

from msgspec.structs import replace

from tallystick.display.facts import short
from tallystick.display.text import counted, one_line
from tallystick.errors import AmbiguousError, NotFoundError, UsageError
from tallystick.graph.graph import GraphError
from tallystick.graph.journals import Depth
from tallystick.graph.timeline import Spot, Wanted, is_searchable, matching, size_of
from tallystick.journal.home import Home
from tallystick.model.verdict import Verdict
from tallystick.review import browse, browse_upkeep
from tallystick.review.browse import Reader, SessionLine
from tallystick.tui.badge import badge
from tallystick.tui.detail import whole_text
from tallystick.tui.frame import Frame
from tallystick.tui.rows import Rows
from tallystick.tui.search import as_beginnings
from tallystick.tui.theme import BAD, BOLD, DIM, NOTE, PLAIN, Piece
from tallystick.tui.timeline import Row, row_of
from tallystick.workspace.index import Index
from tallystick.workspace.names import find_session, find_step

_SETTLED_S = 0.12
"""No one moved for so long: then what the row is about is asked for."""
_NOTHING = "nothing is recorded yet: `tally import`, `tally up`"
_GROWN_S = 0.3
"""So often is looked how far an index is that is being made; not more than a fifth of the time."""


def spot_named(reader: Reader, name: str) -> Spot:
    """The session or step that a person names. Raises NotFoundError, AmbiguousError, UsageError."""
    index = Index(reader.graph)
    if ":" in name or "#" in name:
        return _step_named(index, name)
    try:
        return Spot(find_session(index, name), None)
    except NotFoundError as error:
        try:
            return _step_named(index, name)  # it may be the hash of a step
        except (NotFoundError, UsageError):
            raise error from None


def _step_named(index: Index, name: str) -> Spot:
    place = find_step(index, name)
    return Spot(place.session, place.n)


class SessionModel(Frame):
    """The panes, filled."""

    def __init__(self, home: Home, asked: str | None) -> None:
        super().__init__(home)
        self.asked = asked
        """The session or step that was named when this was called."""
        self.wanted = Wanted()
        self.session: str | None = None
        self.verdict: Verdict | None = None
        self.verdict_wait = "not verified yet"
        self._early: str | None = None
        """The session that was opened before the index had all of them."""
        self._about: dict[str, SessionLine] = {}

    # The lines above and below --------------------------------------------------------------------------------------

    def header_pieces(self, width: int) -> list[Piece]:
        """The session that is open."""
        line = self._about.get(self.session or "")
        if line is None:
            return [(" tally", BOLD), (f"  {one_line(str(self.home.folder))}", DIM)]
        session = line.session
        hangs = ""
        if line.row.kind != "root":
            hangs = f" {line.row.kind}"
        failures = ""
        if session.failures:
            failures = f", {session.failures} failed"
        return [
            (f" {short(session.session)} ", BOLD),
            (one_line(f" {session.agent}{hangs}, {session.status}, {counted(session.steps, 'step')}"), PLAIN),
            (failures, BAD),
            (f"  {one_line((session.goal or session.title or '')[:width])}", DIM),
        ]

    def badge_pieces(self, width: int) -> list[Piece]:
        """The five axes."""
        return [(" ", PLAIN), *badge(self.verdict, self.verdict_wait, width)]

    # Sessions -------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Show what the index has; then bring it up to date."""
        self.begin("start", self.catch_up(shows_first=True))

    async def catch_up(self, *, shows_first: bool = False) -> None:
        """Bring the index up to date with all journals, and show what it has."""
        if not self.home.exists:
            self.sessions.empty, self.timeline.empty = "no store", "no steps"
            raise NotFoundError(f"no store at {self.home.folder}", hint="create one with `tally init`; R looks again")
        self.sessions.empty = self.timeline.empty = "loading…"
        before: tuple[int, ...] = ()
        if shows_first:
            try:
                before = await self.rows_lane.ask(browse.state_of)
                await self.load_sessions()
            except GraphError:
                self.say("the index is being made from the journals", NOTE)
            except (NotFoundError, AmbiguousError):
                pass  # the session that was named may be one that the index does not have yet
        progress = self.progress(self.work_lane, "updating the index")
        self.begin("growth", self._show_growth(before))
        try:
            remarks = await self.work_lane.ask(lambda _: browse_upkeep.catch_up(self.home, progress=progress))
        finally:
            self.end("growth")
        if self.session is None or await self.rows_lane.ask(browse.state_of) != before:
            await self.load_sessions()
            await self.renew()
        if not self.sessions.count:
            self.sessions.empty, self.timeline.empty = "no sessions", _NOTHING
            self.sessions.refresh()
            self.timeline.refresh()
        await self._open_first()
        self.say("; ".join(remarks), NOTE)

    async def _show_growth(self, shown: tuple[int, ...]) -> None:
        """Show what the index has so far, while it is being brought up to date: the rest may take a while."""
        while True:
            began = time.monotonic()
            with contextlib.suppress(GraphError, NotFoundError, AmbiguousError):  # it is only just being made
                state = await self.rows_lane.ask(browse.state_of)
                if state != shown and any(state):
                    shown, is_first = state, self.session is None
                    await self.load_sessions()
                    await self.renew()
                    if is_first:
                        self._early = self.session
            await asyncio.sleep(max(_GROWN_S, 4 * (time.monotonic() - began)))

    async def _open_first(self) -> None:
        """Where a session was opened early and no one has moved since: open the one that is to be opened first."""
        early, self._early = self._early, None
        if early is not None and early == self.session and self.sessions.all and not self.timeline.row:
            first = await self._first(self.sessions.all)
            if first != Spot(early, None):
                await self.open(first.session, first.n)

    async def _first(self, lines: Sequence[SessionLine]) -> Spot:
        """The session or step that was named, else the session with the newest step."""
        asked = self.asked
        if asked is None:
            return Spot(lines[0].session.session, None)
        return await self.rows_lane.ask(lambda reader: spot_named(reader, asked))

    async def load_sessions(self) -> None:
        """Fill the list of sessions; where none is open, open the one that was named, else the first."""
        lines = await self.rows_lane.ask(browse.all_sessions)
        self._about = {line.session.session: line for line in lines}
        self.sessions.fill(lines)
        self.sessions.border_title = f"Sessions {len(lines):,}"
        if self.session is None and lines:
            first = await self._first(lines)
            await self.open(first.session, first.n)
        self.redraw()

    # One session ----------------------------------------------------------------------------------------------------

    async def open(self, session: str, n: int | None = None) -> None:
        """Show a session, at a step of it. Where the filter leaves that step out, the filter is dropped."""
        is_other = session != self.session
        numbers, size = await self._steps(session)
        if n is not None and numbers is not None and n not in numbers:
            self.wanted, numbers = Wanted(), None
            self.say("the filter is off: it leaves that step out", NOTE)
        self.session = session
        self.end_all("block")
        if is_other:
            self.verdict, self.verdict_wait = None, "not verified yet"
            self.timeline.seek("")
            self.begin("verify", self.verify())
        self.sessions.find(session)
        self.timeline.open(session, size, numbers=numbers)
        if n is not None:
            self.choose(n)
        self._title()
        self.ask_detail()

    async def renew(self) -> None:
        """The session that is open, as it is now."""
        if self.session is None:
            return
        numbers, size = await self._steps(self.session)
        before = self.timeline.count
        self.timeline.grow(size, numbers=numbers)
        if self.timeline.count > before and self.verdict is not None and size > self.verdict.steps:
            self.verdict, self.verdict_wait = None, "new steps since the last check; press V to verify"
        self._title()

    async def _steps(self, session: str) -> tuple[array[int] | None, int]:
        """The numbers of the steps to show (None: all), and how many there are at all."""
        wanted = self.wanted
        asked = replace(wanted, text=as_beginnings(wanted.text))
        if wanted.text:
            await self.make_searchable(session)

        def ask(reader: Reader) -> tuple[array[int] | None, int]:
            size = size_of(reader.graph, session)
            if size is None:
                raise NotFoundError(f"session {short(session)} is not in the index", hint="R reads the journals again")
            if wanted.takes_all:
                return None, size
            return matching(reader.graph, session, asked), size

        return await self.rows_lane.ask(ask)

    async def make_searchable(self, session: str) -> None:
        """Have the text of a session in the index."""
        if not await self.rows_lane.ask(lambda reader: is_searchable(reader.graph, session)):
            progress = self.progress(self.work_lane, "reading the text of the session")
            await self.work_lane.ask(
                lambda _: browse_upkeep.catch_up(self.home, session=session, depth=Depth.TEXT, progress=progress)
            )
            self.say("")

    def choose(self, n: int) -> bool:
        """Choose a step by its number; False if it is not among those that are shown."""
        row = self.timeline.row_of(n)
        if row is None:
            return False
        self.timeline.go(row)
        return True

    def _title(self) -> None:
        timeline = self.timeline
        timeline.border_title = f"Steps {timeline.count:,}"
        if timeline.numbers is not None:
            timeline.border_title += ", filtered"
        if self.wanted.takes_all:
            timeline.empty = "no steps"
        else:
            timeline.empty = "no step of this session matches the filter (x removes it)"
        self.redraw()

    def wants(self, block: int) -> None:
        """Rows are to be drawn that are not there."""
        self.begin(f"block {block}", self._load(block))

    async def _load(self, block: int) -> None:
        timeline = self.timeline
        session, numbers = timeline.session, timeline.numbers
        wanted = timeline.numbers_of(block)
        if session is None or not wanted:
            timeline.give_up(block)
            return

        def ask(reader: Reader) -> list[Row]:
            if numbers is None:
                lines = browse.window(reader, session, wanted[0], len(wanted))
            else:
                lines = browse.picked(reader, session, wanted)
            return [row_of(line) for line in lines]

        try:
            rows = await self.rows_lane.ask(ask)
        except Exception:
            timeline.give_up(block)
            raise
        if timeline.session == session and timeline.numbers is numbers:
            timeline.take(block, rows)
            timeline.look_ahead()

    # The detail -----------------------------------------------------------------------------------------------------

    def ask_detail(self) -> None:
        """Show everything of the chosen step, as soon as no one moves any more."""
        if self.detail.display:
            self.begin("detail", self._tell_detail())

    async def _tell_detail(self) -> None:
        await asyncio.sleep(_SETTLED_S)
        session, n = self.timeline.session, self.timeline.step
        if session is None or n is None:
            self.detail.tell([])
            return
        try:
            text = await self.detail_lane.ask(lambda reader: whole_text(browse.whole_step(reader, session, n)))
        except Exception:
            self.detail.tell([])
            raise
        self.detail.tell(text)

    # Verifying ------------------------------------------------------------------------------------------------------

    async def verify(self) -> None:
        """Reach the verdict on the session that is open, in a process of its own."""
        await asyncio.sleep(2 * _SETTLED_S)
        session = self.session
        if session is None:
            return
        self.verdict, self.verdict_wait = None, "verifying…"
        self.redraw()
        try:
            verdict = await self.verdict_lane.ask(lambda _: browse_upkeep.verdict_of(self.home, session))
        except Exception:
            self.verdict_wait = "could not be verified"
            raise
        if session == self.session:
            self.verdict = verdict
        self.redraw()

    # Moving ---------------------------------------------------------------------------------------------------------

    def on_rows_moved(self, event: Rows.Moved) -> None:
        """Another row was chosen."""
        self.say("")
        if event.rows is self.timeline:
            self.timeline.look_ahead()
            self.ask_detail()
        elif event.rows is self.sessions and self.sessions.session is not None:
            self.begin("open", self._open_soon(self.sessions.session.session.session))

    async def _open_soon(self, session: str) -> None:
        await asyncio.sleep(_SETTLED_S)
        if session != self.session:
            await self.open(session)

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Enter on a row."""
        if event.rows is self.sessions:
            self.timeline.focus()
        else:
            self.show_detail(not self.detail.display)
            self.ask_detail()
