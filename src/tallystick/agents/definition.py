"""AGENT.md: what the definition of a sub-agent says of it in its front matter.

Owns reading the members that concern the record. Front matter is read as `key: value` lines between two lines of `---`: no
YAML library comes along for a word that is true or false. A value on lines of its own, an anchor or a flow map is not
understood, and then nothing is said. Must not know where such files are. Source: specs/lango.md 2.3.
"""

from __future__ import annotations

FILE = "AGENT.md"

_MOST_LINES = 200
_MOST_LINE = 1_000
_YES = frozenset(("true", "yes", "on"))
_NO = frozenset(("false", "no", "off"))


def session_isolation(text: str) -> bool | None:
    """Whether the sub-agent works in a session of its own; None: the definition does not say, or not in plain words."""
    said = _front_matter(text).get("session_isolation")
    if said is None:
        return None
    word = said.strip("'\"").lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    return None


def _front_matter(text: str) -> dict[str, str]:
    """The members that stand on one line each, at the front matter's own level; the last of one name holds."""
    lines = text.removeprefix("\ufeff")[: _MOST_LINES * _MOST_LINE].splitlines()[:_MOST_LINES]
    if not lines or lines[0].rstrip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1:]:
        if line.rstrip() in ("---", "..."):
            return found
        key, colon, value = line.partition(":")
        if colon and key and not key[0].isspace() and key[0] not in "#-":
            found[key.strip().strip("'\"")] = value.partition(" #")[0].strip()
    return {}  # it does not end: it is not a front matter
