"""Short ways to scrub, for the tests of this folder."""

from __future__ import annotations

from tallystick.model.step import Json
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import scrub_text
from tallystick.scrubbing.json_values import scrub_json


def scrubbed(text: str) -> str:
    """A text without its secrets."""
    return scrub_text(text, Counts())


def kinds(text: str) -> dict[str, int]:
    """How many secrets of which kind a text has."""
    counts = Counts()
    scrub_text(text, counts)
    return dict(counts)


def scrubbed_value(value: Json) -> Json:
    """A value without its secrets."""
    return scrub_json(value, Counts())
