"""Finding: the search that begins while it is typed, the filter, and the line in which both are typed.

Owns what the typed line means. Must not know how steps are found: the search asks what is loaded, then the store.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left

from textual.events import Key
from textual.widgets import Input

from tallystick.display.text import counted
from tallystick.errors import UsageError
from tallystick.graph.timeline import Spot, Wanted, matching
from tallystick.review.browse import Reader
from tallystick.tui.bars import Prompt
from tallystick.tui.jumping import Jumping
from tallystick.tui.search import HOW, as_beginnings, filter_text, parse_filter
from tallystick.tui.theme import BOLD, DIM, NOTE, PLAIN, Piece

_TYPED_S = 0.2
"""No one typed for so long: then the store is asked."""


class Finding(Jumping):
    """The keys that find."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self._from = 0
        """The row on which a search began."""

    def status_pieces(self, width: int) -> list[Piece]:
        """What was said, else where one is; what is shown and marked."""
        step, timeline = self.timeline.step, self.timeline
        if self.prompt.purpose:
            return [(" ", PLAIN), self.said if self.said[0] else (_ASKS[self.prompt.purpose], DIM)]
        if self.said[0]:
            return [(" ", PLAIN), self.said]
        where = " no step"
        if step is not None:
            where = f" step {step:,} · {timeline.row + 1:,} of {timeline.count:,}"
        pieces: list[Piece] = [(where, PLAIN)]
        if not self.wanted.takes_all:
            pieces.append((f"  filter {filter_text(self.wanted)}", NOTE))
        if timeline.words:
            pieces.append((f"  » {counted(len(timeline.hits), 'hit')} of {timeline.words}", BOLD))
        return pieces

    # The line that is typed in --------------------------------------------------------------------------------------

    def _ask(self, purpose: str, text: str = "", placeholder: str = "") -> None:
        self.say("")
        self._from = self.timeline.row
        self.prompt.begin(purpose, text, placeholder)
        self.redraw()

    def action_search(self) -> None:
        """Search."""
        self._ask("search", placeholder='words "phrases" beginnings*')

    def action_filter(self) -> None:
        """Filter."""
        self._ask("filter", filter_text(self.wanted), HOW)

    def action_number(self) -> None:
        """Go to a step."""
        self._ask("number", placeholder="a number, SESSION:N, or a hash")

    def on_key(self, event: Key) -> None:
        """Keys that come in one go, as over a slow line: what follows the key that asks is the answer, and no command."""
        if any(prompt.takes_late(event) for prompt in self.screen.query(Prompt)):
            event.stop().prevent_default()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something was typed: a search begins."""
        if self.prompt.purpose == "search":
            self.timeline.seek(event.value.strip())
            self._go_to_hit()
            self.begin("search", self._search_soon(event.value))

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: what was typed is meant."""
        purpose, text = self.prompt.purpose, event.value
        self._done_typing()
        if purpose == "search":
            self.begin("search", self._search(text, is_whole=True))
        elif purpose == "filter":
            self.begin("open", self._filter(text))
        elif purpose == "number":
            self.begin("jump", self.go_to(text))

    def on_prompt_left(self) -> None:
        """Escape: nothing was meant."""
        if self.prompt.purpose == "search":
            self.end("search")
            self.timeline.seek("")
            self.timeline.go(self._from)
        self._done_typing()

    def _done_typing(self) -> None:
        self.prompt.end()
        self.timeline.focus()
        self.redraw()

    # Searching ------------------------------------------------------------------------------------------------------

    async def _search_soon(self, text: str) -> None:
        await asyncio.sleep(_TYPED_S)
        await self._search(text, is_whole=False)

    async def _search(self, text: str, *, is_whole: bool) -> None:
        """Mark the steps of the session that hold some words. As long as it is typed, only what is indexed already."""
        session, words = self.session, text.strip()
        if session is None or not words:
            self.timeline.seek("")
            return
        if is_whole:
            await self.make_searchable(session)
        wanted = Wanted(text=as_beginnings(words))

        def ask(reader: Reader) -> array[int]:
            return matching(reader.graph, session, wanted)

        hits = await self.rows_lane.ask(ask)
        self.timeline.seek(words, hits)
        if not self.timeline.hits:
            self.say(f"no step of this session holds {words}", NOTE)
        else:
            self._go_to_hit()
        self.redraw()

    def _go_to_hit(self) -> None:
        """The first hit from where the search began."""
        timeline = self.timeline
        start = timeline.number(self._from)
        shown = [row for n in timeline.hits if (row := timeline.row_of(n)) is not None]
        after = [row for row in shown if timeline.number(row) >= start]
        if shown:
            if after:
                timeline.go(after[0])
            else:
                timeline.go(shown[0])
        elif timeline.row != self._from:
            timeline.go(self._from)

    def action_hit(self, by: int) -> None:
        """The next hit."""
        found = self.timeline.next_hit(by)
        session = self.session
        if found is None or session is None:
            self.say("nothing was searched for: / does" if not self.timeline.words else "no hits", NOTE)
            return
        self.choose(found)

    # Filtering ------------------------------------------------------------------------------------------------------

    async def _filter(self, text: str) -> None:
        try:
            wanted = parse_filter(text)
        except UsageError:
            self._ask("filter", text, HOW)  # what was typed stays, to be fixed
            raise
        await self._take_filter(wanted)

    async def _take_filter(self, wanted: Wanted) -> None:
        here, before = self.here, self.wanted
        self.wanted = wanted
        self.sessions.only(wanted.agents)
        if self.session is None:
            return
        try:
            await self.open(self.session)
        except Exception:
            self.wanted = before
            raise
        if here is not None and here.n is not None:
            self._stay_near(here)
        self.redraw()

    def _stay_near(self, spot: Spot) -> None:
        """The step that was chosen before, or the next one that is shown."""
        timeline, n = self.timeline, spot.n or 0
        rows = timeline.numbers if timeline.numbers is not None else range(timeline.count)
        timeline.go(bisect_left(rows, n))

    def action_no_filter(self) -> None:
        """All steps again."""
        if not self.wanted.takes_all:
            self.begin("open", self._take_filter(Wanted()))

    def action_leave(self) -> None:
        """End what is going on."""
        if self.sessions.has_focus or self.detail.has_focus:
            self.timeline.focus()
        elif self.timeline.words:
            self.timeline.seek("")
            self.redraw()
        elif not self.wanted.takes_all:
            self.action_no_filter()


_ASKS = {
    "search": "search: n and N continue after Enter, Esc ends it",
    "filter": f"show only: {HOW}",
    "number": "go to: a number, SESSION:N or a hash",
}
