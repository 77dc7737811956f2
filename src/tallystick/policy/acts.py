"""A call as it was read → its acts: each thing that it does, with what is known of what it does it to.

Owns how intents become acts, where a path lies, and which questions about a path are asked for which action: those of the
record and of version control are slow, and most calls only read. Must not know what follows from an act.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.facts import Act, Action, FileFacts, Place, ProgramFacts
from tallystick.policy.hosts import host_of
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.reading import CallReading
from tallystick.policy.settings import Settings
from tallystick.policy.world import FileKind, Provenance, Tracking, World

_MOST_ACTS = 500
_ACTIONS = {
    Operation.READ: Action.READ,
    Operation.COPY_SOURCE: Action.READ,
    Operation.LIST: Action.LIST,
    Operation.CREATE: Action.WRITE,
    Operation.WRITE: Action.WRITE,
    Operation.APPEND: Action.WRITE,
    Operation.EDIT: Action.WRITE,
    Operation.COPY_DEST: Action.WRITE,
    Operation.DELETE: Action.DELETE,
    Operation.RENAME: Action.MOVE,
    Operation.METADATA: Action.METADATA,
    Operation.EXECUTE: Action.EXECUTE,
    Operation.FETCH: Action.FETCH,
    Operation.SEND: Action.SEND,
    Operation.CONNECT: Action.CONNECT,
    Operation.LISTEN: Action.LISTEN,
    Operation.RUN: Action.RUN,
}
_CHANGES = frozenset((Action.WRITE, Action.DELETE, Action.MOVE, Action.METADATA, Action.EXECUTE))
"""Acts that are judged by a file's past."""
_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")


def acts_of(reading: CallReading, world: World, settings: Settings, temporary: tuple[str, ...] = ()) -> Iterator[Act]:
    """What a call does, one by one; each thing once.

    Args:
        temporary: folders for temporary files besides the system's, absolute.
    """
    finder = _Finder(reading, world, settings, temporary)
    seen: set[tuple[object, ...]] = set()
    for intent in reading.effects.intents:
        action = _ACTIONS.get(intent.operation)
        key = (action, intent.target, intent.is_deep, intent.is_pattern, intent.is_known)
        if action is None or (key in seen and intent.content is None):
            continue
        if len(seen) >= _MOST_ACTS:
            return
        seen.add(key)
        yield finder.act(action, intent)


class _Finder:
    """Finds what is known of what one call works on."""

    def __init__(self, reading: CallReading, world: World, settings: Settings, temporary: tuple[str, ...]) -> None:
        self._reading = reading
        self._world = world
        self._settings = settings
        self._temporary = (*temporary, *_TEMPORARY)
        self._real: dict[str, str] = {}

    def act(self, action: Action, intent: Intent) -> Act:
        """An intent as an act."""
        match intent.domain:
            case Domain.FILE:
                return Act(action=action, resource=self._file(action, intent), because=intent.words)
            case Domain.NETWORK:
                return Act(action=action, resource=host_of(intent.target, self._settings), because=intent.words)
            case _:
                name = intent.target.rpartition("/")[2] or intent.target
                return Act(action=action, resource=ProgramFacts(name), because=intent.words)

    def _file(self, action: Action, intent: Intent) -> FileFacts:
        path = intent.target
        real = self._without_links(path) if intent.is_known and path.startswith("/") else path
        named = Named(
            path=path,
            real=real,
            home=self._reading.home,
            workspace=self._reading.workspace,
            is_known=intent.is_known,
            is_pattern=intent.is_pattern,
            is_deep=intent.is_deep,
        )
        is_one = intent.is_known and not intent.is_pattern and path.startswith("/")
        is_asked = is_one and action in _CHANGES
        past = self._world.provenance(real) if is_asked else Provenance()
        tracking = self._world.tracking(real) if is_asked else Tracking()
        return FileFacts(
            path=path,
            name=posixpath.basename(path),
            place=self._place(named),
            kinds=kinds_of(named, self._settings),
            is_known=intent.is_known,
            is_pattern=intent.is_pattern,
            is_deep=intent.is_deep,
            exists=is_one and self._world.state(real).kind is not FileKind.NOTHING,
            maker=past.maker,
            is_new=past.is_new,
            is_tracked=tracking.is_tracked,
            is_ignored=tracking.is_ignored,
            is_committed=tracking.is_committed,
            trust=past.trust,
            is_sensitive=past.is_sensitive,
            evidence=past.evidence,
        )

    def _without_links(self, path: str) -> str:
        if path not in self._real:
            self._real[path] = self._world.real(path)
        return self._real[path]

    def _place(self, named: Named) -> Place:
        """Where a path lies. It counts as inside of a folder only if the file that it leads to does as well."""
        if not named.path.startswith("/"):
            return Place.UNKNOWN
        return max((self._place_of(path) for path in {named.path, named.real}), key=_ORDER.index)

    def _place_of(self, path: str) -> Place:
        workspace, home = self._reading.workspace, self._reading.home
        trusted = tuple(home + text[1:] if text[:1] == "~" else text for text in self._settings.trusted)
        if workspace is not None and is_below(path, (workspace, self._without_links(workspace))):
            return Place.WORKSPACE
        if is_below(path, trusted):
            return Place.TRUSTED
        if is_below(path, (home,)):
            return Place.HOME
        return Place.TEMPORARY if is_below(path, self._temporary) else Place.OUTSIDE


_ORDER = tuple(Place)


def is_below(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a path is one of some folders, or lies in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
