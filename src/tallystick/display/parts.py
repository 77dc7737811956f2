"""What the words of many types of steps are made of: a member, a time, a call's id, a verdict, the lines of a value.

Owns how each of these is written in a timeline. All that is returned is safe to print, but for `said_of`, which is text as it
was said. Must not know any type of step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tallystick.display import outcome
from tallystick.display.facts import reference
from tallystick.display.said import Line, Piece, Tone
from tallystick.display.tagged import readable
from tallystick.display.text import lines, one_line
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_MOST_LINES, _MOST_CHARACTERS = 400, 50 * 1024
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)


def word_of(step: Recorded, member: str) -> str:
    """A member that is a word, safe; empty if it is none."""
    value = step.member(member)
    if isinstance(value, str):
        return one_line(str(readable(value)))[:200]
    return ""


def said_of(step: Recorded, name: str) -> str:
    """A text of the content, as it is: anyone who shows it makes it safe."""
    value = step.values.get(f"content.{name}")
    if isinstance(value, str):
        return value
    return ""


def took(step: Recorded) -> Piece:
    """How long it took, in brackets; nothing where no one measured it."""
    found = step.meta.get("duration_ms")
    if type(found) is not int or found < 0:
        found = step.meta.get("latency_ms")
    if type(found) is not int or found < 0:
        return Piece("")
    text = f"{found}ms"
    if found >= 60_000:
        text = outcome.duration_text(found)
    return Piece(f" ({text})", Tone.FAINT)


def call(step: Recorded) -> Piece:
    """The id of the call that it belongs to, shortened, in brackets."""
    corr = step.meta.get("corr")
    if isinstance(corr, str):
        return Piece(f" [{short_id(one_line(corr))}]", Tone.FAINT)
    return Piece("")


def short_id(text: str) -> str:
    """An id as a row has room for: a UUID by its first digits, another long one by its last."""
    if _UUID.match(text):
        return text[:8]
    if len(text) <= 12:
        return text
    return f"…{text[-8:]}"


def bracketed(text: str, tone: Tone = Tone.FAINT) -> Piece:
    """Text in brackets, nothing if none exists."""
    if text:
        return Piece(f" [{text}]", tone)
    return Piece("")


def names(value: Json) -> str:
    """A list of words."""
    if isinstance(value, list):
        return " ".join(one_line(str(item)) for item in value[:50])
    return ""


def note(label: str, text: str, tone: Tone = Tone.PLAIN) -> Line:
    """A line with a label."""
    return [Piece(f"{label}: ", Tone.FAINT), Piece(text, tone)]


def text_below(
    step: Recorded, text: str, *, label: str = "", most: int = _MOST_LINES, tone: Tone = Tone.PLAIN
) -> Iterator[Line]:
    """Lines of a text, as many as are wanted; where there are more it is said how to see them."""
    shown = lines(text[:_MOST_CHARACTERS].rstrip("\n"))
    if label and shown:
        shown[0] = f"{label}: {shown[0]}"
    for line in shown[:most]:
        yield [Piece(line, tone)]
    if len(shown) > most or len(text) > _MOST_CHARACTERS:
        yield [Piece(f"… all of it: tally show {reference(step)}", Tone.FAINT)]


def value_below(step: Recorded, name: str, *, label: str = "", most: int = _MOST_LINES) -> Iterator[Line]:
    """A value of the content, of any kind; nothing if it is not there."""
    value = step.values.get(f"content.{name}")
    if value is not None:
        said = readable(value)
        if isinstance(said, str):
            text = said
        else:
            text = json.dumps(said, ensure_ascii=False, indent=2, sort_keys=True)
        yield from text_below(step, text, label=label, most=most)


def blocks_below(step: Recorded, *names: str) -> Iterator[Line]:
    """Long texts, each under its name."""
    for name in names:
        if step.values.get(f"content.{name}") is not None:
            yield [Piece(name.upper(), Tone.FAINT)]
            yield from value_below(step, name)


def verdict(word: str) -> Piece:
    """A verdict in its colour. One that is missing is unknown, never an approval."""
    tone = {
        **dict.fromkeys(("ALLOW", "CONTINUE", "PASS", "COMPLETE", "BENIGN", "COMPLETED"), Tone.GOOD),
        **dict.fromkeys(("DENY", "PAUSE", "FAILED", "ERROR"), Tone.BAD),
    }.get(word.upper(), Tone.WARNING)
    return Piece(word or "unknown", tone)
