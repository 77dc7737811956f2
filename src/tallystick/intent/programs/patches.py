"""`patch`, `apply_patch`, and the files that a diff names.

Owns the headers of a unified diff and of the envelope that Codex's program takes: which file each part is for. Must not know
what the parts change. Source: patch(1), diff(1); what Codex tells models of `apply_patch`.
"""

from __future__ import annotations

import re

from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Line, below
from tallystick.intent.programs.rules import Builder, Rules
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_HEADER = pattern_of(r"^--- ([^\t\n]{1,4096})(?:\t[^\n]*)?\n\+\+\+ ([^\t\n]{1,4096})", re.MULTILINE)
_MOST_FILES = 200


def patched(command: Command, *, strip: int) -> list[tuple[Operation, Word]]:
    """What the diff in a command's input does to files; empty where it is unknown. `strip` folders are left out."""
    if command.input is None:
        return []
    found: list[tuple[Operation, Word]] = []
    for header in _HEADER.finditer(command.input.plain[: 1 << 20]):
        old, new = header[1].strip(), header[2].strip()
        if new == "/dev/null":
            found.append((Operation.DELETE, Word(_stripped(old, strip))))
        else:
            found.append((Operation.WRITE if old == "/dev/null" else Operation.EDIT, Word(_stripped(new, strip))))
        if len(found) == _MOST_FILES:
            break
    return found


def _stripped(path: str, folders: int) -> str:
    parts = path.split("/")
    return "/".join(parts[folders:] or parts[-1:])


_ENVELOPE = pattern_of(r"^\*\*\* (Add File|Update File|Delete File|Move to): ([^\n]{1,4096})$", re.MULTILINE)
_DONE = {
    "Add File": Operation.WRITE,
    "Update File": Operation.EDIT,
    "Delete File": Operation.DELETE,
    "Move to": Operation.WRITE,
}


def _apply(command: Command) -> Actions:
    """`apply_patch`, which Codex has among its programs: the envelope is its argument, or on its input."""
    built = Builder()
    given = ""
    if command.input is not None:
        given = command.input.plain
    text = next((word.plain for word in command.arguments if "\n*** " in word.plain), given)[: 1 << 20]
    own = command.words[:1]
    made = [
        _part(built, _DONE[head[1]], Word(head[2].strip()), own)
        for head, _ in zip(_ENVELOPE.finditer(text), range(_MOST_FILES), strict=False)
    ]
    if not made:
        made = [built.add(Operation.EDIT, Word("."), words=own, deep=True)]
    built.feed(*made)
    return built.build()


def _part(built: Builder, operation: Operation, path: Word, own: tuple[Word, ...]) -> int | None:
    """One part of an envelope. A file that is deleted gets no text."""
    if operation is Operation.DELETE:
        return built.add(operation, path, words=own)
    return built.author(operation, path, words=own)


@RULES.of("patch")
def _patch(built: Builder, line: Line, command: Command) -> None:
    """`patch [FILE [DIFF]]`: without a file, the diff says which."""
    folder = line.value("-d", "--directory")
    source = line.value("-i", "--input") or (line.operands[1] if len(line.operands) > 1 else None)
    at = None
    if source is not None:
        at = built.read(below(folder, source))
    if line.has("--dry-run"):
        return
    strip = line.said("-p", "--strip")
    output = line.value("-o", "--output")
    if output is not None:
        old = [built.read(below(folder, word)) for word in line.operands[:1]]
        made = [built.write(below(folder, output))]
        built.flow(old, made)
    elif line.operands:
        made = [built.add(Operation.EDIT, below(folder, line.operands[0]))]
    else:
        if source is None:
            told = patched(command, strip=int(strip) if strip.isdigit() and len(strip) < 3 else 99)
        else:
            told = []
        own = command.words[:1]
        made = [built.author(operation, below(folder, word), words=own) for operation, word in told]
        made = made or [built.add(Operation.EDIT, folder or Word("."), words=own, deep=True)]
    built.flow([at], made)
    if source is None:
        built.feed(*made)


RULES |= {
    "apply": _apply,
}
