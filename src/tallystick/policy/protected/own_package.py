"""Commands of package managers that put another Tallystick in the place of the one that is installed.

Owns how its package is known among the words of such a command: by name, as a requirement, as an archive, a folder or a
repository that is named like it. The verbs and options are in the catalogue. Must not know where anything is installed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word
from tallystick.policy.protected.own_commands import PACKAGE, RUNNERS, is_python

_UNASKED = names(PACKAGE.installs_unasked)
_BY_OPTION = names(PACKAGE.installs_by_option)
INSTALLERS = (
    programs_with("installs") | programs_with("package-manager") | names(PACKAGE.also_installs) | _UNASKED | _BY_OPTION
)
_OF_MACHINE = programs_with("package-manager") - programs_with("runs-named-program")
_REPLACES = names(PACKAGE.replaces)
_REPLACES_ALL = names(PACKAGE.replaces_all)
_INSTALLS = names(PACKAGE.installs)
_OF_ONE = names(PACKAGE.of_one_package)
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
    return any(_replaces(found, command.folders) for found in _asked(command))


def _replaces(found: _Asked, folders: Sequence[str]) -> bool:
    texts = found.texts
    if not _REPLACES.isdisjoint(texts[:3]):
        return (texts[:1] == ["tool"] and "--all" in texts) or any(map(_is_required, texts))
    if not _REPLACES_ALL.isdisjoint(texts[:3]) or any(map(_is_of_ours, texts, [*texts[1:], ""])):
        return True
    is_unasked = found.name in _UNASKED
    if not is_unasked and found.name not in _BY_OPTION and _INSTALLS.isdisjoint(texts[:3]):
        return False
    if any(_is_placed(text, folders) or _PINNED.fullmatch(text) for text in texts):
        return True
    return (is_unasked or any(map(_forces, texts))) and any(map(_is_required, texts))


def removes_package(command: Command) -> bool:
    """Whether a command takes our package away, by its name or with all others."""
    verbs = _REMOVES
    if command.program in _OF_MACHINE:
        verbs = _REMOVES | _REMOVES_FROM_MACHINE
    return any(_removes(found.texts, verbs) for found in _asked(command))


def _removes(texts: Sequence[str], verbs: frozenset[str]) -> bool:
    if verbs.isdisjoint(texts):
        return not _REMOVES_ALL.isdisjoint(texts)
    return "--all" in texts or any(PACKAGE.name in text for text in texts)


class _Asked(NamedTuple):
    """What a package manager is asked."""

    name: str
    texts: list[str]


def _asked(command: Command) -> Iterator[_Asked]:
    """The words after the name of a package manager, also of one that Python or a runner starts."""
    name = _VERSION.sub("", command.program.rpartition("/")[2])
    by_python = is_python(command.words)
    if name in INSTALLERS and not by_python:
        yield _Asked(name, _texts(command.arguments))
    if name in RUNNERS or by_python:
        words = enumerate(command.arguments[:_MOST_BEFORE], 2)
        inner = next(((at, word.plain) for at, word in words if word.plain in INSTALLERS), None)
        if inner is not None:
            yield _Asked(inner[1], _texts(command.words[inner[0] :]))


def _texts(words: Sequence[Word]) -> list[str]:
    return [word.plain[:_LONGEST] for word in words[:_MOST_WORDS]]


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


def _is_of_ours(option: str, value: str) -> bool:
    """`--reinstall-package tallystick`, whatever the verb is."""
    name, joint, own = option.partition("=")
    if name not in _OF_ONE:
        return False
    if joint:
        return _is_required(own)
    return _is_required(value)


def _forces(text: str) -> bool:
    if text[:1] == "-" and text[1:2] not in ("-", ""):
        return not _FORCING_LETTERS.isdisjoint(text[1:4])
    return text.partition("=")[0] in _FORCES
