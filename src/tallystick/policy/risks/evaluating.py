"""Code that runs a text as code or as a command, where the text does not are in it.

Owns how that looks in each language: what a text is run with, and the decoders that hide one. Must not know where code comes
from, nor what follows. Each expression is bounded, so that long texts take linear time.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from functools import cache

from tallystick.catalog.loading import Entry, load
from tallystick.policy.risks.reverse_shell_code import runs_named

_MOST_CHARACTERS = 64 << 10


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/evaluating.toml."""

    hints: frozenset[str]
    runs: Mapping[str, str]
    from_url: str
    fetched: str
    fetches: str
    decodes: str
    from_input: str


_FACTS = load("code/evaluating", _Facts)
_SAME = {"typescript": "javascript"}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compiled when code is first looked at: few calls bring any."""
    return re.compile(text.strip())


def _runs(language: str) -> re.Pattern[str]:
    return _pattern(_FACTS.runs.get(_SAME.get(language, language), _FACTS.runs["other"]))


def runs_a_text(language: str, text: str) -> bool:
    """Whether code runs a text that does not are in it."""
    small = text[:_MOST_CHARACTERS].lower()
    if not any(hint in small for hint in _FACTS.hints):
        return False
    return _runs(language).search(text, 0, _MOST_CHARACTERS) is not None


def runs_what_it_fetched(text: str) -> bool:
    """Whether a text that came from a host is run as a command, by the names that it is given on the way."""
    pattern = _pattern(_FACTS.fetched)
    return pattern.search(text, 0, _MOST_CHARACTERS) is not None and runs_named(text[:_MOST_CHARACTERS], pattern)


def url_that_runs(text: str) -> str | None:
    """The URL that code takes other code from."""
    found = None
    if "://" in text:
        found = _pattern(_FACTS.from_url).search(text, 0, _MOST_CHARACTERS)
    if found is None:
        return None
    return next((url for url in found.groups() if url), None)


def runs_its_input(text: str) -> bool:
    """Whether code runs what reaches its standard input."""
    return _pattern(_FACTS.from_input).search(text, 0, _MOST_CHARACTERS) is not None


def fetches(text: str) -> bool:
    """Whether code of a language that is not read asks something of a host."""
    return _pattern(_FACTS.fetches).search(text, 0, _MOST_CHARACTERS) is not None


def runs_what_it_decodes(language: str, text: str) -> bool:
    """Whether code runs a text that it decodes first."""
    return runs_a_text(language, text) and _pattern(_FACTS.decodes).search(text, 0, _MOST_CHARACTERS) is not None


def powershell_text(encoded: str) -> str | None:
    """What `-EncodedCommand` means: UTF-16 in Base64; None if it is none."""
    try:
        return base64.b64decode(encoded[:_MOST_CHARACTERS] + "=" * (-len(encoded) % 4)).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return None
