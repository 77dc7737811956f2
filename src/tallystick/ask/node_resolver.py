"""What a person means by the start of a question about the graph: a path, a line of a file, a URL, a step or a session.

Owns the order in which a text is tried as each of these, and what is said where it is none. Must not know the question.
"""

from __future__ import annotations

import os
import posixpath
import re
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import msgspec

from tallystick.errors import AmbiguousError, NotFoundError, TallystickError, UsageError
from tallystick.graph.graph import Graph
from tallystick.graph.lookup import Place, find_step, matching_sessions, resolve_session
from tallystick.graph.resources import (
    KINDS,
    Named,
    newest_things,
    shown_name,
    thing_named,
    things_below,
    things_ending,
    things_holding,
    versions_of,
)
from tallystick.graph.spawning import session_node, session_size, step_node
from tallystick.graph.steps import StepEntry, get_step
from tallystick.graph.upstream import NEAR_STEPS, call_of
from tallystick.lineage.walk import NodeId, NodeKind
from tallystick.model.ids import StepReference, parse_step_reference
from tallystick.model.paths import placed
from tallystick.workspace.index import Index

_MOST_VERSIONS = 50
_LISTED = 10
_OFFERED = 5
_RECENT = 2_000
_LINE = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,8})\Z", re.ASCII | re.DOTALL)
_HEX = re.compile(r"[0-9a-f]{4,64}\Z")
_SHORTEST_COMMIT = 7  # as git abbreviates them
_SCHEMES = ("http://", "https://")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Where a question begins. `thing` and its `versions` (newest first) are set for a thing, `step` for a step.

    `line` is the line of the file that is asked about. `more_versions` counts those that are not among `nodes`.
    """

    text: str
    nodes: tuple[NodeId, ...]
    thing: Named | None = None
    line: int | None = None
    step: StepEntry | None = None
    more_versions: int = 0


def find_start(index: Index, text: str, *, folder: str) -> Start:
    """The start that `text` names.

    Args:
        folder: the working folder, from which relative paths count.

    Raises:
        NotFoundError: it names nothing that is known; the hint has names that are near.
        AmbiguousError: it names several; the message lists them.
    """
    graph = index.graph
    if not text or "\0" in text:
        raise UsageError("no node given", hint="give a path, PATH:LINE, a URL, a step or a session")
    exact = _thing(graph, text, folder)
    if exact is not None:
        return _of_thing(graph, text, exact)
    line = _LINE.match(text)
    if line is not None:
        exact = _thing(graph, line["path"], folder)
        if exact is not None:
            return _of_thing(graph, text, exact, line=int(line["line"]))
    recorded = _recorded(graph, text)
    if recorded is not None:
        return recorded
    return _by_part(graph, text, line, folder)


# Things ---------------------------------------------------------------------------------------------------------------


def _thing(graph: Graph, text: str, folder: str) -> Named | None:
    """The thing that a text names in full: by its URI, or as a path from here."""
    if "://" in text:
        if text.startswith("file://"):
            path = text.removeprefix("file://")
            if path[2:3] == ":":  # a drive
                path = path[1:]
            uris = dict.fromkeys((text, f"file://{placed(path, None)}"))
            return next((found for uri in uris if (found := thing_named(graph, "file", uri)) is not None), None)
        return next((found for kind in KINDS[1:] if (found := thing_named(graph, kind, text)) is not None), None)
    for uri in _spellings(text, folder):
        if (found := thing_named(graph, "file", uri)) is not None:
            return found
    for kind, uri in (("commit", f"commit:{text}"), ("commit", text), ("search", text), ("mcp_resource", text)):
        if (found := thing_named(graph, kind, uri)) is not None:
            return found
    return None


def _spellings(text: str, folder: str) -> list[str]:
    """The URIs under which the file that a path names may be kept."""
    if text.startswith("file:"):
        return [text]  # as answers name a file of which no one told the folder
    path = absolute(text, folder)
    names = [f"file://{path}", f"file:{text}", f"file:{posixpath.normpath(text)}"]
    home = str(Path.home())
    if path.startswith(f"{home}/"):
        names.append(f"file:~{path[len(home) :]}")  # as agents write it where they say no folder
    with suppress(OSError, ValueError):  # a name that no file can have
        names.append(f"file://{os.path.realpath(path)}")
    return list(dict.fromkeys(names))


def absolute(text: str, folder: str) -> str:
    """A path as seen from a folder, without `.` and `..`."""
    path = text
    if text == "~" or text.startswith("~/"):
        path = f"{Path.home()}{text[1:]}"
    return placed(path, folder)


def _of_thing(graph: Graph, text: str, thing: Named, *, line: int | None = None) -> Start:
    versions = versions_of(graph, thing)
    nodes = tuple(NodeId(NodeKind.ARTIFACT, version.id) for version in versions[:_MOST_VERSIONS])
    return Start(text=text, nodes=nodes, thing=thing, line=line, more_versions=len(versions) - len(nodes))


# Steps and sessions ---------------------------------------------------------------------------------------------------


def _recorded(graph: Graph, text: str) -> Start | None:
    """The step or session that a text names, as other commands understand it; a mere beginning only if it is of digits."""
    try:
        wanted = parse_step_reference(text)
    except UsageError:
        wanted = StepReference()
    if wanted != StepReference():
        try:
            return _of_step(graph, text, find_step(graph, wanted))
        except NotFoundError:
            pass
    if _HEX.match(text) or any(text in (row.session, row.source_session) for row in matching_sessions(graph, text)):
        try:
            return _of_session(graph, text)
        except NotFoundError:
            return None
    return None


def _of_step(graph: Graph, text: str, place: Place) -> Start:
    entry = get_step(graph, place.session, place.n)
    session = session_node(graph, place.session)
    if entry is None or session is None:
        raise NotFoundError(f"step {text} is not in the index", hint="`tally rebuild` rebuilds the index")
    if place.n == 0:
        return Start(text=text, nodes=(session,))
    return Start(text=text, nodes=(step_node(session.id + place.n, place.n, entry.request),), step=entry)


def _of_session(graph: Graph, text: str) -> Start:
    node = session_node(graph, resolve_session(graph, text).session)
    if node is None:
        raise NotFoundError(f"no session {text!r}")
    return Start(text=text, nodes=(node,))


def effective(index: Index, start: Start) -> Start:
    """The same start; of a step that decides about a call or tells how it ended, the call: that is what had effects."""
    step, node = start.step, start.nodes[0]
    if step is None or step.corr is None or step.type == "tool_call" or node.kind is not NodeKind.STEP:
        return start
    first_id = node.id - step.n
    end = first_id + session_size(index.graph, first_id)
    call = call_of(index.graph, step.corr, first_id=max(first_id, node.id - NEAR_STEPS), before=node.id)
    if call is None:  # some agents decide before they say what it is about
        call = call_of(index.graph, step.corr, first_id=node.id, before=min(end, node.id + NEAR_STEPS))
    if call is None:
        return start
    return Start(text=start.text, nodes=(NodeId(NodeKind.STEP, call),), step=step)


# A part of a name -----------------------------------------------------------------------------------------------------


def _by_part(graph: Graph, text: str, line: re.Match[str] | None, folder: str) -> Start:
    """The one thing whose URI ends (of a URL or commit: begins) with a text, or the session whose name begins with it."""
    if _HEX.match(text):
        commits = _commits(graph, text)
    else:
        commits = ()
    if len(commits) == 1:
        return _of_thing(graph, text, commits[0])
    for part, number in _parts(text, line):
        found = _ending(graph, part)
        if len(found) == 1:
            return _of_thing(graph, text, found[0], line=number)
        if found:
            raise AmbiguousError(f"{part!r} is ambiguous: {_listed_things(found)}", hint="give more of the path")
    if "://" not in text:
        try:
            return _of_session(graph, text)
        except NotFoundError:
            pass
    raise _nothing(graph, text, line, folder)


class _Part(NamedTuple):
    path: str
    line: int | None


def _parts(text: str, line: re.Match[str] | None) -> list[_Part]:
    return [_Part(text, None), *([_Part(line["path"], int(line["line"]))] if line is not None else [])]


def _ending(graph: Graph, part: str) -> tuple[Named, ...]:
    if part.startswith(_SCHEMES):
        return things_below(graph, "url", part, limit=_LISTED + 1)
    if "://" in part:
        return ()
    path = posixpath.normpath(part).lstrip("/")
    while path.startswith("../"):
        path = path[3:]
    if path in ("", ".", ".."):
        return ()
    found = things_ending(graph, "file", f"/{path}", limit=_LISTED + 1)
    return found or things_ending(graph, "mcp_resource", f"/{path}", limit=_LISTED + 1)


def _commits(graph: Graph, text: str) -> tuple[Named, ...]:
    """Commits by the beginning of their hash: of what was typed, or, where only that was seen, of what is recorded."""
    longer = things_below(graph, "commit", f"commit:{text}", limit=2)
    shorter = (thing_named(graph, "commit", f"commit:{text[:n]}") for n in range(_SHORTEST_COMMIT, len(text)))
    return longer or tuple(found for found in shorter if found is not None)[-1:]


def _listed_things(things: tuple[Named, ...]) -> str:
    shown = "; ".join(shown_name(thing) for thing in things[:_LISTED])
    if len(things) > _LISTED:
        count = f"more than {_LISTED}"
    else:
        count = str(len(things))
    return f"{count} things: {shown}"


def _nothing(graph: Graph, text: str, line: re.Match[str] | None, folder: str) -> TallystickError:
    """What to say of a text that names nothing: what was looked for, and what is near."""
    path = text
    if line is not None:
        path = line["path"]
    name = posixpath.basename(path.rstrip("/"))
    whole = absolute(path, folder)
    if "://" not in text and things_below(graph, "file", f"file://{whole.rstrip('/')}/", limit=1):
        below = f"`tally artifact list --prefix {whole.rstrip('/')}/` lists the recorded files below it"
        return NotFoundError(f"no record of {whole} itself", hint=below)
    near = _near(graph, name)
    if "://" in text:
        looked = f"no record of {text!r}"
    else:
        looked = f"there is no record of {text!r}: no file {whole}, no path that ends so, no step, no session"
    if near:
        offered = f"similar: {'; '.join(near)}"
    else:
        offered = f"`tally search {name or 'WORD'}` searches prompts and results"
    return NotFoundError(looked, hint=offered)


def _near(graph: Graph, name: str) -> list[str]:
    if not name or len(name) > 200:
        return []
    found = [shown_name(thing) for thing in things_holding(graph, "file", name, limit=_OFFERED)]
    if found:
        return found
    by_name: dict[str, str] = {}
    for thing in newest_things(graph, "file", limit=_RECENT):
        by_name.setdefault(posixpath.basename(thing.uri), shown_name(thing))
    return [by_name[close] for close in get_close_matches(name, by_name, n=_OFFERED, cutoff=0.6)]
