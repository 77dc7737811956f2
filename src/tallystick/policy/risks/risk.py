"""What a call does as a whole that no single file or host shows. Owns its form."""

from __future__ import annotations

import msgspec


class Risk(msgspec.Struct, frozen=True):
    """Something that a call does, by a word that policies ask for (`resource.risks.contains("fork-bomb")`)."""

    name: str
    target: str
    """What it is done to or with, for people: a device, a host, a program, a piece of the text. At most 200 characters."""
