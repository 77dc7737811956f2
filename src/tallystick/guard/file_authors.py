"""What a family of sessions made of the files that its calls name.

Owns Made, and how it follows from what calls do: written whole, changed in part, moved, copied, deleted. Must not know
journals, nor what others did to the same files.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import TypeAlias, TypeVar

import msgspec

from tallystick.capture.content import MOST_BYTES
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.policy.calls.authors import flat_digest
from tallystick.policy.taint.origins import REACHES
from tallystick.policy.taint.secret_output import MARKER

_MOST_FILES = 20_000
_MOST_FOLDERS = 500
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
_Value = TypeVar("_Value")


class By(msgspec.Struct, frozen=True, kw_only=True):
    """The call that changes files."""

    at_us: int
    session: str
    step: str
    request: int
    existing: frozenset[str] | None
    """Of the files that it changes, those that were there before; None: no one looked."""


class Files:
    """The files of one family. Bounded: the oldest are forgotten."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, Made] = OrderedDict()
        self._folders: OrderedDict[str, Made] = OrderedDict()
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._loose: OrderedDict[str, int] = OrderedDict()
        self._loose_all = 0

    def made(self, path: str) -> Made | None:
        """What the family did to a path last; of one that it never named, to the folder that it made it with."""
        found = self._files.get(path)
        if found is not None or not self._folders:
            return found
        folder = path
        while (folder := folder.rpartition("/")[0]) and len(folder) > 1:
            above = self._folders.get(folder)
            if above is not None:
                return msgspec.structs.replace(above, is_generated=not (above.sources or above.is_fetched))
        return None

    def is_download(self, path: str, depth: int = 0) -> bool:
        """Whether a file is what a host sent; also a copy of it, and what it was unpacked to."""
        made = self._files.get(path)
        if depth and made is not None and made.is_gone:
            made = made.was
        if made is None or not made.is_whole:
            return False
        return made.is_fetched or (depth < 3 and any(self.is_download(source, depth + 1) for source in made.sources))

    def is_loose(self, path: str, since_us: int) -> bool:
        """Whether something may have changed a file since a time, without its text saying that it does."""
        return self._loose_all >= since_us or any(
            at >= since_us and path.startswith(folder) for folder, at in self._loose.items()
        )

    def change(self, by: By, effects: Effects, wanted: Callable[[Intent], bool] = lambda _: True) -> Before:
        """What a call did to files; what that took the place of."""
        before: Before = {}
        sources: dict[int, list[Intent]] = {}
        for flow in effects.flows:
            sources.setdefault(flow.target, []).append(effects.intents[flow.source])
        for k, intent in enumerate(effects.intents):
            if intent.domain is Domain.FILE and intent.is_known and intent.target.startswith("/") and wanted(intent):
                self._touch(by, before, intent, sources.get(k, []))
        return before

    def undo(self, before: Before) -> None:
        """Put back what a change took the place of."""
        for path, (old, folder) in before.items():
            _restore(self._files, path, old)
            _restore(self._folders, path, folder)

    def loosen(self, at_us: int) -> None:
        """Something ran until then of which it is not reported what it changed."""
        self._loose_all = max(self._loose_all, at_us)

    def _touch(self, by: By, before: Before, intent: Intent, sources: list[Intent]) -> None:
        path, operation = intent.target, intent.operation
        if operation is Operation.READ and not intent.is_pattern:
            _put(self._seen, path, None, _MOST_FILES)
        if intent.is_deep and operation in _PARTLY:
            _put(self._loose, path, by.at_us, _MOST_FOLDERS)
        elif operation in _GONE:
            self._forget(by, before, intent)
        elif operation in _WHOLE or operation in _PARTLY or operation is Operation.CREATE:
            if intent.is_deep and not self._is_new(by, intent, self._files.get(path)):
                _put(
                    self._loose, path, by.at_us, _MOST_FOLDERS
                )  # a folder that was there does not become the session's
            else:
                self._set(by, before, intent, sources)

    def _set(self, by: By, before: Before, intent: Intent, origins: list[Intent]) -> None:
        path = intent.target
        sources = tuple(one.target for one in origins if one.domain is Domain.FILE)[:8]
        old = self._files.get(path)
        is_whole = intent.operation in _WHOLE or (intent.operation is Operation.CREATE and bool(sources))
        moved = next((one.target for one in origins if one.operation is Operation.RENAME), None)
        is_new = self._is_new(by, intent, old) and (moved is None or self._was_new(moved))
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
        before.setdefault(path, (old, self._folders.get(path)))
        _put(self._files, path, made, _MOST_FILES)
        if intent.is_deep or (is_new and intent.operation is Operation.CREATE):
            _put(self._folders, path, made, _MOST_FOLDERS)

    def _is_new(self, by: By, intent: Intent, old: Made | None) -> bool:
        """Whether nothing was there before: as it was seen before the call, else as the record lets one conclude."""
        path = intent.target
        if old is not None and not old.is_gone:
            return False
        if by.existing is not None:
            return path not in by.existing
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

    def _forget(self, by: By, before: Before, intent: Intent) -> None:
        path = intent.target
        old = self._files.get(path)
        before.setdefault(path, (old, self._folders.get(path)))
        gone = Made(
            at_us=by.at_us,
            session=by.session,
            step=by.step,
            request=by.request,
            is_whole=True,
            is_gone=True,
            was=old if old is None or not old.is_gone else old.was,
        )
        _put(self._files, path, gone, _MOST_FILES)
        self._folders.pop(path, None)
        self._seen.pop(path, None)
        if intent.is_deep:
            for below in [one for one in self._files if one.startswith(f"{path}/")]:
                before.setdefault(below, (self._files.pop(below), self._folders.pop(below, None)))


def is_upkeep(intent: Intent) -> bool:
    """Whether a program changes a file as it always does, and no one's text goes into it: a formatter, `npm install x`."""
    return intent.operation is Operation.EDIT and bool(intent.words) and not intent.is_authored


def _put(table: OrderedDict[str, _Value], key: str, value: _Value, most: int) -> None:
    table[key] = value
    table.move_to_end(key)
    if len(table) > most:
        table.popitem(last=False)


def _restore(table: OrderedDict[str, Made], path: str, old: Made | None) -> None:
    if old is None:
        table.pop(path, None)
    else:
        table[path] = old


def _is_large(content: str | None) -> bool:
    """Whether a file with that content is not read when a call is judged, so that it cannot be compared."""
    return content is not None and len(content.encode("utf-8", "surrogatepass")) > MOST_BYTES


def _digest(content: str) -> str:
    return f"sha256:{sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}"
