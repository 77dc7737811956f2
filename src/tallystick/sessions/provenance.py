"""Where a conversation comes from: our account of it, for any agent.

Owns the account as a function of links between sessions that are given: every hop of the way up, and where it was cut. Must
not know where links are kept, nor the protocol that the account travels in. In Hermes' words: hermes_provenance.py.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tallystick.model.step import Json

KEY = "tallystick.dev/provenance"
"""The member of `_meta` that is ours."""
VERSION = 1


class Kind(enum.StrEnum):
    """How a session came to be. What the session says of itself outweighs how its parent ended."""

    ROOT = "root"
    CONTINUATION = "continuation"
    """The same conversation, after its context was compacted."""
    BRANCH = "branch"
    """A copy of it goes its own way; its agent says so."""
    FORK = "fork"
    """The same; someone else asked for it, or it was recognised by what it copied."""
    DELEGATE = "delegate"
    SCHEDULED = "scheduled"
    """No one asked: a clock or a message did."""
    TOOL = "tool"
    OTHER = "other"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A sealed entry: the journal, its hash, its number and the type of its step, as far as they are known."""

    journal: str
    hash: str
    n: int | None = None
    type: str | None = None

    def said(self) -> dict[str, Json]:
        """The entry as accounts name it."""
        known = {"n": self.n, "type": self.type}
        return {"entry": f"{self.journal}#{self.hash}"} | {
            key: value for key, value in known.items() if value is not None
        }


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One session: what it belongs to and how. `claimed`: the agent says so, no recorded entry seals it."""

    kind: Kind = Kind.ROOT
    parent: str | None = None
    reason: str | None = None
    """Why it began, in its agent's word."""
    call: str | None = None
    """The tool call that began it."""
    task: int | None = None
    """Which task of that call it works on, from 0."""
    claimed: bool = False
    name: str | None = None
    """The agent's own id of the session, where links are not looked up by that."""
    agent: str | None = None
    journal: str | None = None
    """Our id."""
    began: Entry | None = None
    """The entry of the parent that it belongs to."""


class Rotation(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the live session within a turn. `reason` is read from the rows, never assumed."""

    before: str
    after: str
    reason: str | None = None


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """Where the session is recorded: the journal, and the entry it had reached."""

    session: str
    size: int
    head: str
    """Hash of the last entry, 64 hex."""


Links: TypeAlias = Callable[[str], Link | None]
"""A session's link by the id that links name their parents by; None: it is not known."""


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """The way up from a session: each session with its link, the asked one first. It meets no session twice."""

    hops: tuple[tuple[str, Link], ...]
    cycle: bool = False
    """The last one's parent is further down: parents go round."""
    missing: str | None = None
    """The last one's parent, where that is not known."""

    @property
    def depth(self) -> int:
        """How many continuations lead to the asked session, without anything else between."""
        continuing = 0
        for _, link in self.hops[: len(self.hops) if self.missing is not None else len(self.hops) - 1]:
            if link.kind is not Kind.CONTINUATION:
                break
            continuing += 1
        return continuing

    @property
    def conversation(self) -> tuple[tuple[str, Link], ...]:
        """The asked session and those that it continues, newest first."""
        return self.hops[: self.depth + 1]


def way_up(current: str, links: Links) -> Way | None:
    """The way up from a session, however long it is; None if the session is not known."""
    link = links(current)
    if link is None:
        return None
    hops, seen = [(current, link)], {current}
    while link.parent is not None:
        if link.parent in seen:
            return Way(hops=tuple(hops), cycle=True)
        parent = links(link.parent)
        if parent is None:
            return Way(hops=tuple(hops), missing=link.parent)
        seen.add(link.parent)
        hops.append((link.parent, parent))
        link = parent
    return Way(hops=tuple(hops))


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded of a session besides the way up from it."""

    rotations: Sequence[Rotation] = ()
    """The latest changes of the live session's id, oldest first."""
    sealed: Sealed | None = None
    compactions: Mapping[str, Json] | None = None
    """As `sessions.compactions.summed` says them."""
    continued_as: str | None = None
    """The session that goes on after this one: an agent may go back to an older one."""


def provenance(
    agent: str,
    handle: str,
    way: Way,
    known: Known | None = None,
    *,
    most_hops: int | None = None,
) -> dict[str, Json]:
    """Our account of where a session of any agent comes from.

    `depth` counts the continuations of this session alone, from `continuationRoot` to it; `lineageRoot` is the last
    ancestor of any kind. What ended the walk is said: `cycle` (parents go round) or `missing` (the parent that is not
    there), and `cutAt`, the session whose parent was not followed.

    Args:
        handle: what the editor, or anyone who asks, calls the conversation. known: what else is recorded of it.
        most_hops: name so many hops at most; `hopsLeftOut` counts the others.
    """
    known = known or Known()
    (current, link), (root, root_link) = way.hops[0], way.hops[-1]
    said: dict[str, Json] = {
        "version": VERSION,
        "agent": agent,
        "acpSessionId": handle,
        "currentSessionId": link.name or current,
        "parentSessionId": _parent_name(way, 0),
        "kind": link.kind.value,
        "depth": way.depth,
        "continuationRoot": _name(*way.conversation[-1]),
        "lineageRoot": root_link.name or root,
    }
    if way.cycle:
        said["cycle"] = True
    if way.missing is not None:
        said["missing"] = way.missing
    if way.cycle or way.missing is not None:
        said["cutAt"] = root_link.name or root
    said |= _why(link)
    if link.claimed:
        said["claimed"] = True
    if known.continued_as is not None:
        said["continuedAs"] = known.continued_as
    shown = way.hops if most_hops is None else way.hops[:most_hops]
    said["hops"] = [_hop(way, place) for place in range(len(shown))]
    if len(shown) < len(way.hops):
        said["hopsLeftOut"] = len(way.hops) - len(shown)
    if known.rotations:
        said["rotations"] = [_rotation(rotation) for rotation in known.rotations]
    if known.compactions is not None:
        said["compactions"] = dict(known.compactions)
    if known.sealed is not None:
        said["sealed"] = {"session": known.sealed.session, "size": known.sealed.size, "head": known.sealed.head}
    return said


def _name(key: str, link: Link) -> str:
    return link.name or key


def _parent_name(way: Way, place: int) -> str | None:
    """What the parent of a hop is called: it is the next hop, further down in a circle, or missing."""
    parent = way.hops[place][1].parent
    if parent is None or place == len(way.hops) - 1:
        return next((_name(*hop) for hop in way.hops if hop[0] == parent), parent)
    return _name(*way.hops[place + 1])


def _hop(way: Way, place: int) -> dict[str, Json]:
    """One session on the way up. `standing`: whether the edge above it is sealed, or only claimed."""
    key, link = way.hops[place]
    said: dict[str, Json] = {"session": _name(key, link), "kind": link.kind.value}
    said |= {name: value for name, value in (("agent", link.agent), ("journal", link.journal)) if value is not None}
    said |= _why(link)
    if link.parent is not None:
        said["standing"] = "sealed" if link.began is not None else "claimed"
    if link.began is not None:
        said["began"] = link.began.said()
    return said


def _why(link: Link) -> dict[str, Json]:
    told = {"reason": link.reason, "toolCallId": link.call, "taskIndex": link.task}
    return {name: value for name, value in told.items() if value is not None}


def _rotation(rotation: Rotation) -> dict[str, Json]:
    said: dict[str, Json] = {"from": rotation.before, "to": rotation.after}
    if rotation.reason is not None:
        return {**said, "reason": rotation.reason}
    return said
