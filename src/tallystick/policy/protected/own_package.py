"""Commands of package managers that put another Tallystick in the place of the one that is installed.

Owns how its package is known among the words of such a command: by name, as a requirement, as an archive, a folder or a
repository that is named like it. The verbs and options are in the catalogue. Must not know where anything is installed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word
from tallystick.policy.protected.own_commands import PACKAGE, RUNNERS, is_python

INSTALLERS = programs_with("installs") | programs_with("package-manager")
_OF_MACHINE = programs_with("package-manager") - programs_with("runs-named-program")
_REPLACES = names(PACKAGE.replaces)
_INSTALLS = names(PACKAGE.installs)
_FORCES = names(PACKAGE.forces)
_FORCING_LETTERS = frozenset(text[1] for text in _FORCES if len(text) == 2)
_REMOVES = names(PACKAGE.removes)
_REMOVES_FROM_MACHINE = names(PACKAGE.removes_from_machine)
_REMOVES_ALL = names(PACKAGE.removes_all)
_VERSION = pattern_of(r"[\d.]+$")
_MOST_BEFORE = 8
_NAME = re.escape(PACKAGE.name)
_REQUIREMENT = pattern_of(rf"{_NAME}(?:\[[^\]]{{0,80}}\])?", re.IGNORECASE)
_PINNED = pattern_of(rf"{_NAME}(?:\[[^\]]{{0,80}}\])?\s{{0,4}}(?:[=<>!~]|@).*", re.IGNORECASE | re.DOTALL)
_PLACE = pattern_of(
    rf"{_NAME}(?:[-_.]v?\d.*|[-_](?:main|master)\b.*|\.(?:git|zip|tar|whl).*|[@#].*)?", re.IGNORECASE | re.DOTALL
)
_EGG = pattern_of(rf"[#&]egg={_NAME}(?![\w-])", re.IGNORECASE)
_MOST_WORDS = 200
_LONGEST = 2000


def replaces_package(command: Command) -> bool:
    """Whether a command puts another package in the place of ours."""
    found = _arguments(command)
    if found is None:
        return False
    words = found[:_MOST_WORDS]
    texts = [word.plain[:_LONGEST] for word in words]
    if not _REPLACES.isdisjoint(texts[:3]):
        return any(map(_is_required, texts))
    if _INSTALLS.isdisjoint(texts[:3]):
        return False
    if any(_is_placed(text, command.folders) or _PINNED.fullmatch(text) for text in texts):
        return True
    return any(map(_forces, texts)) and any(map(_is_required, texts))


def removes_package(command: Command) -> bool:
    """Whether a command takes our package away, by its name or with all others."""
    found = _arguments(command)
    if found is None:
        return False
    texts = [word.plain[:_LONGEST] for word in found[:_MOST_WORDS]]
    verbs = _REMOVES
    if command.program in _OF_MACHINE:
        verbs = _REMOVES | _REMOVES_FROM_MACHINE
    if verbs.isdisjoint(texts):
        return not _REMOVES_ALL.isdisjoint(texts)
    return "--all" in texts or any(PACKAGE.name in text for text in texts)


def _arguments(command: Command) -> Sequence[Word] | None:
    """The words after the name of a package manager, also of one that Python or a runner starts; None: it is none."""
    name = _VERSION.sub("", command.program.rpartition("/")[2])
    if name in INSTALLERS and not is_python(command.words):
        return command.arguments
    if name not in RUNNERS and not is_python(command.words):
        return None
    for at, word in enumerate(command.arguments[:_MOST_BEFORE], 2):
        if word.plain in INSTALLERS:
            return command.words[at:]
    return None


def _is_required(text: str) -> bool:
    return _REQUIREMENT.fullmatch(text) is not None or _PINNED.fullmatch(text) is not None


def _is_placed(text: str, folders: Sequence[str]) -> bool:
    """Whether a path or an address is named like the package. The folder that a command runs in is its own project."""
    if _EGG.search(text) is not None:
        return True
    path = text.partition("[")[0].rstrip("/")
    if "/" not in path and not path.endswith((".whl", ".gz", ".zip")):
        return False
    if any(posixpath.normpath(posixpath.join(folder, path)) == folder for folder in folders):
        return False
    return _PLACE.fullmatch(path.rpartition("/")[2]) is not None


def _forces(text: str) -> bool:
    if text[:1] == "-" and text[1:2] not in ("-", ""):
        return not _FORCING_LETTERS.isdisjoint(text[1:4])
    return text.partition("=")[0] in _FORCES
