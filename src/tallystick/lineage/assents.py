"""Prompts that only agree: "yes", "continue", "2"; and which part of what the agent said before they agree to.

Owns that judgement of two texts. Must not know where they come from.
"""

import re
from functools import cache

from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of

_LONGEST = 80
_LAST_LINES = 40
_MARKS = pattern_of(r"[^\w'-]+")
_FRAME = " \t*_#>`-•"


class _Facts(Entry, frozen=True):
    """Facts of catalog/assents.toml."""

    words: str
    weak: str
    choices: tuple[str, ...]


@cache
def _facts() -> tuple[frozenset[str], frozenset[str], re.Pattern[str]]:
    facts = load("assents", _Facts)
    choices = re.compile("|".join(f"(?:{choice})" for choice in facts.choices))
    return frozenset(facts.words.split()), frozenset(facts.weak.split()), choices


def is_assent(prompt: str) -> bool:
    """Whether a prompt only agrees to what was said before it, or chooses from it."""
    bare = prompt.strip().lower()
    if not bare or len(bare) > _LONGEST:
        return False
    words, weak, choices = _facts()
    if choices.fullmatch(bare):
        return True
    said = [word for word in _MARKS.split(bare) if word]
    return bool(said) and set(said) <= words and not set(said) <= weak


def agreed_to(prompt: str, said: str) -> str:
    """What a prompt agrees to: the line it chooses, the last question, else the last line of what was said before."""
    lines = [line.strip(_FRAME) for line in said.splitlines()]
    lines = [line for line in lines if line][-_LAST_LINES:]
    _, _, choices = _facts()
    bare = prompt.strip().lower()
    if choices.fullmatch(bare):
        mark = bare.removeprefix("option ").rstrip(".)")
        chosen = [
            line for line in lines if line.lower().startswith((f"{mark}.", f"{mark})", f"{mark}:", f"option {mark}"))
        ]
        if chosen:
            return chosen[-1]
    questions = [line for line in lines if line.rstrip("*_`) ").endswith(("?", "\uff1f"))]
    return (questions or lines or [""])[-1]
