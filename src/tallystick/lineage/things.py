"""What an intent names, as the kind and the URI of a thing.

Owns the spelling of URIs. A path is written as it is: nothing is escaped, resolved or moved, so that what someone types
is found. Must not know versions.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.lineage.identity import thing_id
from tallystick.model.intent import Domain, Intent, Operation

_MOST_CHARACTERS = 4096
_NO_ACCESS = frozenset({Operation.LIST, Operation.FOLDER, Operation.UNKNOWN})
_OTHER_SCHEMES = {"mcp:": "mcp_resource", "websearch:": "search", "pkg:": "package"}


class Thing(NamedTuple):
    """A durable thing: a file, a URL, an MCP resource, a commit, a package, a search of the web."""

    kind: str
    uri: str


def thing_key(thing: Thing, session: str) -> int:
    """The id of a thing that a session names, over all its versions.

    A path that is not absolute means a file of that session alone: where it lies was unknown, and `a.txt` of another
    session is most likely another file.
    """
    is_absolute = thing.kind != "file" or thing.uri.startswith("file://")
    if is_absolute:
        return thing_id(*thing)
    return thing_id(*thing, session)


def file_thing(path: str) -> Thing:
    """The file at a path. One that is not absolute keeps the spelling that it has."""
    return Thing("file", f"file://{path}" if path.startswith("/") else f"file:{path}")


def commit_thing(digest: str) -> Thing:
    """A commit, by as much of its hash as is known."""
    return Thing("commit", f"commit:{digest}")


def touched(intent: Intent) -> Thing | None:
    """The thing that an intent reads or changes; None where it names none, or does not tell which."""
    target = intent.target
    if not target or not intent.is_known or intent.is_pattern or intent.operation in _NO_ACCESS:
        return None
    if len(target) > _MOST_CHARACTERS or "\0" in target:
        return None
    if intent.domain is Domain.FILE:
        return file_thing(target)
    if intent.domain is Domain.NETWORK:
        return _remote(target)
    return None


def _remote(target: str) -> Thing | None:
    """What has a name everywhere. `origin` is another repository in every other folder."""
    for scheme, kind in _OTHER_SCHEMES.items():
        if target.startswith(scheme):
            return Thing(kind, target)
    if "://" in target:
        return Thing("url", target)
    if "." in target or ":" in target:
        return Thing("url", f"tcp://{target}")
    return None
