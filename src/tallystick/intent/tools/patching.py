"""Patches as models write them → what they do to which files.

Owns the `*** Begin Patch` envelope and the headers of unified differences. Must not know whether a patch fits. Sources: the
format that Codex's `apply_patch` describes to models; POSIX `diff -u`; git-diff(1) for renames, new and deleted files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tallystick.intent.tools.draft import MOST, Draft
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of

_MOST_CHARACTERS = 16 * 1024 * 1024
# Both take the whole rest of a line: what is cut off its end by an expression can take quadratic time.
_HEADER = pattern_of(r"^\*\*\* (Add File|Update File|Delete File|Move to|Move File|End of File|End Patch)(.*)$", re.M)
_UNIFIED = pattern_of(r"^(---|\+\+\+|rename from|rename to|copy from|copy to) (.+)$", re.M)
_NOWHERE = "/dev/null"


class Change(msgspec.Struct, frozen=True):
    """What a patch does to one file. `content` is what a new one will hold; `moved_to` is its new path, if it gets one."""

    operation: Operation
    path: str
    content: str | None = None
    moved_to: str | None = None


def is_patch(text: str) -> bool:
    """Whether a text has the form of a patch."""
    return "*** Begin Patch" in text or ("\n+++ " in text and (text.startswith("--- ") or "\n--- " in text))


def changes_in(text: str) -> tuple[Change, ...]:
    """What a patch does, file by file, at most 200."""
    if len(text) > _MOST_CHARACTERS:
        return ()
    if "*** " in text:
        found = _enveloped(text)
    else:
        found = iter(())
    changes = _bounded(found)
    return changes or _bounded(_unified(text))


def _bounded(found: Iterator[Change]) -> tuple[Change, ...]:
    return tuple(change for change, _ in zip(found, range(MOST), strict=False))


def _enveloped(text: str) -> Iterator[Change]:
    heads = list(_HEADER.finditer(text))
    for place, head in enumerate(heads):
        what, path = head[1], _path_of(head)
        if place + 1 < len(heads):
            end = heads[place + 1].start()
        else:
            end = len(text)
        if not path:
            continue
        if what == "Add File":
            yield Change(Operation.WRITE, path, _added(text[head.end() : end]))
        elif what == "Delete File":
            yield Change(Operation.DELETE, path)
        elif what in ("Update File", "Move File"):
            following = None
            if place + 1 < len(heads):
                following = heads[place + 1]
            moved = None
            if following is not None and following[1] == "Move to":
                moved = _path_of(following)
            yield Change(Operation.EDIT, path, moved_to=moved or None)


def _path_of(head: re.Match[str]) -> str:
    return head[2].removeprefix(":").strip()


def _added(body: str) -> str:
    """The lines of a new file: those marked `+`, each ended by LF."""
    return "".join(line[1:].removesuffix("\r") + "\n" for line in body.split("\n") if line.startswith("+"))


def _unified(text: str) -> Iterator[Change]:
    old, is_named = "", False
    for head in _UNIFIED.finditer(text):
        what, path = head[1], head[2].partition("\t")[0].removesuffix("\r")
        if what in ("---", "rename from", "copy from"):
            old, is_named = (path, what != "---")
        elif old and (what != "+++" or not is_named):
            yield from _from_heads(what, old, path)
            if what == "+++":
                old = ""


def _from_heads(what: str, old: str, new: str) -> Iterator[Change]:
    if what == "rename to":
        yield Change(Operation.EDIT, old, moved_to=new)
    elif what == "copy to":
        yield Change(Operation.WRITE, new)
    elif new == _NOWHERE:
        yield Change(Operation.DELETE, _without_side(old, "a/"))
    elif old == _NOWHERE:
        yield Change(Operation.WRITE, _without_side(new, "b/"))
    else:
        yield Change(Operation.EDIT, _without_side(new, "b/"))


def _without_side(path: str, side: str) -> str:
    """A path without git's `a/` or `b/`."""
    return path.removeprefix(side)


def apply_patch(draft: Draft, text: str) -> bool:
    """Add what a patch does; whether it does anything that was understood."""
    changes = changes_in(text)
    for change in changes:
        if change.moved_to is None:
            add_change(draft, change.operation, change.path, change.content)
        else:
            move(draft, change.path, change.moved_to)
            draft.author(Operation.EDIT, change.moved_to)
    return bool(changes)


def add_change(draft: Draft, operation: Operation, path: str, content: str | None) -> None:
    """Add what a patch does to one file. A file that is deleted gets no text."""
    if operation is Operation.DELETE:
        draft.file(operation, path)
    else:
        draft.author(operation, path, content)


def move(draft: Draft, old: str, new: str) -> None:
    """Add a file's move: the old name goes, the new one holds what it held."""
    draft.flow(draft.file(Operation.RENAME, old), draft.file(Operation.COPY_DEST, new))
