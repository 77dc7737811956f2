"""The turns of speech in which text orders an agent against its user.

Owns how the wordings of the catalogue are compiled. Must not know how a text is made plain, nor where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from tallystick.catalog.agents import addressed
from tallystick.catalog.loading import Entry, load


class Wording(msgspec.Struct, frozen=True):
    """Something that may be said in one sentence."""

    tag: str
    needs: tuple[str, ...]
    """One of these is in a sentence that says it."""
    parts: tuple[re.Pattern[str], ...]
    """They follow each other, not far apart."""
    is_order: bool = True
    """Said with `never` or `do not` before it, it is the opposite."""


class _Wording(Entry, frozen=True):
    tag: str
    needs: tuple[str, ...]
    parts: tuple[str, ...]


class _Facts(Entry, frozen=True):
    """Facts of catalog/injection_wordings.toml."""

    negative: frozenset[str]
    names: Mapping[str, str]
    wordings: tuple[_Wording, ...]


def _compiled(part: str, names: Mapping[str, str]) -> re.Pattern[str]:
    """A part as the catalogue has it: line breaks and spaces in it mean nothing, and `_` is a space."""
    spelled = re.sub(r"\s+", "", part)
    for name, pattern in names.items():
        spelled = spelled.replace(f"<{name}>", re.sub(r"\s+", "", pattern))  # a name may be in those before it
    return re.compile(spelled.replace("_", " "))


@cache
def wordings() -> tuple[Wording, ...]:
    """Every wording that is known. They are compiled when a text is first looked at: few calls write one."""
    facts = load("injection_wordings", _Facts)
    names = {**facts.names, "AGENT": "|".join(addressed())}
    return tuple(
        Wording(
            tag=wording.tag,
            needs=wording.needs,
            parts=tuple(_compiled(part, names) for part in wording.parts),
            is_order=wording.tag not in facts.negative,
        )
        for wording in facts.wordings
    )
