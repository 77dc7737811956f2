"""Files that agents read as orders and that a call brings without saying their text: from a revision, or in a folder.

Owns where these texts are before the call. Must not know what a text says, nor who asks.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tallystick.catalog.agents import session_instructions
from tallystick.intent.programs.git_call import GitCall
from tallystick.intent.shell.names import canonical
from tallystick.model.intent import Intent
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Role
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.markdown import absolute_import, imports
from tallystick.policy.kinds.orders import is_orders
from tallystick.policy.taint.origins import TAKES
from tallystick.policy.world import Content, Unread, World

_REVISION = pattern_of(r"[\w@][\w./@^~{}+-]{0,199}")
_OWN = pattern_of(r"(?:HEAD|main|master|origin|upstream)\b.*|.*\.(?:mdc?|txt)")
"""Revisions that are the project's, and paths; of all others that cannot be read no one knows what they hold."""
_MOST_REVISIONS = 4
_MOST_BELOW = 20
_DEPTHS = ("*", "*/*", "*/*/*")
_SHOWS = frozenset(("show", "cat-file"))
_TEXT = (".md", ".mdc", ".txt", ".markdown")


class Version(NamedTuple):
    """What git calls a state of the project."""

    name: str
    path: str | None = None
    """The one file of it that is shown."""


def order_files(
    intent: Intent, reading: CallReading, world: World, versions: tuple[Version, ...]
) -> Iterator[tuple[str, str | None]]:
    """Path and text of each file that agents read as orders and that an intent brings: what it will hold.

    None: a revision is named that is not there yet, or is no one's that is known.
    """
    for version in versions:
        for place in _places(intent, version):
            found = world.blob(f"{version.name}:{version.path or place}")
            if place == intent.target and found is Unread.UNREADABLE and not _OWN.fullmatch(version.name):
                yield place, None
            else:
                yield place, held(found)
    if intent.is_deep:
        for source in reading.effects.intents:
            if source.is_deep and source.operation in TAKES and source.command == intent.command:
                yield from _below(source.target, intent.target, world)


def _places(intent: Intent, version: Version) -> Iterator[str]:
    if is_orders(intent.target):
        yield intent.target
    elif version.path is None:
        yield from (posixpath.join(intent.target, name) for name in session_instructions())


def _below(source: str, target: str, world: World) -> Iterator[tuple[str, str]]:
    found = (path for depth in _DEPTHS for path in world.matches(f"{source}/{depth}") if path.endswith(_TEXT))
    for path in islice(found, _MOST_BELOW):
        place = target + path[len(source) :]
        if is_orders(place):
            yield place, held(world.content(path))


def held(found: object) -> str:
    """The text of what was read; nothing of what was not."""
    if isinstance(found, Content):
        return found.text
    return ""


def versions_of(reading: CallReading) -> tuple[Version, ...]:
    """What the git commands of a call take files from."""
    return tuple(islice(_revisions(reading), _MOST_REVISIONS))


def _revisions(reading: CallReading) -> Iterator[Version]:
    for done in reading.done:
        command = done.command
        if command.role is not Role.PROGRAM or not command.words or canonical(command.program) != "git":
            continue
        git = GitCall(command)
        words = [word.text for word in git.arguments[:20]]
        if git.verb == "restore":
            words = [word.text for word in git.line.values("-s", "--source")]
        elif git.verb in _SHOWS:
            yield from _shown(words, command.folder, reading.workspace)
            continue
        elif git.verb not in ("checkout", "switch"):
            continue
        yield from (Version(word) for word in words[:1] if _REVISION.fullmatch(word))


def _shown(words: list[str], folder: str | None, workspace: str | None) -> Iterator[Version]:
    for word in words:
        name, colon, path = word.partition(":")
        base = workspace
        if path.startswith("."):
            base = folder
        if colon and base and _REVISION.fullmatch(name):
            yield Version(name, posixpath.normpath(posixpath.join(base, path)))


# What other files take in ---------------------------------------------------------------------------------------------


def is_taken_in(path: str, reading: CallReading, world: World) -> bool:
    """Whether a file that agents read at the start of a session leads to a path, or takes it in by `@path`."""
    folder = reading.workspace
    if folder is None or not path.endswith(_TEXT) or is_orders(path):
        return False
    for name in session_instructions():
        place = posixpath.join(folder, name)
        text = held(world.content(place))
        if not text:
            continue
        if world.real(place) == path:
            return True
        if "@" in text and any(path == absolute_import(one, place, reading.home) for one in imports(text)):
            return True
    return False
