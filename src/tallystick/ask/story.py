"""Why something is there, as a story: its state, who changed it last and for whose prompt, and what it was made from.

Owns what belongs into such a story, for each kind of thing that can be asked about, and what limits how sure it is. What is
not known is said to be unknown. The words are people's and agents' own: anyone who shows them makes them safe first.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from tallystick.ask.graph_walk import title_of, words_of
from tallystick.ask.node_resolver import Start
from tallystick.ask.prompts import Prompted, prompted, told_prompt
from tallystick.ask.sources import Sources, sources_of
from tallystick.graph.changes import Change, Changes, changed_by, changes_of, thing_at, thing_id
from tallystick.graph.graph import Graph
from tallystick.graph.nodes import RequestNode, SessionNode, StepNode, describe
from tallystick.graph.outcomes import outcome_of
from tallystick.graph.prompts import NO_PROMPT, At, Origin, end_of_request, first_prompt
from tallystick.graph.resources import Named, VersionRow, shown_name
from tallystick.graph.spawning import session_size
from tallystick.graph.uses import Uses, uses_of
from tallystick.journal.home import Home
from tallystick.lineage.walk import NodeId, NodeKind

_MOST_THINGS = 200
_MOST_FOLLOWED = 50
_CLAIMED = 0.8
_PERHAPS, _BY_TOOL = 0.6, 0.9
"""Below these a command ran only perhaps, and only the words of a command say what it did."""
ONLY_CLAIMED = "the agent alone says which session began which"


class OnDisk(enum.StrEnum):
    """How a file is now, against its newest version on record."""

    SAME = "same"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"
    """It is there, and no digest of it is on record."""
    GONE = "gone"
    ELSEWHERE = "elsewhere"
    """Neither it nor its folder is on this machine."""
    NOT_A_FILE = "not a file"


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What one step did: a call, an effect that was observed. `operation` is what it did to the thing that is asked about."""

    step: str
    session: str
    agent: str
    at_ms: int
    tool: str | None
    words: str
    operation: str | None = None
    confidence: float = 1.0
    is_observed: bool = False
    has_result: bool = True
    outcome: str | None = None
    """Of a step that is asked about: `done`, `failed`, `denied`; None where no end of it is on record."""


class Writer(msgspec.Struct, frozen=True, kw_only=True):
    """A session that changed a thing: how often, and by which step last. `is_last`: the newest change is its."""

    session: str
    agent: str
    changes: int
    step: str
    at_ms: int
    is_last: bool = False


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to "why". `name` and `kind` are what was asked about; `version` is the newest, if it is a thing.

    `act` is the change, call or use that it is there by; `writers` all who changed it, newest first, of `changes` in all.
    `later` are those who changed it, or what the call wrote, afterwards. `limit` is what keeps it from being surer.
    """

    kind: str
    name: str
    version: int | None = None
    is_deleted: bool = False
    on_disk: OnDisk = OnDisk.NOT_A_FILE
    act: Act | None = None
    prompt: Prompted = Prompted()
    sources: Sources = Sources()
    writers: tuple[Writer, ...] = ()
    changes: int = 0
    later: tuple[Writer, ...] = ()
    made: tuple[Named, ...] = ()
    changed_things: int = 0
    is_open: bool = False
    uses: Uses | None = None
    confidence: float | None = None
    limit: str | None = None


# A thing --------------------------------------------------------------------------------------------------------------


class Newest(msgspec.Struct, frozen=True):
    """The newest version of a thing, and how the file is now."""

    version: VersionRow
    on_disk: OnDisk


def story_of_thing(home: Home, graph: Graph, thing: Named, newest: Newest, origin: NodeId | None = None) -> Story:
    """The story of a file, page, resource or commit.

    Args:
        origin: the version whose making is asked for; the newest change where None.
    """
    number = thing_id(graph, thing)
    changes = Changes() if number is None else changes_of(graph, number)
    told = Story(
        kind=thing.kind,
        name=shown_name(thing),
        version=newest.version.version,
        is_deleted=newest.version.deleted_at_ms is not None,
        on_disk=newest.on_disk,
        writers=writers_among(changes.newest),
        changes=changes.total,
    )
    position = _position(changes.newest, origin)
    if position is None:
        return _unmade(graph, told, number)
    change = changes.newest[position]
    asked = prompted(graph, At(change.step, change.n, change.request, change.at_ms))
    return _limited(
        msgspec.structs.replace(
            told,
            act=_act(graph, change),
            prompt=asked,
            sources=sources_of(home, graph, change, thing),
            later=writers_among(changes.newest[:position]),
        ),
        newest.version,
    )


def _position(changes: Sequence[Change], version: NodeId | None) -> int | None:
    """Where among the changes the one is that made a version; without one the newest."""
    if version is None:
        return 0 if changes else None
    return next((at for at, change in enumerate(changes) if change.version == version.id and not change.removes), None)


def _unmade(graph: Graph, told: Story, number: int | None) -> Story:
    """The story of something that no one on record made or changed: who used it last, and for which prompt."""
    uses = None if number is None else uses_of(graph, number)
    if uses is None or uses.last is None:
        return msgspec.structs.replace(told, prompt=Prompted(why_not="no call on record touched it"))
    last = uses.last
    node = NodeId(NodeKind.STEP, last.step)
    about = describe(graph, [node]).get(node)
    act = None
    if isinstance(about, StepNode):
        act = _call(about, operation=last.operation, confidence=last.confidence)
    limit = "no call that made or changed it is on record"
    if told.kind in ("url", "search", "mcp_resource"):
        limit = "no agent here made it: this is who asked for it last"
    return msgspec.structs.replace(
        told,
        act=act,
        uses=uses,
        prompt=prompted(graph, At(last.step, last.n, last.request, last.at_ms)),
        confidence=last.confidence,
        limit=limit,
    )


def writers_among(changes: Sequence[Change]) -> tuple[Writer, ...]:
    """The sessions behind some changes (newest first), the one that changed last first."""
    counts: dict[str, int] = {}
    newest: dict[str, Change] = {}
    for change in changes:
        counts[change.session] = counts.get(change.session, 0) + 1
        newest.setdefault(change.session, change)
    return tuple(
        Writer(
            session=session,
            agent=change.agent,
            changes=counts[session],
            step=f"{session}:{change.n}",
            at_ms=change.at_ms,
            is_last=position == 0,
        )
        for position, (session, change) in enumerate(newest.items())
    )


def _act(graph: Graph, change: Change) -> Act:
    node = NodeId(NodeKind.STEP, change.step)
    about = describe(graph, [node]).get(node)
    words = ""
    if isinstance(about, StepNode):
        words = _words(about)
    return Act(
        step=f"{change.session}:{change.n}",
        session=change.session,
        agent=change.agent,
        at_ms=change.at_ms,
        tool=change.tool or change.type,
        words=words,
        operation=change.operation,
        confidence=change.confidence,
        is_observed=change.is_observed,
        has_result=change.result is not None,
    )


def _call(about: StepNode, *, operation: str | None = None, confidence: float = 1.0) -> Act:
    return Act(
        step=f"{about.session}:{about.n}",
        session=about.session,
        agent=about.agent,
        at_ms=about.at_us // 1000,
        tool=about.tool or about.type,
        words=_words(about),
        operation=operation,
        confidence=confidence,
    )


def _words(about: StepNode) -> str:
    """What a call was asked, without the name of its tool."""
    kind, _, words = title_of(about).partition(" ")
    return words if kind in (about.tool, about.type, "effect") else f"{kind} {words}".strip()


def _limited(told: Story, newest: VersionRow) -> Story:
    """The same story with how sure it is, and the one thing that limits it."""
    act = told.act
    assert act is not None, "asked only of what has one"
    confidence = act.confidence
    if told.prompt.is_claimed:
        confidence = min(confidence, _CLAIMED)
    return msgspec.structs.replace(told, confidence=confidence, limit=_limit(told, act, newest))


def _limit(told: Story, act: Act, newest: VersionRow) -> str | None:
    is_newest = not told.later
    changed_again = is_newest and newest.version > 0 and newest.made_by is None
    reasons = (
        (act.is_observed, "the change was seen on disk, and not who made it"),
        (changed_again and not told.is_deleted, "it changed again, and no call on record did that"),
        (told.on_disk is OnDisk.DIFFERS, "the file on disk was changed since, by what is not on record"),
        (told.on_disk is OnDisk.GONE and not told.is_deleted, "what removed the file from disk is not on record"),
        (told.prompt.is_unknown, told.prompt.why_not),
        (told.prompt.is_claimed, ONLY_CLAIMED),
        (not act.has_result, "no result of the call is on record"),
        (act.confidence < _PERHAPS, "whether this part of the command ran is not on record"),
        (act.confidence < _BY_TOOL, "read from the words of a command; the file was not watched"),
        (told.on_disk is OnDisk.ELSEWHERE, "the file is not on this machine, so it was not compared"),
        (told.on_disk is OnDisk.NOT_COMPARED, "no digest is on record to compare the file with"),
    )
    return next((text for is_so, text in reasons if is_so), None)


# A step, a prompt, a session --------------------------------------------------------------------------------------------


def story_of_node(home: Home, graph: Graph, start: Start) -> Story:
    """The story of a step, a prompt or a session."""
    (node, *_) = start.nodes
    about = describe(graph, [node]).get(node)
    match about:
        case StepNode():
            return _of_step(home, graph, about)
        case RequestNode():
            return _of_prompt(graph, about)
        case SessionNode():
            return _of_session(graph, about)
        case _:
            return Story(kind=node.kind.value, name=start.text, prompt=Prompted(why_not="it is not recorded"))


def _step_act(home: Home, graph: Graph, about: StepNode) -> Act:
    """The act that a step is, with its own words where the index has none, and how it ended."""
    act = _call(about)
    if not act.words:
        act = msgspec.structs.replace(act, words=words_of(home, about))
    outcome = None
    if about.type == "tool_call" and about.corr is not None:
        outcome = outcome_of(graph, about.id, about.corr)
    return msgspec.structs.replace(act, outcome=outcome, has_result=outcome is not None)


def _of_step(home: Home, graph: Graph, about: StepNode) -> Story:
    asked = prompted(graph, At(about.id, about.n, about.request, about.at_us // 1000))
    things = changed_by(graph, about.id, about.id, most=_MOST_THINGS)
    sources, later = Sources(), list[Change]()
    for position, thing in enumerate(things[:_MOST_FOLLOWED]):
        changes, named = changes_of(graph, thing), thing_at(graph, thing)
        own = next((at for at, change in enumerate(changes.newest) if change.step == about.id), None)
        if own is None:
            continue
        later += changes.newest[:own]
        if position == 0 and named is not None:
            sources = sources_of(home, graph, changes.newest[own], named)
    limit = asked.why_not
    if asked.is_claimed:
        limit = ONLY_CLAIMED
    return Story(
        kind="step",
        name=f"{about.session}:{about.n}",
        act=_step_act(home, graph, about),
        prompt=asked,
        sources=sources,
        later=writers_among(sorted(later, key=lambda change: -change.done_ms)),
        made=named_things(graph, things),
        changed_things=len(things),
        confidence=_CLAIMED if asked.is_claimed else 1.0,
        limit=limit,
    )


def _of_prompt(graph: Graph, about: RequestNode) -> Story:
    first = about.id - about.n
    asked = prompted(graph, At(about.id, about.n, about.n, about.created_at_ms))
    end = end_of_request(graph, about) or first + session_size(graph, first) + 1
    things = changed_by(graph, about.id, end - 1, most=_MOST_THINGS)
    return Story(
        kind="prompt",
        name=f"{about.session}:{about.n}",
        prompt=asked,
        made=named_things(graph, things),
        changed_things=len(things),
        confidence=1.0,
        limit=asked.why_not,
    )


def _of_session(graph: Graph, about: SessionNode) -> Story:
    things = changed_by(graph, about.id, about.id + session_size(graph, about.id), most=_MOST_THINGS)
    asked = prompted(graph, At(about.id, 0, None, about.began_at_ms or 0))
    own = first_prompt(graph, about.session)
    if asked.step is None and asked.why_not == NO_PROMPT and own is not None:
        asked = told_prompt(graph, Origin(prompt=own))
    limit = asked.why_not
    if asked.is_claimed:
        limit = ONLY_CLAIMED
    return Story(
        kind=f"{about.kind} session",
        name=about.session,
        is_open=about.status == "active",
        prompt=asked,
        made=named_things(graph, things),
        changed_things=len(things),
        confidence=_CLAIMED if asked.is_claimed else 1.0,
        limit=limit,
    )


def named_things(graph: Graph, things: Sequence[int]) -> tuple[Named, ...]:
    """The names of some things, as far as they are shown."""
    found = (thing_at(graph, thing) for thing in things[:_MOST_FOLLOWED])
    return tuple(named for named in found if named is not None)
