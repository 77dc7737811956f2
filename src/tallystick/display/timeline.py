"""Rows of a replay: number, time, what happened; below it, marked as such, what was said.

Owns the columns, the lines between days and goals, and that nothing of a step's content can look like a row of its own:
each line is cut or wrapped to the width, and what stands below a row begins with blanks and a bar. Must not know what a type
of step means, nor how steps are ordered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, tzinfo

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.display.acts import ActRow, Kind, act_line
from tallystick.display.before import NOTED, Before
from tallystick.display.checks import taint_lines
from tallystick.display.clock import shown_time, zone_name
from tallystick.display.events import described
from tallystick.display.facts import short
from tallystick.display.joining import LIVE, Act
from tallystick.display.said import Line, Piece, Tone, cut_line, text_of, wrapped
from tallystick.display.text import counted, cut, first_line, one_line, width_of
from tallystick.lineage.taint_tree import TaintNode
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

TERSE_AGENTS = frozenset(name for name, facts in AGENTS.items() if facts.replays)
"""Sessions of these agents are shown in the words of their own replay, and as tersely."""

_NUMBER, _SEQ, _CLOCK, _DELTA = 5, 7, 12, 7
_SHORT_CLOCK = 8
_DEEPEST = 8
_ROLE = 20
_LEAST, _NARROWEST = 24, 40
"""Where less than so much of a row is left for what happened, it has only hours, minutes and seconds."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z", re.ASCII)
_TELLS_GOAL = frozenset(
    ("goal_start", "goal_end", "system", "user", "assistant", "model_call", "tool_call", "tool_result", "warning")
)
"""Types whose goal is that of the work. Checks and phases of sub-agents say other things under that name."""


class RowSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Where a step is in what is shown, and what its row says besides."""

    agent: str
    """Whose session it is of."""
    depth: int = 0
    """How deep the session hangs below the one that was asked for."""
    role: str | None = None
    """The sub-agent that acts in a session not its own."""
    label: str = ""
    """Whose step it is, where sessions are mixed."""
    begins: str = ""
    """The session that begins with it, in words, where it belongs to another."""
    folded: str = ""
    """What stands for the steps that are not shown."""
    taint: tuple[TaintNode, ...] = ()
    """What is known of where the call's content came from."""


class Timeline:
    """Turns steps, one after the other, into lines. Keeps for each session what later steps are shown with."""

    def __init__(
        self, width: int, verbosity: int, *, shows_seq: bool = False, labels: int = 0, zone: tzinfo | None = None
    ) -> None:
        """Begin a replay.

        Args:
            width: columns of a line. verbosity: 0, 1 or 2. shows_seq: have a column for the numbers that a source gave.
            labels: the width of the column that says whose step it is; 0: none.
            zone: the time zone of what is shown; None: UTC.
        """
        self._zone = zone
        self._verbosity = verbosity
        self._shows_seq = shows_seq
        self._labels = labels
        self._width = max(width, _NARROWEST)
        columns = _NUMBER
        if shows_seq:
            columns += _SEQ
        if labels:
            columns += labels + 1
        place = " " * columns
        self._columns = len(place)
        wide = f"{place} │ {' ' * _CLOCK} │ {' ' * _DELTA} │ "
        self._is_narrow = self._width - len(wide) < _LEAST
        if self._is_narrow:
            self._indent = f"{place} │ {' ' * _SHORT_CLOCK} │ "
        else:
            self._indent = wide
        self._room = self._width - len(self._indent)
        self._most_indent = min(_DEEPEST, self._room // 4)
        self._sessions: dict[str, Before] = {}
        self._goals: dict[str, str] = {}
        self._day = ""
        self._day_line: Line = []
        self._last: dict[str, datetime] = {}
        self._rows_before = False

    def rows(self, step: Recorded, setting: RowSetting) -> Iterator[Line]:
        """The lines of a step, with a line before it where the day or the goal changes."""
        before = self._before(step.session)
        before.is_terse = setting.agent in TERSE_AGENTS
        said = described(step, before, self._verbosity)
        head = next(said, None)
        if head is None:
            return
        clock, delta = self._clock(step)
        if self._day_line:
            yield self._day_line
        if setting.depth == 0 and setting.role is None:
            yield from self._goal(step)
        indent = "  " * min(setting.depth + (setting.role is not None), self._most_indent)
        if setting.begins:
            head = [Piece(setting.begins, Tone.SUBAGENT)]
        # of a session that is folded no step can be named by a number
        if setting.begins and setting.folded:
            place = ""
        else:
            place = str(step.n)
        row = [*self._owner(step, indent, setting.role), *head, *_remarks(step, setting.folded)]
        yield self._row(self._place(place, step, setting.label), clock, delta, row)
        for line in said:
            yield from self._below(line, indent)
        if setting.taint:
            yield from self._taint(setting.taint, indent)

    def act_rows(self, act: Act, row: ActRow, setting: RowSetting) -> Iterator[Line]:
        """The line of an act, with a line before it where the day changes, and a blank one before a prompt."""
        clock, delta = self._clock_at(act.at, act.lead.session, is_told=not act.is_guessed)
        if self._day_line:
            yield self._day_line
        indent = "  " * min(setting.depth, self._most_indent)
        if setting.begins:
            said: Line = [Piece(f"  {setting.begins}: {setting.folded}", Tone.SUBAGENT)]
            place = ""
        else:
            place, said = str(act.lead.n), act_line(row, self._room - len(indent))
        if row.kind is Kind.PROMPT and self._rows_before:
            yield [Piece("")]
        self._rows_before = True
        yield self._row(self._place(place, act.lead, setting.label), clock, delta, [Piece(indent), *said])
        if setting.taint:
            yield from self._taint(setting.taint, indent)

    def note(self, step: Recorded) -> None:
        """Take note of a step of which later ones that are shown may speak, whether it is shown itself or not."""
        if step.type in NOTED:
            self._before(step.session).note(step)

    def banner(self, text: str) -> Iterator[Line]:
        """A line between sessions."""
        yield [Piece("")]
        yield cut_line([Piece(f"{'─' * 2} {text} ", Tone.FAINT)], self._width)

    # Columns --------------------------------------------------------------------------------------------------------

    def _before(self, session: str) -> Before:
        found = self._sessions.get(session)
        if found is None:
            found = self._sessions[session] = Before()
        return found

    def _row(self, place: str, clock: str, delta: Piece, said: Line) -> Line:
        shown = cut_line(said, self._room - (len(place) - self._columns))  # step 100,000 takes a column more
        if self._is_narrow:
            return [Piece(f"{place} │ {clock[:_SHORT_CLOCK]} │ ", Tone.FAINT), *shown]
        return [Piece(f"{place} │ {clock} │ ", Tone.FAINT), delta, Piece(" │ ", Tone.FAINT), *shown]

    def _place(self, number: str, step: Recorded, label: str) -> str:
        place = f"{number:>{_NUMBER}}"
        if self._shows_seq:
            seq, shown = step.meta.get("seq"), ""
            if type(seq) is int:
                shown = cut(f" #{seq}", _SEQ)
            place += shown.ljust(_SEQ)
        if self._labels:
            return f"{place} {cut(label, self._labels).ljust(self._labels)}"
        return place

    def _owner(self, step: Recorded, indent: str, role: str | None) -> Iterator[Piece]:
        if indent:
            yield Piece(indent)
        if role is not None and not step.type.startswith("subagent_"):
            yield Piece(f"[{cut(one_line(role), _ROLE)}] ", Tone.SUBAGENT)

    def _below(self, line: Line, indent: str) -> Iterator[Line]:
        """A line below a row, in as many as it takes."""
        start = Piece(f"{self._indent}{indent}  ", Tone.FAINT)
        room = self._room - len(indent) - 2
        text = text_of(line)
        if width_of(text) <= room:
            yield [start, *line]
            return
        for part in wrapped(text, room):
            yield [start, Piece(part, line[-1].tone)]

    def _taint(self, roots: tuple[TaintNode, ...], indent: str) -> Iterator[Line]:
        yield from self._below([Piece("taint:", Tone.FAINT)], indent)
        for line in taint_lines(roots):
            yield from self._below(line, indent)

    # Time -----------------------------------------------------------------------------------------------------------

    def _clock(self, step: Recorded) -> tuple[str, Piece]:
        """The time of day and how long after the step before; in brackets when it was recorded, if no one says more."""
        ts, recorded = step.meta.get("ts"), step.meta.get("recorded")
        is_told = isinstance(ts, str) or step.meta.get("source") in LIVE
        text = recorded
        if isinstance(ts, str):
            text = ts
        return self._clock_at(text, step.session, is_told=is_told)

    def _clock_at(self, told: Json, session: str, *, is_told: bool) -> tuple[str, Piece]:
        """The same of a time."""
        self._day_line = []
        now = _moment(told)
        if now is None:
            return " " * _CLOCK, Piece(" " * _DELTA)
        text = shown_time(now, self._zone)
        if not is_told:
            return f"[{text[11:19]}]".ljust(_CLOCK), Piece(" " * _DELTA)
        if text[:10] != self._day:
            self._day = text[:10]
            self._day_line = [Piece(f"{' ' * _NUMBER} ── {self._day} ({zone_name(self._zone)}) ──", Tone.FAINT)]
        # where sessions are mixed, there is one clock for all
        clock = ""
        if not self._labels:
            clock = session
        before = self._last.get(clock)
        self._last[clock] = now
        return text[11:23].ljust(_CLOCK), _delta(before, now)

    def _goal(self, step: Recorded) -> Iterator[Line]:
        """A line where the work turns to another goal."""
        if step.type not in _TELLS_GOAL:
            return
        goal = step.text("content.goal")
        if goal is None or goal == self._goals.get(step.session):
            return
        self._goals[step.session] = goal
        yield [Piece("")]
        yield [Piece(f"{' ' * _NUMBER} GOAL: {first_line(goal, self._width - _NUMBER - 8)}", Tone.SUPERVISOR)]
        yield [Piece("")]


def _remarks(step: Recorded, folded: str) -> Iterator[Piece]:
    """What stands after the words of a step: that it tells an event again, and what it stands for."""
    for word in ("revises", "corroborates"):
        if type(n := step.meta.get(word)) is int:
            yield Piece(f" ({word} {n})", Tone.FAINT)
    if folded:
        yield Piece(f": {folded}", Tone.SUBAGENT)


def _moment(text: Json) -> datetime | None:
    """A time as the format has it (docs/format.md 6.3), else None: a journal may have been tampered with."""
    if not isinstance(text, str) or not _TIME.match(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _delta(before: datetime | None, now: datetime) -> Piece:
    if before is None:
        return Piece(" " * _DELTA)
    milliseconds = round((now - before).total_seconds() * 1000)
    sign, tone = "+", Tone.FAINT
    if milliseconds < 0:
        sign, tone = "-", Tone.WARNING
    return Piece(f"{sign}{_span(abs(milliseconds))}".rjust(_DELTA), tone)


def _span(milliseconds: int) -> str:
    """A time between two rows in at most six columns."""
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    seconds = milliseconds / 1000
    if seconds < 100:
        return f"{seconds:.1f}s"
    minutes = int(seconds) // 60
    if minutes < 100:
        return f"{minutes}m{int(seconds) % 60:02}s"
    hours = minutes // 60
    if hours < 100:
        return f"{hours}h{minutes % 60:02}m"
    return f"{hours // 24}d"


def folded_text(*, steps: int, tool_calls: int, failures: int, tokens: int, sessions: int, refusals: int = 0) -> str:
    """What stands for steps that are folded away."""
    parts = [counted(steps, "step")]
    if tool_calls:
        parts.append(counted(tool_calls, "call"))
    if failures:
        parts.append(f"{failures:,} failed")
    if refusals:
        parts.append(f"{refusals:,} denied")
    if tokens:
        parts.append(f"{tokens:,} tokens")
    if sessions:
        parts.append(f"{counted(sessions, 'session')} below")
    return ", ".join(parts)


def session_words(session: str, kind: str, role: str) -> str:
    """How a session is named where it begins below another: `▸ sub-agent Explore 6884db8c`."""
    word = "sub-agent"
    if kind != "child":
        word = one_line(kind)
    return " ".join(part for part in ("▸", word, one_line(role)[:80], short(one_line(session))) if part)
