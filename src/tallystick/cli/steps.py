"""Steps on the terminal: one line each.

Owns the columns of `log` and the name of a step on screen. Everything it returns is safe to print.
"""

from __future__ import annotations

import click

from tallystick.display import outcome
from tallystick.display.facts import ID_DIGITS as ID_DIGITS
from tallystick.display.facts import reference as reference
from tallystick.display.facts import short as short
from tallystick.display.text import cut, one_line, width_of
from tallystick.model.recorded import Recorded

_NARROW = 110


def step_line(step: Recorded, width: int, *, place: str) -> str:
    """One line: time, place (`place`, of fixed width), type, name, duration, outcome.

    Without the year on a narrow terminal.
    """
    is_narrow = width < _NARROW
    if is_narrow:
        gap, name_width = " ", 10
    else:
        gap, name_width = "  ", 16
    when = outcome.when_of(step)
    if is_narrow:
        if when.startswith("["):
            when = f"[{when[6:]}"
        else:
            when = when[5:]
    before = gap.join(
        (
            _fit(when, 14 if is_narrow else 19),
            place,
            _fit(one_line(step.type), 13),
            _fit(outcome.name_of(step), name_width),
            outcome.duration_of(step).rjust(8),
            "",
        )
    )
    said = outcome.outcome_of(step, max(width - width_of(before), 20))
    return _colored(step, before, said).rstrip()


def _fit(text: str, width: int) -> str:
    shown = cut(text, width)
    return shown + " " * (width - width_of(shown))


def _colored(step: Recorded, before: str, said: str) -> str:
    if outcome.is_refused(step) or outcome.is_failed(step):
        return before + click.style(said, fg="red")
    if step.type == "user" and "origin" not in step.meta:
        return click.style(before + said, bold=True)
    if step.type in ("system", "model_call", "usage", "sighting", "session_start", "session_end"):
        return click.style(before + said, dim=True)
    return before + said
