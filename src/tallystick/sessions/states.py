"""What state a session is in: the five statuses, which changes of them are legal, and the words of others for them.

Owns that a session is active while someone is there, from the first that is heard of it live until it ends, that one which
only its file tells of is over as far as it was read, that an end is final until the session is resumed, and that whatever
else is said is reported and never followed. Must not know where the words come from. Sources: DESIGN 3, specs/lango.md 2.3.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec


class Status(enum.StrEnum):
    """What a session is."""

    ACTIVE = "active"
    """Someone is there: it was heard of live, and nothing said that it ended."""
    MERGED = "merged"
    """It ended, and the session that it belongs to took over what it did."""
    DISCARDED = "discarded"
    """It ended, and what it did was thrown away."""
    COMPLETED = "completed"
    """It ended, or its file was read to the end, and no one said that it failed."""
    FAILED = "failed"


_LIVE = frozenset(("hook", "acp", "sdk", "watch", "otel"))
"""Sources that tell what they see as it happens. A file may be years old."""
_NOT_SAID_BY_AGENTS = frozenset(
    ("session_end", "sighting", "recovery", "gap", "warning", "checkpoint", "alert", "attribution", "feedback", "usage")
)


def is_there(kind: str, source: object) -> bool:
    """Whether a step of this type and source shows that someone is there. `session_start` counts as others do."""
    return source in _LIVE and kind not in _NOT_SAID_BY_AGENTS


def open_status(*, there: bool) -> Status:
    """What a session without an end is."""
    if there:
        return Status.ACTIVE
    return Status.COMPLETED


ENDS = (Status.MERGED, Status.DISCARDED, Status.COMPLETED, Status.FAILED)
"""What an active session can become."""

_WORDS = {
    Status.ACTIVE: "running open started starting in_progress pending paused planning resumed working",
    Status.MERGED: "merge applied",
    Status.DISCARDED: "discard dropped abandoned deleted rolled_back",
    Status.COMPLETED: "complete success succeeded successful ok done finished closed ended passed submitted stopped idle",
    Status.FAILED: (
        "fail failure error errored aborted abort cancelled canceled crashed interrupted killed timeout timed_out"
        " exception rejected terminated"
    ),
}
_MEANINGS = {status.value: status for status in Status} | {
    word: status for status, words in _WORDS.items() for word in words.split()
}
_LONGEST_WORD = 40


def meaning(word: object) -> Status | None:
    """The status that a word of any source means; None if it is none that we know."""
    if not isinstance(word, str) or len(word) > _LONGEST_WORD:
        return None
    return _MEANINGS.get(word.strip().lower().replace("-", "_").replace(" ", "_"))


def end_status(word: object) -> Status:
    """What an end makes of a session: a word that no one knows, or none, is an end without a fault."""
    return meaning(word) or Status.COMPLETED


def word_of_end(status: object, success: object) -> object:
    """How an end says that it went: in its word, else by its `success`."""
    if status is None and success is False:
        return Status.FAILED.value
    return status


def may_become(now: Status, then: Status, *, resumed: bool = False) -> bool:
    """Whether a change is legal: from active to any end; from an end to active, where the session is resumed."""
    if now is Status.ACTIVE:
        return then is not Status.ACTIVE
    return then is Status.ACTIVE and resumed


class Moment(msgspec.Struct, frozen=True):
    """A step that says something of its session's state: that it ends (`word` as it says it) or that it starts."""

    n: int
    is_end: bool
    word: object = None
    is_resumed: bool = False
    is_there: bool = True
    """Of a start: whether it was heard of live, not read in a file."""


class Refused(msgspec.Struct, frozen=True):
    """A change that was not followed: what the session was, and what step `n` would have made of it."""

    n: int
    now: Status
    then: Status
    word: str | None = None


class Life(msgspec.Struct, frozen=True):
    """What a session is after all its moments, in whose words, and what was not followed."""

    status: Status
    word: str | None
    """What the end that counts says, where that is another word than the status."""
    refused: tuple[Refused, ...]


def after(now: Status, moment: Moment) -> Status:
    """What a session is after one more moment."""
    then = wanted(moment)
    if _follows(now, moment):
        return then
    return now


def _follows(now: Status, moment: Moment) -> bool:
    return may_become(now, wanted(moment), resumed=moment.is_resumed and not moment.is_end)


def wanted(moment: Moment) -> Status:
    """What a moment would make of its session."""
    if moment.is_end:
        return end_status(moment.word)
    return Status.ACTIVE


def life_of(moments: Iterable[Moment]) -> Life:
    """What the moments of one session, in order, made of it. Its first start is not a change: it is open from there on."""
    now, word, refused, there = Status.ACTIVE, None, [], True
    for moment in moments:
        if not moment.is_end:
            there = moment.is_there
        then = wanted(moment)
        said = None
        if isinstance(moment.word, str):
            said = moment.word
        if _follows(now, moment):
            now, word = then, said if said != then.value else None
        elif moment.is_end or then is not now:
            refused.append(Refused(moment.n, now, then, said))
    if now is Status.ACTIVE:
        now = open_status(there=there)
    return Life(now, word, tuple(refused))
