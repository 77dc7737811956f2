"""Languages of filters, jq and yq: they read files only where they say so.

Owns the few words by which they do. Must not know the files that the programs are given. Sources: jq(1); the manual of yq,
"load".
"""

from __future__ import annotations

import re

from tallystick.intent.code.found import Found
from tallystick.model.intent import Operation

_LOADS = re.compile(r"\b(?:load|load_str|load_xml|load_props|load_base64|strload)\s{0,20}\(\s{0,20}\"([^\"]{1,4096})\"")


def read_filter(text: str, found: Found) -> None:
    """Note what an expression reads besides its input."""
    for load in _LOADS.finditer(text[:131_072]):
        found.file(Operation.READ, load[1])
