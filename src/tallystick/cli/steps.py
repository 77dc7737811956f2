"""Steps on the terminal: one line each, and the text behind it.

Owns the columns of `log` and `replay` and how a step is named on screen. Everything it returns is safe to print.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

import click

from tallystick.display import outcome
from tallystick.display.tagged import readable
from tallystick.display.text import cut, lines, one_line, width_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

ID_DIGITS = 8
"""Digits of a session id that are shown; more of it can be typed where they should not be unique."""

_NARROW = 110
_SHOWN_LINES = 20
_SHOWN_COLUMNS = 2000
_SPEAKING = ("content.text", "content.thinking", "content.args", "content.output", "content.error")


def short(session: str) -> str:
    """A session's id as lists show it."""
    return session[:ID_DIGITS]


def reference(step: Recorded) -> str:
    """How the step can be named in a command: `a3f90b12:17`."""
    return f"{short(step.session)}:{step.n}"


def step_line(step: Recorded, width: int, *, place: str) -> str:
    """One line: when, where (`place`, of fixed width), type, name, duration, outcome. Without the year where it is narrow."""
    is_narrow = width < _NARROW
    gap, name_width = (" ", 10) if is_narrow else ("  ", 16)
    when = outcome.when_of(step)
    if is_narrow:
        when = f"[{when[6:]}" if when.startswith("[") else when[5:]
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


def step_text(step: Recorded, indent: str) -> Iterator[str]:
    """What was said, asked and returned, below a step's line: the beginning of each value."""
    named = [name for name in _SPEAKING if name in step.values]
    for name in named:
        said = value_lines(step.values[name])
        shown = [cut(line, _SHOWN_COLUMNS) for line in islice(said, _SHOWN_LINES)]
        label = f"{name.removeprefix('content.')}: " if len(named) > 1 or name != "content.text" else ""
        for number, line in enumerate(shown):
            yield f"{indent}{click.style('│', dim=True)} {click.style(label, dim=True) if number == 0 else ''}{line}"
        if next(said, None) is not None:
            yield click.style(f"{indent}│ … all of it: tally show {reference(step)}", dim=True)


def value_lines(value: Json) -> Iterator[str]:
    """A value as lines, safe to print: text as it stands, everything else as indented JSON."""
    value = readable(value)
    if isinstance(value, str):
        return iter(lines(value.rstrip("\n")))
    return iter(lines(json.dumps(value, ensure_ascii=False, indent=2)))
