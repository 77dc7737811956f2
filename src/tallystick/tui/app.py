"""The full screen: sessions on the left, the steps of one on the right, everything of a step below; and the help.

Owns the keys that are neither jumps nor searches: following, the verdict, copying, and the screens on top.
"""

from __future__ import annotations

import asyncio
import time

from tallystick.display.facts import short
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.review import browse, browse_upkeep
from tallystick.tui.badge import verdict_text
from tallystick.tui.finding import Finding
from tallystick.tui.frame import FOLLOWING
from tallystick.tui.keys import PANES, SIGNS
from tallystick.tui.theme import BOLD, DIM, GOOD, LINK, NOTE, PLAIN, Piece

_FIRST = "Everything shown is read from the journals. Only settings can be changed here."


def help_text() -> list[list[Piece]]:
    """The help, line by line."""
    lines: list[list[Piece]] = [[(_FIRST, DIM)]]
    for title, keys in PANES:
        lines += [[], [(title, BOLD)]]
        lines += [[(f"  {key.shown:<10}", BOLD), (key.does, PLAIN)] for key in keys]
    lines += [[], [("Signs", BOLD)]]
    lines += [[(f"  {signs:<12}", BOLD), (meaning, PLAIN)] for signs, meaning in SIGNS]
    return lines


_EVERY_S = 1.0


class Browser(Finding):
    """The full screen on a store; `asked` names the session or step to open first, else it is the newest session."""

    def __init__(self, home: Home, asked: str | None = None) -> None:
        super().__init__(home, asked)

    def status_pieces(self, width: int) -> list[Piece]:
        """Likewise, and whether what is recorded now is followed."""
        if self.has_begun(FOLLOWING) and not self.said[0]:
            following = [("  ⟳ following", GOOD)]
        else:
            following = []
        return [*super().status_pieces(width), *following]

    # Following ------------------------------------------------------------------------------------------------------

    def action_follow(self) -> None:
        """Follow what is recorded, or stop that."""
        if self.has_begun(FOLLOWING):
            self.end(FOLLOWING)
            self.say("not following any more", NOTE)
            return
        self.timeline.go(self.timeline.count - 1)
        self.begin(FOLLOWING, self._follow())
        self.redraw()

    async def _follow(self) -> None:
        lane, shown = self.work_lane, tuple[int, ...]()
        while True:
            began = time.monotonic()
            try:
                # All sessions: the list shows of each how it is now, whichever is open.
                await lane.ask(lambda _: browse_upkeep.catch_up(self.home, progress=lane.check))
                state = await self.rows_lane.ask(browse.state_of)
                if state != shown:
                    await self.load_sessions()
                    await self.renew()
                    shown = state
            except (TallystickError, OSError) as error:
                self.tell_error(
                    error
                )  # it may be over in a second: an index that is being written, a file that is replaced
            await asyncio.sleep(max(_EVERY_S, 4 * (time.monotonic() - began)))

    def action_reload(self) -> None:
        """Read the journals again."""
        self.begin("start", self.catch_up())

    # The rest -------------------------------------------------------------------------------------------------------

    def action_verify(self) -> None:
        """Verify the session again."""
        self.begin("verify", self.verify())

    def action_verdict(self) -> None:
        """The verdict in full."""
        if self.verdict is None:
            self.say(f"no verdict yet: {self.verdict_wait}", NOTE)
            return
        from tallystick.tui.pages import Page

        self.push_screen(Page(f"Verdict on session {short(self.session or '')}", verdict_text(self.verdict)))

    def action_copy(self) -> None:
        """The step's id to the clipboard of the terminal, and onto the screen for those that have none."""
        row = None
        if self.timeline.count:
            row = self.timeline.get(self.timeline.row)
        if row is not None:
            self.copy_to_clipboard(row.hash)
            self.say(f"copied {row.hash}", LINK)

    def action_sessions(self) -> None:
        """Show or hide the list of sessions."""
        shown = not self.sessions.display
        if not shown and self.sessions.has_focus:
            self.timeline.focus()
        self.sessions.display = shown

    def action_settings(self) -> None:
        """Settings."""
        from tallystick.tui.settings import Settings

        self.push_screen(Settings(self.home))

    def action_help(self) -> None:
        """The keys."""
        from tallystick.tui.pages import Page

        self.push_screen(Page("Keys", help_text()))
