"""Acts on the terminal: the rows of `tally log`.

Owns the columns: time, place, project, act; and the lines between days. The words of an act are display's. Everything it
returns is safe to print, and no line is wider than asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

import click

from tallystick.cli.steps import ID_DIGITS, short
from tallystick.cli.timeline import folded_counts, styled
from tallystick.display.acts import Kind, act_line, act_row
from tallystick.display.clock import shown_text, zone_name
from tallystick.display.projects import project_name
from tallystick.display.said import Line, Piece, Tone, cut_line
from tallystick.display.text import cut, one_line, width_of
from tallystick.display.timeline import session_words

if TYPE_CHECKING:
    from tallystick.ask.acts import NewestAct, NewestActs

_NUMBER = 5
_PLACE = ID_DIGITS + 1 + _NUMBER
_MOST_PROJECT = 16
_NARROW = 76
"""On a terminal that is narrower, the project stands on prompts only."""


def act_text(newest: NewestActs, width: int, *, zone: tzinfo | None = None) -> Iterator[str]:
    """The rows as text."""
    if not newest.rows:
        yield "no steps"
        return
    names = [project_name(row.session.cwd) if row.session is not None else "" for row in newest.rows]
    column = min(max(map(width_of, names)), _MOST_PROJECT)
    if width < _NARROW:
        column = 0
    day, is_first = "", True
    for row, name in zip(newest.rows, names, strict=True):
        at = shown_text(row.act.at, zone)
        if at[:10] != day and not row.act.is_guessed:
            day = at[:10]
            yield click.style(cut(f"── {one_line(day)} ({zone_name(zone)}) ──", width), dim=True)
            is_first = True
        shown = act_row(row.act.steps, folder=(row.session.cwd or "") if row.session is not None else "")
        if shown.kind is Kind.PROMPT and not is_first:
            yield ""
        is_first = False
        head = f"{_clock(at, row)} {_place(row)} "
        if column:
            fitted = cut(name, column)
            head += f"{fitted}{' ' * (column - width_of(fitted))} "
        left = max(width - width_of(head), 8)
        if row.folded is not None and row.folded.counts is not None:
            said: Line = [Piece(f"  {_begins(row)}: {folded_counts(row.folded.counts)}", Tone.SUBAGENT)]
        elif row.is_lost:
            said = [
                Piece(f"  {one_line(row.act.lead.type)}: cannot be read at the place that the index names", Tone.BAD)
            ]
        else:
            said = act_line(shown, left)
        line = cut_line(said, left)
        yield click.style(head, dim=True) + "".join(map(styled, line)).rstrip()


def _clock(at: str, row: NewestAct) -> str:
    if row.act.is_guessed:
        return f"[{one_line(at[11:16])}] "
    return one_line(at[11:19]).ljust(8)


def _place(row: NewestAct) -> str:
    place = short(row.act.lead.session)
    if row.folded is None:
        place = f"{place}:{row.act.lead.n}"
    return place.ljust(_PLACE)


def _begins(row: NewestAct) -> str:
    assert row.folded is not None
    step, role = row.act.lead, ""
    for member in ("agent_role", "agent_type", "agent_name"):
        value = step.member(member)
        if isinstance(value, str):
            role = cut(one_line(value), 40)
            break
    return session_words(row.folded.session, row.folded.kind, role).removesuffix(f" {short(row.folded.session)}")
