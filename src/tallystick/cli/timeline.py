"""A replay on the terminal: coloured rows, with their sessions as headings.

Owns colours, the lines before and after the rows, and the labels of merged sessions. The text of a row is in display.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from string import ascii_uppercase
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli.context import counted
from tallystick.cli.steps import short
from tallystick.display.acts import Kind, act_row
from tallystick.display.joining import Act
from tallystick.display.outcome import outcome_of
from tallystick.display.said import Line, Piece, Tone, cut_line, text_of
from tallystick.display.text import cut, one_line
from tallystick.display.timeline import TERSE_AGENTS, RowSetting, Timeline, folded_text, session_words
from tallystick.sessions.denied_calls import DeniedCalls
from tallystick.sessions.timeline import Adding, Beat, Counts, Track

if TYPE_CHECKING:
    from tallystick.lineage.taint_tree import TaintNode
    from tallystick.review.replay_sources import Cast

# The theme's own colours, by name; faint where the reference uses grey, which some themes make invisible.
_STYLES: Mapping[Tone, Mapping[str, object]] = {
    Tone.FAINT: {"dim": True},
    Tone.TOOL: {"fg": "bright_blue"},
    Tone.SUPERVISOR: {"fg": "bright_yellow", "bold": True},
    Tone.SECURITY: {"fg": "bright_cyan"},
    Tone.SECURITY_LOUD: {"fg": "bright_cyan", "bold": True},
    Tone.COMMAND: {"fg": "yellow"},
    Tone.SUBAGENT: {"fg": "bright_magenta"},
    Tone.GOOD: {"fg": "bright_green"},
    Tone.BAD: {"fg": "bright_red"},
    Tone.WARNING: {"fg": "bright_yellow"},
    Tone.HUMAN: {"bold": True},
}
_LISTED = 30
_LABEL = 3


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How rows are printed."""

    width: int
    verbosity: int
    is_mixed: bool
    """The rows alternate between sessions, so each row has the label of its session."""
    is_styled: bool
    zone: tzinfo | None = None
    """Of the times that are shown; None: UTC."""


def has_own_words(cast: Cast) -> bool:
    """Whether a session is replayed in the words of its agent's own replay: step by step."""
    return any(track.agent in TERSE_AGENTS for track, _ in cast.family())


class View:
    """Turns the beats of a replay into lines to print."""

    def __init__(self, cast: Cast, look: Look, taints: Mapping[tuple[str, int], tuple[TaintNode, ...]] = {}) -> None:
        """Begin.

        Args:
            taints: what is known of the sources of calls' content, by session and number.
        """
        self._width = look.width
        self._cast = cast
        self._is_styled = look.is_styled
        self._taints = taints
        self._is_mixed = look.is_mixed
        self._folders: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._below: dict[str, int] = {}
        shows_seq = has_own_words(cast)
        labels = 0
        if look.is_mixed:
            labels = _LABEL
        self._timeline = Timeline(
            look.width, min(look.verbosity, 2), shows_seq=shows_seq, labels=labels, zone=look.zone
        )
        cast.noted = self._timeline.note
        self._shown: dict[str, Counts] = {}
        self._adding = Adding()
        self._denied = DeniedCalls()
        self._ends: dict[str, str] = {}

    def lines(self, beats: Iterable[Beat]) -> Iterator[str]:
        """All lines: the sessions, row by row, and the total."""
        yield from map(self._line_text, self._head())
        top: str | None = None
        for beat in beats:
            if beat.depth == 0 and beat.track.session != top and not self._is_mixed:
                top = beat.track.session
                if len(self._cast.tops) > 1:
                    yield from map(self._line_text, self._timeline.banner(self._track_text(beat.track)))
            yield from self._rows(beat)
        yield from map(self._line_text, self._foot())

    def act_lines(self, acts: Iterable[Act]) -> Iterator[str]:
        """All lines, one an act."""
        from tallystick.review.acts import beat_of

        yield from map(self._line_text, self._head())
        top: str | None = None
        for act in acts:
            beat = beat_of(act)
            if beat.depth == 0 and beat.track.session != top and not self._is_mixed:
                top = beat.track.session
                if len(self._cast.tops) > 1:
                    yield from map(self._line_text, self._timeline.banner(self._track_text(beat.track)))
            yield from self._act(act, beat)
        yield from map(self._line_text, self._foot())

    def _act(self, act: Act, beat: Beat) -> Iterator[str]:
        for step in act.steps:
            self._count(msgspec.structs.replace(beat, step=step))
        folder = act.lead.text("personal.cwd") or self._folders.get(beat.track.session, "")
        self._folders[beat.track.session] = folder
        row = act_row(act.steps, folder=folder)
        if beat.folded is None and row.kind is Kind.QUIET:
            return
        begins = folded = ""
        if beat.folded is not None:
            begins, folded = session_words(beat.track.session, beat.track.kind, _role(beat)), folded_counts(beat.folded)
        setting = RowSetting(
            agent=beat.track.agent,
            depth=beat.depth,
            label=self._label(beat.track) if self._is_mixed else "",
            begins=begins,
            folded=folded,
            taint=self._taints.get((act.lead.session, act.lead.n), ()),
        )
        yield from map(self._line_text, self._timeline.act_rows(act, row, setting))

    def _rows(self, beat: Beat) -> Iterator[str]:
        step, track, counts = beat.step, beat.track, beat.folded
        self._count(beat)
        begins = ""
        if beat.depth and beat.role is None and (step.n == 0 or counts is not None):
            begins = session_words(track.session, track.kind, _role(beat)) + (" ended" if step.n else "")
        label = folded = ""
        if self._is_mixed:
            label = self._label(track)
        if counts is not None and counts.steps:
            folded = folded_counts(counts)
        setting = RowSetting(
            agent=track.agent,
            depth=beat.depth,
            role=beat.role,
            label=label,
            begins=begins,
            folded=folded,
            taint=self._taints.get((step.session, step.n), ()),
        )
        return map(self._line_text, self._timeline.rows(step, setting))

    def _label(self, track: Track) -> str:
        """The label of a session among others: A, B; A1, A2 for child sessions of A. A session may begin at any time."""
        label = self._labels.get(track.session)
        if label is None:
            above = self._labels.get(track.parent or "", "").rstrip("0123456789")
            if above:
                self._below[above] = self._below.get(above, 0) + 1
                label = f"{above}{self._below[above]}"
            else:
                number = sum(not known[-1].isdigit() for known in self._labels.values())
                first, second = divmod(number, len(ascii_uppercase))
                label = (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[second]
            self._labels[track.session] = label
        return label

    def _line_text(self, line: Line) -> str:
        if not self._is_styled:
            return text_of(line).rstrip()
        return "".join(styled(piece) for piece in line)

    # Before and after -----------------------------------------------------------------------------------------------

    def _head(self) -> Iterator[Line]:
        """Which sessions these are; of those from files, that nothing vouches for them."""
        if self._is_mixed:
            shown = [track for track, _ in self._cast.family()]
        else:
            shown = self._cast.tops
        if len(shown) == 1 or self._is_mixed:
            for track in shown[:_LISTED]:
                label = ""
                if self._is_mixed:
                    label = f"{self._label(track):<{_LABEL + 1}}"
                yield cut_line([Piece(label), Piece(self._track_text(track), Tone.FAINT)], self._width)
            if len(shown) > _LISTED:
                yield [Piece(f"… and {counted(len(shown) - _LISTED, 'session')} more", Tone.FAINT)]
        if any(track.session in self._cast.origins for track, _ in self._cast.family()):
            yield [Piece("read from files, not from the record: nothing vouches for them", Tone.WARNING)]

    def _track_text(self, track: Track) -> str:
        own = one_line(track.source_session or "")[:80]
        size = ""
        if track.counts is not None:
            size = counted(track.counts.steps, "step")
        origin = one_line(self._cast.origins.get(track.session, ""))
        when = one_line(track.started or "")[:19].replace("T", " ")
        return " · ".join(
            part for part in (short(track.session), one_line(track.agent), own, when, size, origin) if part
        )

    def _foot(self) -> Iterator[Line]:
        """The total of what was shown, and how the named sessions ended."""
        total = Counts()
        for session, counts in self._shown.items():
            total = _sum(total, self._denied.with_denied(session, counts))
        of = ""
        if len(self._shown) > 1:
            of = f" of {counted(len(self._shown), 'session')}"
        yield [Piece(f"── {folded_counts(total)}{of} ──", Tone.FAINT)]
        for track in self._cast.tops:
            end = self._ends.get(track.session)
            if end is not None:
                name = ""
                if len(self._cast.tops) > 1:
                    name = f"{short(track.session)} "
                yield [Piece(f"   {name}{end}", Tone.FAINT)]

    def _count(self, beat: Beat) -> None:
        session = beat.track.session
        if beat.folded is None:
            self._denied.note(beat.step)
        before = self._shown.get(session, Counts())
        if beat.folded is None:
            counts = before
        else:
            counts = _sum(before, beat.folded)
        stands_for_others = beat.folded is not None and beat.step.type != "subagent_end"
        self._shown[session] = counts if stands_for_others else self._adding.plus(counts, beat.step)
        if beat.step.type == "session_end":
            said = outcome_of(beat.step, max(self._width - 20, 20))
            self._ends[session] = f"ended: {said}" if said else "ended"
        elif beat.folded is None:
            self._ends.pop(session, None)


def styled(piece: Piece) -> str:
    """A piece in its colour."""
    style = _STYLES.get(piece.tone)
    return click.style(piece.text, **style) if style is not None and piece.text else piece.text  # type: ignore[arg-type]


def _role(beat: Beat) -> str:
    """The purpose of a sub-agent: its role, else the beginning of its instructions."""
    for member in ("agent_role", "agent_type", "agent_name"):
        value = beat.step.member(member)
        if isinstance(value, str):
            return cut(one_line(value), 40)
    return ""


def folded_counts(counts: Counts) -> str:
    """What stands for steps that are folded away."""
    return folded_text(
        steps=counts.steps,
        tool_calls=counts.tool_calls,
        failures=counts.failures,
        tokens=counts.tokens,
        sessions=counts.sessions,
        refusals=counts.refusals,
    )


def _sum(one: Counts, other: Counts) -> Counts:
    return Counts(
        steps=one.steps + other.steps,
        tool_calls=one.tool_calls + other.tool_calls,
        failures=one.failures + other.failures,
        tokens=one.tokens + other.tokens,
        refusals=one.refusals + other.refusals,
    )
