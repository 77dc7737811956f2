"""Compactions: what is known of each time that a conversation's context was replaced by a summary of it.

Owns what is read off the steps around it. Must not know where steps are kept. What no source reported is absent, never
guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.provenance import Way

ROLLOVERS = ("rollover", "turn_boundary_rollover", "turn_boundary_rollover_recovered")
"""Reasons of continuations that no compaction made."""
FIRST_STEPS = 8
"""How many of the first steps of what follows are looked at for the summary."""
_MOST_SHOWN = 100
_OURS = "hook/"  # the ids of events for which a source gives none: docs/format.md 19.7
_CAME_TO_NOTHING = ("failed", "cancelled")
_MESSAGES = ("user", "assistant", "model_call", "tool_call", "tool_result")


class Compaction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One compaction. Its members are spelled as `_meta` spells them."""

    session: str
    """The agent's own id of the session that it ended."""
    entry: str
    """`<journal>#<hash>` of its step."""
    n: int
    at: str | None = None
    mode: str
    """`in-place`: the agent's id stays; `rotation`: it goes on under another."""
    into: str | None = None
    """The session that goes on, as it is recorded; None: none does, so far."""
    trigger: str | None = None
    reason: str | None = None
    status: str | None = None
    last_before: str | None = None
    """The source's id of the last message before it, and of the first after it."""
    first_after: str | None = None
    kept: int | None = None
    """Messages kept as they were, and summarized; the first that was kept."""
    summarized: int | None = None
    kept_from: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    duration_ms: int | None = None
    model: str | None = None
    """Which model summarized, and what it used for that."""
    tokens: dict[str, int] | None = None
    summary_sha256: str | None = None
    """Of the summary's text in UTF-8, and how many characters it has."""
    summary_chars: int | None = None


def is_compaction(step: Recorded) -> bool:
    """Whether a step is a compaction that took place: one may come to nothing."""
    return (
        step.type == "compaction"
        and step.member("success") is not False
        and step.member("status") not in _CAME_TO_NOTHING
    )


class Around(NamedTuple):
    """The steps around a compaction."""

    before: Iterable[Recorded] = ()
    """Those before it, newest first."""
    after: Sequence[Recorded] = ()
    """The first ones of the session that goes on."""
    spent: Recorded | None = None
    """The one that says what the summary cost, if that is another than the compaction itself."""


def compaction_of(step: Recorded, session: str, *, into: str | None = None, around: Around | None = None) -> Compaction:
    """What is known of a compaction.

    Args:
        step: its step. session: the agent's own id of the session that it ended. into: of the one that goes on.
    """
    before, after, spent = around or Around()
    paid = step
    if spent is not None:
        paid = spent
    summary = _summary(step, after)
    return Compaction(
        session=session,
        entry=f"{step.session}#{step.hash}",
        n=step.n,
        at=_word(step.meta.get("ts")),
        mode=_mode(step, session, into),
        into=into,
        trigger=_word(step.member("trigger")),
        reason=_word(step.member("reason")),
        status=_word(step.member("status")),
        kept=_count(step.member("kept")),
        summarized=_count(step.member("summarized")),
        kept_from=_word(step.member("kept_from")),
        tokens_before=_count(step.member("tokens_before")),
        tokens_after=_count(step.member("tokens_after")),
        duration_ms=_count(step.member("duration_ms")),
        last_before=_first_message(before),
        first_after=_first_message(after),
        model=_word(paid.member("model")),
        tokens=_tokens(paid),
        summary_sha256=sha256(summary.encode("utf-8", "surrogatepass")).hexdigest() if summary is not None else None,
        summary_chars=len(summary) if summary is not None else None,
    )


def told_of(way: Way, last: Compaction | None) -> dict[str, Json]:
    """The same, where only the way up and the last compaction are known."""
    continued = [(key, link) for key, link in way.conversation[: way.depth] if link.reason not in ROLLOVERS]
    in_place = sum(link.parent is not None and base_of(link.parent) == base_of(key) for key, link in continued)
    said: dict[str, Json] = {"count": len(continued), "inPlace": in_place}
    if last is not None:
        return {**said, "last": msgspec.to_builtins(last)}
    return said


def summed(compactions: Sequence[Compaction], *, whole: bool = False) -> dict[str, Json]:
    """Compactions of one conversation, oldest first, as an account tells them: how many, and the last one.

    Args:
        whole: tell each of the last hundred.
    """
    said: dict[str, Json] = {
        "count": len(compactions),
        "inPlace": sum(each.mode == "in-place" for each in compactions),
    }
    if compactions:
        said["last"] = msgspec.to_builtins(compactions[-1])
    if whole:
        said["each"] = [msgspec.to_builtins(each) for each in compactions[-_MOST_SHOWN:]]
    return said


def _mode(step: Recorded, session: str, into: str | None) -> str:
    told = step.member("mode")
    if told in ("in-place", "rotation"):
        return str(told)
    is_same = into is None or base_of(into) == base_of(session)
    if is_same:
        return "in-place"
    return "rotation"


def base_of(session: str) -> str:
    """The agent's own id of a session that may be recorded as its k-th continuation, `<id>~k` (docs/format.md 13.1)."""
    base, sharp, number = session.rpartition("~")
    if sharp and number.isascii() and number.isdigit():
        return base
    return session


def _summary(step: Recorded, after: Sequence[Recorded]) -> str | None:
    """The text that stands for what was left out: what the session that goes on begins with, else the step's own."""
    texts = [each.text("content.text") for each in after if each.member("origin") == "summary"]
    return next((text for text in texts if text), None) or step.text("content.text")


def _first_message(steps: Iterable[Recorded]) -> str | None:
    """The source's id of the first message among steps."""
    named = (_word(step.member("source_id")) for step in steps if step.type in _MESSAGES)
    return next((name for name in named if name and not name.startswith(_OURS)), None)


def _count(value: Json) -> int | None:
    if type(value) is int:
        return value
    return None


def _word(value: Json) -> str | None:
    if isinstance(value, str) and value:
        return value
    return None


def _tokens(step: Recorded) -> dict[str, int] | None:
    tokens = step.member("tokens")
    if isinstance(tokens, dict):
        kept = {str(name): count for name, count in tokens.items() if type(count) is int}
    else:
        kept = {}
    return kept or None
