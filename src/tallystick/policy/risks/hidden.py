"""Code that hides what it runs: it decodes a text and runs it.

Owns which code of a call is looked at: what the agent gave itself. Files that run are inspected elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.policy.reading import CallReading
from tallystick.policy.risks.evaluating import runs_what_it_decodes
from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {"hidden-code": "Code decodes a text and runs it, so that it cannot be seen what runs."}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for snippet in reading.snippets:
        if runs_what_it_decodes(snippet.language, snippet.text) and _is_given(snippet.text, reading):
            yield Risk("hidden-code", f"{snippet.language} code")
    for started in programs(reading):
        if started.name in ("powershell", "pwsh") and any(_is_encoded(word) for word in started.words):
            yield Risk("hidden-code", started.spelled)


def _is_given(text: str, reading: CallReading) -> bool:
    """Whether a text is in the call, and not only in a file that it runs."""
    piece = text.strip()[:60].partition("\n")[0].partition("'")[0].partition('"')[0].partition("\\")[0]
    return any(piece in given for given in reading.texts)


def _is_encoded(word: str) -> bool:
    option = word.lower().lstrip("-/")
    return word[:1] in "-/" and len(option) > 0 and ("encodedcommand".startswith(option) or option == "ec")
