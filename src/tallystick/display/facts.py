"""What is known of one step beside its values, as names and texts: when, where from, what it follows.

Owns which facts a person is shown and in which words. Everything it returns is safe to print. Must not know where they are
shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tallystick.display import outcome
from tallystick.display.tagged import readable
from tallystick.display.text import lines, one_line
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

ID_DIGITS = 8
"""Digits of a session id that are shown; more of it can be typed where they should not be unique."""

_HEAD_MEMBERS = frozenset(("type", "ts", "recorded", "source", "source_id", "input", "request", "parent"))
_ENDING = ("tool_result", "session_end", "model_call")


def short(session: str) -> str:
    """A session's id as lists show it."""
    return session[:ID_DIGITS]


def reference(step: Recorded) -> str:
    """How the step can be named in a command: `a3f90b12:17`."""
    return f"{short(step.session)}:{step.n}"


def facts(step: Recorded) -> Iterator[tuple[str, str]]:
    """Names and texts; a text is empty where nothing is known."""
    yield "session", one_line(step.session)
    yield "happened", _time(step, "ts")
    yield "recorded", _time(step, "recorded")
    yield "source", " ".join(one_line(str(word)) for word in (step.member("source"), step.member("source_id")) if word)
    yield "took", outcome.duration_of(step)
    result = ""
    if step.type in _ENDING:
        result = outcome.outcome_of(step, 100)
    yield "result", result
    yield "prompt", _number(step, "request")
    yield "part of", _number(step, "parent")
    yield "previous step", _parents(step)
    yield "input", _said_input(step)
    yield "hash", one_line(step.hash)


def members(step: Recorded) -> list[tuple[str, str]]:
    """The other members of its `meta`."""
    return [
        (one_line(key), one_line(outcome.plain(value) or str(value)))
        for key, value in sorted(step.meta.items())
        if key not in _HEAD_MEMBERS
    ]


def value_names(step: Recorded) -> list[str]:
    """The names of all its values, those that are withheld or not loaded among them."""
    return sorted({*step.values, *step.raw, *step.unloaded, *step.withheld})


WITHHELD = "▧ withheld: only its commitment is recorded here"
"""What is said of a value that is not here."""


def value_lines(value: Json) -> Iterator[str]:
    """A value as lines, safe to print: text unchanged, everything else as indented JSON."""
    value = readable(value)
    if isinstance(value, str):
        return iter(lines(value.rstrip("\n")))
    return iter(lines(json.dumps(value, ensure_ascii=False, indent=2)))


def erased_text(recorded: str | None, basis: str | None, reason: str | None) -> str:
    """When a value was erased, on which ground, and why."""
    when = one_line((recorded or "")[:19].replace("T", " "))
    return f"▧ erased {when} ({one_line(basis or '?')}): {one_line(reason or 'no reason is kept')}"


def _time(step: Recorded, member: str) -> str:
    text = step.meta.get(member)
    if isinstance(text, str):
        return one_line(text.replace("T", " ").replace("Z", " UTC"))
    return ""


def _number(step: Recorded, member: str) -> str:
    n = step.meta.get(member)
    if type(n) is int:
        return f"{short(step.session)}:{n}"
    return ""


def _parents(step: Recorded) -> str:
    if step.parents:
        return ", ".join(one_line(_short_parent(parent)) for parent in step.parents)
    if step.n:
        return f"{short(step.session)}:{step.n - 1}, the step before it"
    return "nothing: it is the first step"


def _short_parent(parent: str) -> str:
    session, mark, digest = parent.rpartition("#")
    if mark:
        return f"{short(session)}#{digest[:12]}, another session's"
    return digest[:12]


def _said_input(step: Recorded) -> str:
    said = step.meta.get("input")
    if said is None:
        return ""
    if said == "not-visible":
        return "not visible from this source"
    return f"`tally show {reference(step)} --input`"
