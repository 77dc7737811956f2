"""Tools that read, write, change, move and list files.

Owns how each kind of file tool tells its paths and texts. Must not know the tools' names: `known` has the table.
"""

from __future__ import annotations

import re

from tallystick.intent.tools.arguments import (
    NAMES,
    any_text,
    members_of,
    objects_among,
    paths_among,
    text_among,
    texts_among,
)
from tallystick.intent.tools.draft import MOST, Draft
from tallystick.intent.tools.patching import add_change, apply_patch, is_patch, move
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of

_PATTERNS = ("pattern", "globpattern", "glob", "query", "filename", "filepattern")
_WILD = pattern_of(r"[*?\[{]")
_FILE_LIKE = pattern_of(r"[^/\\]\.[A-Za-z][A-Za-z0-9_]{0,9}\Z")
_IS_OF_WEB = pattern_of(r"https?://|data:", re.IGNORECASE)
_OLD = ("oldstring", "oldtext", "oldstr", "search", "oldcontent")
_NEW = ("newstring", "newtext", "newstr", "replace", "newcontent")


def reads(draft: Draft) -> None:
    """A tool that reads the files it is given: all, or a stretch of them."""
    if draft.text is not None:
        draft.files(Operation.READ, [draft.text] if "\n" not in draft.text else [])
        return
    path = text_among(draft.members, *NAMES.paths)
    if path is not None and _IS_OF_WEB.match(path):  # a picture that is looked at
        if path[:5].lower() != "data:":
            draft.network(Operation.FETCH, path)
        return
    if path is not None and len(draft.members) <= 4 and not any(name in draft.members for name in NAMES.many):
        draft.file(Operation.READ, path)  # nearly all calls
        return
    paths = paths_among(draft.members)
    for item in paths:
        if item != path and _WILD.search(item):
            draft.pattern(Operation.READ, item, is_deep="**" in item)
        else:
            draft.file(Operation.READ, item)
    if not paths:
        draft.files(Operation.READ, ())


def lists(draft: Draft) -> None:
    """A tool that lists a folder, or finds files by name below it."""
    folder = text_among(draft.members, *NAMES.folders) or "."
    patterns = texts_among(draft.members, "patterns") or [
        found for found in (text_among(draft.members, *_PATTERNS),) if found is not None and found != folder
    ]
    if patterns:
        for pattern in patterns:
            if pattern.startswith(("/", "~")):
                spelled = pattern
            else:
                spelled = f"{folder}/{pattern}"
            draft.pattern(Operation.LIST, spelled, is_deep="**" in pattern)
        return
    is_deep = any(draft.members.get(name) is True for name in ("recursive", "recurse"))
    for path in texts_among(draft.members, "paths", "targetdirectories") or [folder]:
        draft.file(Operation.LIST, path, is_deep=is_deep)


def lists_all(draft: Draft) -> None:
    """A tool that lists all that is below a folder."""
    folders = texts_among(draft.members, "paths", "targetdirectories") or [
        text_among(draft.members, *NAMES.folders) or "."
    ]
    for folder in folders:
        draft.file(Operation.LIST, folder, is_deep=True)


def searches(draft: Draft) -> None:
    """A tool that looks for text. In one file it reads that; below a folder it is unknown which files it reads."""
    places = texts_among(draft.members, "paths", "targetdirectories") or [
        text_among(draft.members, *NAMES.folders) or "."
    ]
    for place in places:
        if _FILE_LIKE.search(place) and not _WILD.search(place):
            draft.file(Operation.READ, place)
        else:
            if _WILD.search(place):
                list_ = draft.pattern
            else:
                list_ = draft.file
            draft.searched.append(list_(Operation.LIST, place, is_deep=True))
            for pattern in texts_among(draft.members, *NAMES.picks):
                draft.pick(place, pattern)


def writes(draft: Draft) -> None:
    """A tool that writes a file whole, with a text that is in the call."""
    _with_text(draft, Operation.WRITE)


def appends(draft: Draft) -> None:
    """A tool that adds a text to the end of a file."""
    _with_text(draft, Operation.APPEND)


def _with_text(draft: Draft, operation: Operation) -> None:
    several = [item for item in objects_among(draft.members, "files") if text_among(item, *NAMES.paths)]
    for item in several:
        draft.author(operation, text_among(item, *NAMES.paths) or "", _whole(operation, item))
    if several:
        return
    paths = paths_among(draft.members) or ([draft.text] if draft.text and "\n" not in draft.text else [])
    if not paths:
        draft.files(operation, (), is_authored=True)
    for path in paths[:1]:
        draft.author(operation, path, _whole(operation, draft.members))
    for path in paths[1:]:
        draft.author(operation, path)


def _whole(operation: Operation, members: dict[str, object] | object) -> str | None:
    """What a file holds after it was written; an append does not tell that."""
    if operation is Operation.WRITE and isinstance(members, dict):
        return any_text(members, *NAMES.contents)
    return None


def saves(draft: Draft) -> None:
    """gptme's `save`: it ends the text with a newline if it has none (gptme/tools/save.py)."""
    content = any_text(draft.members, *NAMES.contents)
    if content and not content.endswith("\n"):
        draft.members = {**draft.members, "content": f"{content}\n"}
    writes(draft)


def edits(draft: Draft) -> None:
    """A tool that changes a part of a file. Where the old text is empty, the new one is the whole of a new file."""
    old, new = any_text(draft.members, *_OLD), any_text(draft.members, *_NEW)
    paths = _paths(draft)
    if old == "" and new is not None and len(paths) == 1:
        draft.author(Operation.WRITE, paths[0], new)
        return
    patch = None
    if not paths:
        patch = _patch_of(draft)
    if patch is None or not apply_patch(draft, patch):
        draft.files(Operation.EDIT, paths, is_authored=True)


def _paths(draft: Draft) -> list[str]:
    """The paths of an edit: also those of its parts, and a mere text of one line."""
    paths = paths_among(draft.members)
    for name in ("replacements", "edits", "changes", "filechanges"):
        paths += [path for item in objects_among(draft.members, name) if (path := text_among(item, *NAMES.paths[:8]))]
    return paths or ([draft.text] if draft.text and "\n" not in draft.text else [])


def edits_or_writes(draft: Draft) -> None:
    """Cline's `editor`: without an old text and without a line it writes the file whole."""
    is_part = any(draft.members.get(name) is not None for name in ("oldtext", "insertline"))
    (edits if is_part else writes)(draft)


def _patch_of(draft: Draft) -> str | None:
    texts = [text_among(draft.members, name) for name in NAMES.patches]
    if draft.text is not None:
        texts = [draft.text]
    return next((text for text in texts if text is not None and is_patch(text)), None)


def patches(draft: Draft) -> None:
    """A tool that takes a patch. Where it is unknown as text, its paths are: changed, we know not how."""
    text = _patch_of(draft)
    if text is not None and apply_patch(draft, text):
        return
    if not _changes(draft):
        draft.files(Operation.EDIT, paths_among(draft.members), is_authored=True)


def _changes(draft: Draft) -> bool:
    """A patch as Codex shows it after it was read: `{"changes": {PATH: {"type": "add" | "update" | "delete", …}}}`."""
    changes = draft.members.get("changes")
    if isinstance(changes, dict):
        for path, change in list(changes.items())[:MOST]:
            members = members_of(change)
            kind, moved = text_among(members, "type", "kind"), text_among(members, "movepath")
            if moved is not None:
                move(draft, path, moved)
            operation = {"add": Operation.WRITE, "delete": Operation.DELETE}.get(kind or "", Operation.EDIT)
            content = None
            if operation is Operation.WRITE:
                content = any_text(members, "content")
            add_change(draft, operation, moved or path, content)
    return bool(changes) and isinstance(changes, dict)


def by_command(draft: Draft) -> None:
    """An editor whose member `command` says what it does: `view`, `create`, `str_replace`, `insert`."""
    command = (text_among(draft.members, "command", "action", "mode") or "").lower()
    rule = _EDITOR.get(command)
    if rule is not None:
        rule(draft)
    elif any_text(draft.members, *_NEW) is not None:
        edits(draft)
    elif any_text(draft.members, *NAMES.contents) is not None:
        writes(draft)
    else:
        patches(draft)


def deletes(draft: Draft) -> None:
    """A tool that deletes files or folders."""
    is_deep = draft.members.get("recursive") is True
    paths = paths_among(draft.members) or texts_among(draft.members, *NAMES.folders[:4])
    for path in paths:
        draft.file(Operation.DELETE, path, is_deep=is_deep)
    if not paths:
        draft.files(Operation.DELETE, ())


def moves(draft: Draft) -> None:
    """A tool that moves or renames one file."""
    old, new = text_among(draft.members, *NAMES.sources), text_among(draft.members, *NAMES.targets)
    if old is None or new is None:
        draft.files(Operation.RENAME, [path for path in (old, new) if path is not None])
        return
    move(draft, old, new)


def copies(draft: Draft) -> None:
    """A tool that copies one file."""
    old, new = text_among(draft.members, *NAMES.sources), text_among(draft.members, *NAMES.targets)
    if old is None or new is None:
        draft.files(Operation.COPY_SOURCE, [path for path in (old, new) if path is not None])
        return
    draft.flow(draft.file(Operation.COPY_SOURCE, old), draft.file(Operation.COPY_DEST, new))


def makes_folders(draft: Draft) -> None:
    """A tool that makes a folder."""
    draft.files(Operation.CREATE, paths_among(draft.members) or texts_among(draft.members, *NAMES.folders))


def looks(draft: Draft) -> None:
    """A tool that tells a file's size, times and similar."""
    draft.files(Operation.LIST, paths_among(draft.members))


_EDITOR = {
    "view": reads,
    "read": reads,
    "view_range": reads,
    "create": writes,
    "write": writes,
    "overwrite": writes,
    "str_replace": edits,
    "replace": edits,
    "insert": edits,
    "undo_edit": edits,
    "delete": deletes,
    "rename": moves,
    "append": appends,
}
