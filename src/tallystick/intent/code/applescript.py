"""AppleScript → what it does: commands of the shell that it holds, and what it tells the Finder to take away.

Owns how its paths are written (`folder "x" of home`, `POSIX file "/x"`, `Macintosh HD:Users:x`) and which words of the Finder
delete. All else of it is read by verbs. Must not know which paths matter. Sources: Apple's language guide; the Finder's
dictionary.
"""

from __future__ import annotations

import re

from tallystick.intent.actions import HOME, Found
from tallystick.intent.code.verbs import read_verbs
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of

_REMOVAL = pattern_of(r"(?i)\b(?:delete|empty)\b([^\n]{0,400})")
_TO_TRASH = pattern_of(r"(?i)\bmove\b([^\n]{0,300}?)\bto (?:the )?trash\b")
_TRASH = pattern_of(r"(?i)^\s*(?:the )?(?:trash\b|$)")
_INSIDE = pattern_of(r"(?i)\b(?:every|all|entire contents|items|files|folders)\b")
_NAMED = pattern_of(r'(?i)\b(?:folder|file|item|disk|alias)\s+"([^"\n]{1,300})"')
_POSIX = pattern_of(r'(?i)\bposix file\s+"([^"\n]{1,1000})"|"(/[^"\n]{1,1000})"')
_OF_HOME = pattern_of(r"(?i)\bof (?:the )?(?:home|home folder|folder home)\b|\bpath to home folder\b")
_KNOWN = pattern_of(
    r"(?i)\b(?:path to )?(?:the )?(desktop|documents folder|downloads folder|pictures folder|home folder|home)\b"
)
_MOST = 50


def read_applescript(text: str, found: Found) -> None:
    """Note what a script does, as far as its verbs and what it says to the Finder tell."""
    read_verbs(text, found)
    if "finder" not in text.lower():
        return
    for removal in (*_REMOVAL.finditer(text), *_TO_TRASH.finditer(text))[:_MOST]:
        _removes(removal[1], found)


def _removes(said: str, found: Found) -> None:
    if _TRASH.match(said):
        found.file(Operation.DELETE, f"{HOME}/.Trash", is_deep=True)
        return
    found.file(Operation.DELETE, _path(said), is_deep=_INSIDE.search(said) is not None or "folder" in said.lower())


def _path(said: str) -> str | None:
    """The path that words of the Finder name, the innermost name first; None where they name none."""
    posix = _POSIX.search(said)
    if posix is not None:
        return posix[1] or posix[2]
    names = [one.replace(":", "/") for one in _NAMED.findall(said)]
    if _OF_HOME.search(said):
        return "/".join((HOME, *reversed(names)))
    known = _KNOWN.search(re.sub(r'"[^"\n]*"', "", said))
    if known is not None:
        word = known[1].split()[0].lower()
        return "/".join((HOME if word == "home" else f"{HOME}/{word.capitalize()}", *reversed(names)))
    return "/".join(reversed(names)) or None
