"""Handlers of hooks in a settings file of JSON: {"hooks": {EVENT: [ITEM, …]}}.

Owns how our handlers are known among the user's, put beside them and taken out again. An ITEM is a handler, or a group with
a list of handlers under `hooks`. Must not know what an agent calls its events, nor what else is in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tallystick.agents.hooks.hook_identity import is_our_url, is_ours
from tallystick.agents.kit import json_text
from tallystick.agents.kit.json_text import Dialect, Document, Entry, Node
from tallystick.errors import FormatError
from tallystick.model.step import Json

_COMMANDS = ("command", "bash")


class _Place(msgspec.Struct):
    """Where a handler of ours stands: the containers from the root on, each with the entry that leads further."""

    event: str
    counts: bool
    """The agent reads it: no later key of the same name hides it."""
    path: list[tuple[Node, Entry]]

    @property
    def node(self) -> Node:
        return self.path[-1][1].node


def configure(
    content: bytes, wanted: Mapping[str, Json], dialect: Dialect, base: Mapping[str, Json] | None = None
) -> bytes:
    """The file with one item of ours an event, and no others of ours.

    Args:
        content: the file; without anything in it, a new one is made.
        wanted: the item for each event.
        dialect: what the agent reads.
        base: what a new file begins with.

    Raises:
        FormatError: it is not what the agent would read; the message has the line.
    """
    document = _read(content, dialect)
    while document is not None:
        extra = _superfluous(document, wanted)
        if extra is None:
            break
        document = _without(document, extra)
    if document is None:
        return json_text.created({**(base or {}), "hooks": {event: [item] for event, item in wanted.items()}})
    for event, item in wanted.items():
        document = _with(document, event, item)
    return document.encode()


def remove(content: bytes, dialect: Dialect) -> bytes:
    """The file without our handlers; nothing at all, if nothing else was in it."""
    document = _read(content, dialect)
    while document is not None:
        places = list(_places(document))
        if not places:
            return document.encode()
        document = _without(document, places[-1])
    return b""


def hooked(content: bytes, dialect: Dialect) -> tuple[str, ...]:
    """The events with a handler of ours that counts."""
    document = _read(content, dialect)
    if document is None:
        return ()
    return tuple(dict.fromkeys(place.event for place in _places(document) if place.counts))


def _read(content: bytes, dialect: Dialect) -> Document | None:
    if not content.strip():
        return None
    document = json_text.read(content, dialect)
    _checked(document, document.root, "the file", dict)
    return document


def _checked(document: Document, node: Node, what: str, kind: type) -> Node:
    if not isinstance(node.value, kind):
        is_not = "no list"
        if kind is dict:
            is_not = "no object"
        raise FormatError(f"line {document.line(node.start)}: {what} is {is_not}", hint="mend the file, then try again")
    return node


# Finding ours ---------------------------------------------------------------------------------------------------------


def _places(document: Document) -> Iterator[_Place]:
    """All handlers of ours in the order of the file; a group of nothing but ours is one place."""
    root = document.root
    for top in _under(root, "hooks"):
        for event in top.node.entries or ():
            if not isinstance(top.node.value, dict) or not isinstance(event.node.value, list):
                continue
            counts = root.member("hooks") is top.node and top.node.member(event.key or "") is event.node
            for item in event.node.entries or ():
                for path in _ours(item):
                    begin = [(root, top), (top.node, event), (event.node, item)]
                    yield _Place(event=event.key or "", counts=counts, path=begin + path)


def _under(node: Node, key: str) -> list[Entry]:
    return [entry for entry in node.entries or () if entry.key == key]


def _ours(item: Entry) -> list[list[tuple[Node, Entry]]]:
    """The ways from an item to what is ours in it: [[]] if the item is."""
    if _is_handler(item.node):
        return [[]]
    if not isinstance(item.node.value, dict):
        return []
    inner = [
        (handlers, handler)
        for handlers in _under(item.node, "hooks")
        for handler in handlers.node.entries or ()
        if isinstance(handlers.node.value, list) and _is_handler(handler.node)
    ]
    total = sum(len(handlers.node.entries or ()) for handlers in _under(item.node, "hooks"))
    if inner and len(inner) == total:
        return [[]]
    return [[(item.node, handlers), (handlers.node, handler)] for handlers, handler in inner]


def _is_handler(node: Node) -> bool:
    value = node.value
    if not isinstance(value, dict):
        return False
    if isinstance(url := value.get("url"), str) and is_our_url(url):
        return True
    return any(isinstance(command := value.get(key), str) and is_ours(command) for key in _COMMANDS)


# Changing -------------------------------------------------------------------------------------------------------------


def _superfluous(document: Document, wanted: Mapping[str, Json]) -> _Place | None:
    """The last handler of ours that is not the first one of an event that we want."""
    seen: set[str] = set()
    found = None
    for place in _places(document):
        if not place.counts or place.event not in wanted or place.event in seen:
            found = place
        if place.counts:
            seen.add(place.event)
        else:
            seen.add("")
    return found


def _without(document: Document, place: _Place) -> Document | None:
    """The document without what stands at a place; None if it was all there was."""
    path = list(place.path)
    while path and json_text.is_made_here(*path[-1]):
        path.pop()
    if path:
        return json_text.remove(document, *path[-1])
    return None


def _with(document: Document, event: str, item: Json) -> Document:
    """The document with our item for an event."""
    for place in _places(document):
        if place.counts and place.event == event:
            is_alone = len(place.path) == 3
            if is_alone:
                value = item
            else:
                value = item["hooks"][0]
            if place.node.value == value:
                return document
            return json_text.replace(document, place.node, value)
    hooks = document.root.member("hooks")
    if hooks is None:
        return json_text.append(document, document.root, {event: [item]}, "hooks")
    _checked(document, hooks, "hooks", dict)
    items = hooks.member(event)
    if items is None:
        return json_text.append(document, hooks, [item], event)
    return json_text.append(document, _checked(document, items, f"hooks.{event}", list), item)
