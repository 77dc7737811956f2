"""What a family of sessions made of the files that its calls name.

Owns Made and Files, and how they follow from what calls do: written whole, changed in part, moved, copied, deleted. Must not
know sessions, nor what others did to the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple, TypeAlias

import msgspec

from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.table import Table
from tallystick.policy.calls.authors import flat_digest
from tallystick.policy.taint.origins import REACHES
from tallystick.policy.taint.secret_output import MARKER
from tallystick.policy.world import MOST_BYTES

_MOST_FILES = 10_000
_MOST_FOLDERS = 256
_MOST_LOOSE = 256
_WHOLE = frozenset((Operation.WRITE, Operation.COPY_DEST))
_PARTLY = frozenset((Operation.EDIT, Operation.APPEND))
_GONE = frozenset((Operation.DELETE, Operation.RENAME))


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What a family did to one path last."""

    at_us: int
    session: str
    step: str
    request: int
    is_whole: bool
    """What it holds now is all its work."""
    is_new: bool = False
    is_gone: bool = False
    was: Made | None = None
    """Of what is gone: what it was before. It may stand under another name now."""
    digest: str | None = None
    """Of what it holds, where the call reported that."""
    flat: str | None = None
    """The same without what a formatter changes."""
    sources: tuple[str, ...] = ()
    """Files that what it holds came from."""
    is_generated: bool = False
    """No one wrote it: it came with a folder that a program made (`python -m venv`), or a program keeps it."""
    is_fetched: bool = False
    """It came from a host."""
    was_read: bool = False
    """The family had read the file before it changed a part of it."""


Before: TypeAlias = dict[str, tuple[Made | None, Made | None]]
"""What was known of paths, as files and as folders, before a change."""


class By(msgspec.Struct, frozen=True, kw_only=True):
    """The call that changes files."""

    at_us: int
    session: str
    step: str
    request: int
    existing: frozenset[str] | None
    """Of the files that it changes, those that were there before; None: no one looked."""


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one family, as a value. Bounded: the oldest are forgotten."""

    made_files: Table[Made] = Table()
    made_folders: Table[Made] = Table()
    seen: Table[bool] = Table()
    """Those that were read."""
    loose: Table[int] = Table()
    """Folders in which something was changed of which it is not reported what, and until when."""
    loose_all: int = 0
    """Until when that may have been anywhere."""

    def made(self, path: str) -> Made | None:
        """What the family did to a path last; of one that it never named, to the folder that it made it with."""
        found = self.made_files.get(path)
        if found is not None or not self.made_folders:
            return found
        folder = path
        while (folder := folder.rpartition("/")[0]) and len(folder) > 1:
            above = self.made_folders.get(folder)
            if above is not None:
                return msgspec.structs.replace(above, is_generated=not (above.sources or above.is_fetched))
        return None

    def is_download(self, path: str, depth: int = 0) -> bool:
        """Whether a file is what a host sent; also a copy of it, and what it was unpacked to."""
        made = self.made_files.get(path)
        if depth and made is not None and made.is_gone:
            made = made.was
        if made is None or not made.is_whole:
            return False
        return made.is_fetched or (depth < 3 and any(self.is_download(source, depth + 1) for source in made.sources))

    def is_loose(self, path: str, since_us: int) -> bool:
        """Whether something may have changed a file since a time, without its text saying that it does."""
        return self.loose_all >= since_us or any(
            at >= since_us and path.startswith(folder) for folder, at in self.loose.all().items()
        )

    def change(self, by: By, effects: Effects, wanted: Callable[[Intent], bool] = lambda _: True) -> Changed:
        """The files after a call, and what it took the place of."""
        change = _Change(self, by)
        sources: dict[int, list[Intent]] = {}
        for flow in effects.flows:
            sources.setdefault(flow.target, []).append(effects.intents[flow.source])
        for k, intent in enumerate(effects.intents):
            if intent.domain is Domain.FILE and intent.is_known and intent.target.startswith("/") and wanted(intent):
                change.touch(intent, sources.get(k, []))
        return Changed(change.after(), change.before)

    def undo(self, before: Before) -> Files:
        """The files with what a change took the place of."""
        if not before:
            return self
        return msgspec.structs.replace(
            self,
            made_files=_restored(self.made_files, {path: old for path, (old, _) in before.items()}, _MOST_FILES),
            made_folders=_restored(self.made_folders, {path: old for path, (_, old) in before.items()}, _MOST_FOLDERS),
        )

    def at(self, paths: Iterable[str]) -> Before:
        """What is known of some paths, as files and as folders."""
        return {path: (self.made_files.get(path), self.made_folders.get(path)) for path in paths}

    def loosen(self, at_us: int) -> Files:
        """The files after something ran until then of which it is not reported what it changed."""
        return msgspec.structs.replace(self, loose_all=max(self.loose_all, at_us))


class Changed(NamedTuple):
    """Files after a call, and what it took the place of."""

    files: Files
    before: Before


class _Change:
    """One call, intent by intent, on its way to the next value."""

    def __init__(self, files: Files, by: By) -> None:
        self.before: Before = {}
        self._start = files
        self._by = by
        self._files = files.made_files
        self._folders = files.made_folders
        self._seen = files.seen
        self._loose = files.loose

    def after(self) -> Files:
        """The files after all of it."""
        return Files(
            made_files=self._files,
            made_folders=self._folders,
            seen=self._seen,
            loose=self._loose,
            loose_all=self._start.loose_all,
        )

    def touch(self, intent: Intent, sources: list[Intent]) -> None:
        """One thing that the call does."""
        path, operation = intent.target, intent.operation
        if operation is Operation.READ and not intent.is_pattern:
            self._seen = self._seen.put({path: True}, _MOST_FILES)
        if intent.is_deep and operation in _PARTLY:
            self._loosen(path)
        elif operation in _GONE:
            self._forget(intent)
        elif operation in _WHOLE or operation in _PARTLY or operation is Operation.CREATE:
            if intent.is_deep and not self._is_new(intent, self._files.get(path)):
                self._loosen(path)  # a folder that was there does not become the session's
            else:
                self._set(intent, sources)

    def _loosen(self, folder: str) -> None:
        self._loose = self._loose.put({folder: self._by.at_us}, _MOST_LOOSE)

    def _note(self, path: str) -> None:
        """Remember what was known of a path before the call."""
        self.before.setdefault(path, (self._files.get(path), self._folders.get(path)))

    def _set(self, intent: Intent, origins: list[Intent]) -> None:
        by, path = self._by, intent.target
        sources = tuple(one.target for one in origins if one.domain is Domain.FILE)[:8]
        old = self._files.get(path)
        is_whole = intent.operation in _WHOLE or (intent.operation is Operation.CREATE and bool(sources))
        moved = next((one.target for one in origins if one.operation is Operation.RENAME), None)
        is_new = self._is_new(intent, old) and (moved is None or self._was_new(moved))
        content = None
        if is_whole and MARKER not in (intent.content or "") and not _is_large(intent.content):
            content = intent.content
        if intent.operation is Operation.CREATE and not sources and not is_new:
            return  # it was there, and is as it was
        all_sources = sources
        if not is_whole and old is not None:
            all_sources = (*old.sources, *sources)[:8]
        elif not is_whole:
            all_sources = sources[:8]
        made = Made(
            at_us=by.at_us,
            session=by.session,
            step=by.step,
            request=by.request,
            is_whole=is_whole or is_new or (old is not None and old.is_whole and not old.is_gone),
            is_new=is_new or (old is not None and old.is_new and not old.is_gone),
            digest=_digest(content) if content is not None else None,
            flat=flat_digest(path, content) if content is not None else None,
            sources=all_sources,
            is_fetched=any(one.operation in REACHES for one in origins),
            is_generated=is_upkeep(intent) and not sources and (old is None or old.is_gone or old.is_generated),
            was_read=path in self._seen,
        )
        self._note(path)
        self._files = self._files.put({path: made}, _MOST_FILES)
        if intent.is_deep or (is_new and intent.operation is Operation.CREATE):
            self._folders = self._folders.put({path: made}, _MOST_FOLDERS)

    def _is_new(self, intent: Intent, old: Made | None) -> bool:
        """Whether nothing was there before: as it was seen before the call, else as the record lets one conclude."""
        path = intent.target
        if old is not None and not old.is_gone:
            return False
        if self._by.existing is not None:
            return path not in self._by.existing
        if intent.operation in _WHOLE:
            return path not in self._seen
        return intent.operation is Operation.CREATE and intent.is_deep

    def _was_new(self, path: str) -> bool:
        """Whether what was moved away from a path was the session's: what another made is not new under another name."""
        gone = self._files.get(path)
        was = gone
        if gone is not None and gone.is_gone:
            was = gone.was
        return was is not None and was.is_new

    def _forget(self, intent: Intent) -> None:
        by, path = self._by, intent.target
        old = self._files.get(path)
        self._note(path)
        gone = Made(
            at_us=by.at_us,
            session=by.session,
            step=by.step,
            request=by.request,
            is_whole=True,
            is_gone=True,
            was=old if old is None or not old.is_gone else old.was,
        )
        below = [one for one in self._files.all() if one.startswith(f"{path}/")] if intent.is_deep else []
        for one in below:
            self._note(one)
        self._files = self._files.put({**dict.fromkeys(below), path: gone}, _MOST_FILES)
        self._folders = self._folders.put(_gone(self._folders, [*below, path]), _MOST_FOLDERS)
        self._seen = self._seen.put(_gone(self._seen, [path]), _MOST_FILES)


def is_upkeep(intent: Intent) -> bool:
    """Whether a program changes a file as it always does, and no one's text goes into it: a formatter, `npm install x`."""
    return intent.operation is Operation.EDIT and bool(intent.words) and not intent.is_authored


def _is_large(content: str | None) -> bool:
    """Whether a file with that content is not read when a call is judged, so that it cannot be compared."""
    return content is not None and len(content.encode("utf-8", "surrogatepass")) > MOST_BYTES


def _digest(content: str) -> str:
    return f"sha256:{sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _restored(table: Table[Made], before: dict[str, Made | None], most: int) -> Table[Made]:
    return table.put({path: old for path, old in before.items() if old is not None or path in table}, most)


def _gone(table: Table[Made] | Table[bool], paths: list[str]) -> dict[str, None]:
    """What takes some paths out of a table, as far as they are in it."""
    return {path: None for path in paths if path in table}
