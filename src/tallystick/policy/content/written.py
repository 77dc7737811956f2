"""What text a call puts into a file, as far as the call and the files it names tell.

Owns where that text stands: in the call, in the files that it copies, in a part that it replaces. Must not know what
the text says. Only what is new counts: what stood there before is no one's doing now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.intent.tools.arguments import plain_name
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.world import Content, World

FETCHED = "fetched"
"""What is told of a file that a host sends the text of."""
_FETCHES = frozenset((Operation.FETCH, Operation.CONNECT))
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.RENAME))
_OLD = frozenset(("oldstring", "oldtext", "oldstr", "oldcontent", "search", "oldsource"))
_NEW_NAMES = """
newstring newtext newstr newcontent replace replacement codeedit newsource fact filetext content contents inserttext
insertline text codecontent body data patch patchtext input diff command edit newtexttoinsert value memory observation note
"""
_NEW = frozenset(_NEW_NAMES.split())
_MOST_NESTED = 8
_MOST_PARTS = 200
_MOST_TEXT = 1 << 20
_MOST_SOURCES = 20


def news(intent: Intent, reading: CallReading, world: World, tell: Callable[[str], frozenset[str]]) -> frozenset[str]:
    """What is told of a file by what a call puts into it, and was unknown of it before; FETCHED if a host sends it.

    Args:
        intent: the one that writes the file.
        tell: what a text tells.
    """
    before = ""
    if intent.is_known:
        before = _held(world, intent.target)
    after = texts_after(intent, before, reading, world)
    found: set[str] = set()
    for text in after:
        found |= tell(text[:_MOST_TEXT])
    new = found
    if found and before:
        new = found - tell(before)
    if _is_fetched(intent, reading):
        return frozenset((*new, FETCHED))
    return frozenset(new)


def _is_fetched(intent: Intent, reading: CallReading) -> bool:
    """Whether a host sends what is written: no one knows what it says."""
    intents = reading.effects.intents
    return any(
        intents[flow.source].operation in _FETCHES and _is_same(intents[flow.target], intent)
        for flow in reading.effects.flows
    )


def told(world: World, path: str, tell: Callable[[str], frozenset[str]]) -> frozenset[str]:
    """What is told of the files at a path, or that a pattern names, by what they hold."""
    if set("*?[") & set(path):
        paths = list(world.matches(path))[:_MOST_SOURCES]
    else:
        paths = [path]
    return frozenset(tag for one in paths for tag in tell(_held(world, one)))


def texts_after(intent: Intent, before: str, reading: CallReading, world: World) -> Iterator[str]:
    """What a file may hold after a call that held `before`, as far as the call tells."""
    if intent.content is not None:
        yield intent.content
        return
    yield from _copied(intent, reading, world)
    if reading.uses.commands or reading.uses.programs or reading.uses.codes:
        yield from _said(reading)
    else:
        yield _edited(before, reading.call.args)


def _held(world: World, path: str) -> str:
    found = None
    if path.startswith("/"):
        found = world.content(path)
    if isinstance(found, Content):
        return found.text
    return ""


def _copied(intent: Intent, reading: CallReading, world: World) -> Iterator[str]:
    """The texts of files that go into the one that is written; a link stands for the file that it leads to."""
    intents = reading.effects.intents
    sources = [
        intents[flow.source]
        for flow in reading.effects.flows
        if intents[flow.target] is intent or _is_same(intents[flow.target], intent)
    ]
    if intent.operation is Operation.CREATE or (intent.operation is Operation.COPY_DEST and not sources):
        sources += [one for one in intents if one.operation in _READS and one.command == intent.command]
    for source in sources[:_MOST_SOURCES]:
        if source.domain is Domain.FILE and source.operation in _READS and source.is_known:
            yield _held(world, source.target)


def _is_same(one: Intent, other: Intent) -> bool:
    return one.domain is Domain.FILE and one.target == other.target and one.operation is other.operation


def _said(reading: CallReading) -> Iterator[str]:
    """What is in the commands and in the code that runs: which of it goes into the file is unknown."""
    yield from reading.texts
    yield from (_ESCAPE.sub(_escaped, text) for text in reading.texts if "\\" in text)
    for script in reading.scripts:
        yield "\n".join(" ".join((*(word.plain for word in command.words), command.fed)) for command in script.commands)
    for snippet in reading.snippets:
        yield snippet.text


_ESCAPE = pattern_of(r"\\(?:x([0-9a-fA-F]{2})|[nt])")


def _escaped(found: re.Match[str]) -> str:
    """What printf, echo and code write for an escape."""
    if found[1]:
        return chr(int(found[1], 16))
    return {"\\n": "\n", "\\t": "\t"}[found[0]]


# Edits ---------------------------------------------------------------------------------------------------------------


def _edited(before: str, args: Json) -> str:
    """A file after the edits of a call; what does not fit is put after it."""
    text = before[:_MOST_TEXT]
    for old, new in _edits(args, 0):
        if old and old in text:
            text = text.replace(old, new)
        else:
            text = f"{text}\n{_added(new)}"
        if len(text) > _MOST_TEXT * 2:
            break
    return text


def _edits(value: Json, depth: int) -> Iterator[tuple[str, str]]:
    """What is replaced by what, in the order in which it is in the arguments."""
    if depth > _MOST_NESTED:
        return
    if isinstance(value, str) and depth == 0:
        yield "", value
    elif isinstance(value, dict):
        named = {plain_name(str(name)): item for name, item in list(value.items())[:_MOST_PARTS]}
        old = next((item for name, item in named.items() if name in _OLD and isinstance(item, str)), "")
        for name, item in named.items():
            if isinstance(item, str):
                if name in _NEW:
                    yield old, item
            else:
                yield from _edits(item, depth + 1)
    elif isinstance(value, list):
        for item in value[:_MOST_PARTS]:
            yield from _edits(item, depth + 1)


def _added(text: str) -> str:
    """What a patch adds; any other text as it is."""
    if not text.startswith(("***", "---", "diff ", "@@", "Index: ")) and "\n@@" not in text:
        return text
    return "\n".join(line[1:] for line in text.split("\n") if line[:1] == "+" and line[:3] != "+++")
