"""A detector that stands where a classifier would: it scores the words that an agent is about to write or send.

Tallystick reads what a call does. It does not judge what prose means; a plugin can. This one counts words, so that the
example needs no model: replace `score` by a call of one, and keep it quick, for the agent waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks import Risk
from tallystick.policy.settings import Settings

_WORDS = re.compile(r"(?i)\b(?:urgent(?:ly)?|immediately|wire transfer|gift cards?|do not tell|keep this secret)\b")
_THRESHOLD = 2
_MOST = 100_000
"""Characters that are looked at."""

_POLICY = """
@id("tone.pressing")
@severity("medium")
@decision("ask")
@reason("What would be written or sent here presses its reader. A human should see it first.")
forbid (principal, action == Action::"call", resource)
when { resource.risks.contains("tone.pressing") };
"""


class Tone:
    """Finds texts that press their reader."""

    name = "tone"
    risks = MappingProxyType({"pressing": "words that press the reader stand in what is written or sent"})
    policies = (("pressing.cedar", _POLICY),)

    def detect(self, reading: CallReading, settings: Settings) -> Iterator[Risk]:
        """One risk where the score is high enough."""
        written = (intent.content for intent in reading.effects.intents if intent.content)
        found = score(" ".join((*written, *reading.texts))[:_MOST])
        if found >= _THRESHOLD:
            yield Risk("pressing", f"{found} pressing words")


def score(text: str) -> int:
    """How many different pressing words a text has."""
    return len({word.lower() for word in _WORDS.findall(text)})
