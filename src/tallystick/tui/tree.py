"""The pane of sessions: every tree of them, what belongs to a session below it, folded or not.

Owns how a session looks in a line and which lines are seen. Must not know where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tallystick.display.facts import short
from tallystick.display.text import first_line, one_line
from tallystick.review.browse import SessionLine
from tallystick.tui.rows import Rows
from tallystick.tui.theme import BAD, BOLD, DIM, PLAIN, Piece, bad_or

STATUS_MARKS = {"active": "●", "completed": "✔", "merged": "⊕", "discarded": "⊖", "failed": "✕"}
"""A session's status in one column. The help says what they mean."""

_TITLE = 200
_DEEPEST = 8
"""Trees are drawn so deep; what is below stands no further to the right."""


class Tree(Rows):
    """The pane of sessions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "fold", show=False),
        Binding("right,l", "unfold", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="tree", empty="loading…")
        self.all: Sequence[SessionLine] = ()
        self._seen: list[SessionLine] = []
        self._folded: set[str] = set()
        self._agents: tuple[str, ...] = ()

    def fill(self, lines: Sequence[SessionLine]) -> None:
        """Show these sessions; the chosen one stays chosen."""
        self.all = lines
        self._draw_anew()

    def only(self, agents: tuple[str, ...]) -> None:
        """Show sessions of these agents, and those that they belong to; of all agents if none exist."""
        if agents != self._agents:
            self._agents = agents
            self._draw_anew()

    @property
    def session(self) -> SessionLine | None:
        """The session that is chosen."""
        if self.row < len(self._seen):
            return self._seen[self.row]
        return None

    def find(self, session: str) -> bool:
        """Choose a session, unfolding what it belongs to; False if it is not there."""
        known = {line.session.session: line for line in self.all}
        at = known.get(session)
        ways: set[str] = set()
        while at is not None and at.session.parent in known and at.session.parent not in ways:
            ways.add(at.session.parent)
            at = known[at.session.parent]
        if ways & self._folded:
            self._folded -= ways
            self._draw_anew()
        for row, line in enumerate(self._seen):
            if line.session.session == session:
                self.go(row, tell=False)
                self.refresh()
                return True
        return False

    # Which lines are seen -------------------------------------------------------------------------------------------

    def _draw_anew(self) -> None:
        chosen = None
        if self.session is not None:
            chosen = self.session.session.session
        kept = _sessions_of_agents(self.all, self._agents)
        self._seen = []
        hidden_below: int | None = None
        for line in self.all:
            if hidden_below is not None and line.row.depth > hidden_below:
                continue
            hidden_below = None
            if line.session.session in self._folded:
                hidden_below = line.row.depth
            if kept is None or line.session.session in kept:
                self._seen.append(line)
        row = next((n for n, line in enumerate(self._seen) if line.session.session == chosen), 0)
        self.show(len(self._seen), row=row)

    def action_fold(self) -> None:
        """Hide what belongs to the session; where nothing does, go to the one that it belongs to."""
        line = self.session
        if line is None:
            return
        if self._has_below(line) and line.session.session not in self._folded:
            self._folded.add(line.session.session)
            self._draw_anew()
            return
        above = (row for row in range(self.row - 1, -1, -1) if self._seen[row].row.depth < line.row.depth)
        self.go(next(above, self.row))

    def action_unfold(self) -> None:
        """Show what belongs to the session."""
        line = self.session
        if line is not None and line.session.session in self._folded:
            self._folded.discard(line.session.session)
            self._draw_anew()

    def _has_below(self, line: SessionLine) -> bool:
        below = None
        if self.row + 1 < len(self._seen):
            below = self._seen[self.row + 1]
        return line.session.session in self._folded or (below is not None and below.row.depth > line.row.depth)

    # How they look --------------------------------------------------------------------------------------------------

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Fold, status, where it hangs, id, failures, title. The agent stands above the steps."""
        line = self._seen[row]
        session = line.session
        lines = line.row.lines[-3 * _DEEPEST :]
        mark = STATUS_MARKS.get(session.status, "?")
        folded = " "
        if session.session in self._folded:
            folded = "▸"
        title = first_line(session.goal or session.title or "", _TITLE)
        claimed = ""
        if line.row.claimed or line.row.missing_parent or line.row.in_circle:
            claimed = "~"
        digits, failures = 4, ""
        if width > 40:
            digits = 8
        if session.failures:
            failures = f" ✕{session.failures}"
        return [
            (folded + mark, bad_or(PLAIN, session.status == "failed")),
            (f" {one_line(lines)}{claimed}", DIM),
            (short(session.session)[:digits], BOLD),
            (failures, BAD),
            (f" {title}", PLAIN),
        ]


def _sessions_of_agents(lines: Sequence[SessionLine], agents: tuple[str, ...]) -> set[str] | None:
    """The sessions of some agents and all that they belong to; None: all sessions."""
    if not agents:
        return None
    parents = {line.session.session: line.session.parent for line in lines}
    kept: set[str] = set()
    for line in lines:
        at: str | None = None
        if line.session.agent in agents:
            at = line.session.session
        while at is not None and at not in kept:
            kept.add(at)
            at = parents.get(at)
    return kept
