"""One conversation in a Claude Code transcript: the main one, or a sub-agent's.

Owns the order in which steps are handed out. A model message is written as one line a block, with results of its first
calls between the later blocks and its final token counts on the last line; so a message is held back until it is
complete, then comes out as call, blocks, and what was written meanwhile. Must not know what lines mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from tallystick.agents.claude_code.draft import Draft, Place
from tallystick.agents.claude_code.queue import Queue
from tallystick.model.step import Json, Ref, Step

MOST_REMEMBERED = 100_000
_MOST_HELD = 2_000
_MOST_HELD_BYTES = 8 << 20
_MOST_IN_TURN = 4_096


_V = TypeVar("_V")


def newest(memory: dict[str, _V], most: int = MOST_REMEMBERED) -> dict[str, _V]:
    """`memory` itself, or its newer half if it is full: what a reader remembers does not grow with its file."""
    if len(memory) < most:
        return memory
    return dict(islice(memory.items(), most // 2, None))


class HeldLine(msgspec.Struct):
    """A line of a conversation that cannot begin before the call that spawns it is out."""

    line: dict[str, Json]
    offset: int
    size: int


class Message(msgspec.Struct):
    """A model message of which more lines may come."""

    id: str
    parent: Place | None
    follows: bool
    call: Draft | None
    """Its `model_call`; None if it has neither model nor usage, or was handed out with an earlier part."""
    goes_on: bool
    """An earlier part of it was handed out already."""
    blocks: list[Draft]
    held: list[Draft | HeldLine]
    held_bytes: int = 0

    def hold(self, item: Draft | HeldLine, size: int) -> bool:
        """Keep `item` until the message is out; False if no more should be kept."""
        self.held.append(item)
        self.held_bytes += size
        return len(self.held) < _MOST_HELD and self.held_bytes < _MOST_HELD_BYTES


class Places:
    """Which step a line ended in, by the line's uuid: the newest lines of a file, so that memory is bounded."""

    def __init__(self) -> None:
        self._places: dict[str, Place | None] = {}

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._places

    def get(self, uuid: str | None) -> Place | None:
        """The step that a line ended in, None if it or the line is not known."""
        if uuid is None:
            return None
        return self._places.get(uuid)

    def note(self, uuid: str, place: Place | None) -> None:
        """Say what step a line ended in; a line without one passes on its parent's."""
        self._places = newest(self._places)
        self._places[uuid] = place


class Thread:
    """A conversation: its session, and where it stands."""

    def __init__(self, root: str, agent: str, *, shows_calls_only: bool = False) -> None:
        self.root = root
        """The session id that its lines name: a sub-agent's are those of the session that spawned it."""
        if agent:
            self.base = f"{root}/{agent}"
        else:
            self.base = root
        self.session = self.base
        self.is_child = bool(agent)
        self.shows_calls_only = shows_calls_only
        self.message: Message | None = None
        self.queue = Queue()
        self.awaits_summary = False
        self.last: str | None = None
        """The source id of the last step handed out in `session`."""
        self.where: dict[str, Json] = {}
        """The folder and branch last recorded, as values."""
        self._continuations = 0
        self._turn: set[str] = set()

    @property
    def is_new(self) -> bool:
        """Whether nothing has been said in the session yet."""
        return self.last is None and self.message is None

    def continue_in_new_session(self) -> tuple[str, str]:
        """Go on after a compaction; the session that ended and the one that begins."""
        ended = self.session
        self._continuations += 1
        self.session = f"{self.base}~{self._continuations}"
        self.last = None
        self._turn = set()
        return ended, self.session

    def complete(self) -> Iterator[Draft | HeldLine]:
        """The held message and what waited for it, in order. Nothing is held then."""
        message, self.message = self.message, None
        if message is None:
            return
        if message.call is None:
            steps = message.blocks
        else:
            steps = [message.call, *message.blocks]
        for index, draft in enumerate(steps):
            if index == 0:
                draft.parent, draft.follows = message.parent, message.follows
            else:
                draft.follows = True
            yield draft
            if index == 0 and not message.goes_on:
                self._turn = {draft.source_id}
        yield from message.held

    def step(self, draft: Draft, source_id: str, joined: Ref | None) -> Step:
        """The step of a draft, put after what it follows from. It is then the last one."""
        after = self._after(draft, joined)
        self.last = source_id
        if len(self._turn) >= _MOST_IN_TURN:
            self._turn = set()
        self._turn.add(source_id)
        return Step(
            session=self.session,
            type=draft.type,
            source_id=source_id,
            ts=draft.ts,
            meta=draft.meta,
            values=draft.values,
            raw=draft.raw,
            after=after,
            input=draft.input,
            opens_request=draft.opens_request,
        )

    def _after(self, draft: Draft, joined: Ref | None) -> tuple[Ref, ...]:
        if self.last is None:
            return ()  # it follows the start of the session
        main = self._main_parent(draft)
        if draft.call is None and joined is None:
            if main is None:
                return ()
            return (self._ref(main),)
        places = [main, draft.call if draft.call != main else None]
        refs = [self._ref(place) for place in places if place is not None]
        if joined is None:
            return tuple(refs)
        return (*refs, joined)

    def _main_parent(self, draft: Draft) -> Place | None:
        """Where the conversation was when this was said.

        A line's parent is often an earlier one of the same message: the call that a result answers, while other calls
        were answered meanwhile. What the model was given next holds them all, so within a turn steps follow one
        another.
        """
        parent = draft.parent
        is_ours = parent is not None and parent[0] == self.session and parent[1] in self._turn
        if self.last is not None and (draft.follows or (is_ours and not draft.branches)):
            return self.session, self.last
        return parent

    def _ref(self, place: Place) -> Ref:
        if place[0] == self.session:
            return Ref(place[1])
        return Ref(place[1], place[0])
